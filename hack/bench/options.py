# SPDX-License-Identifier: Apache-2.0
"""What a run of the bench is told on its command line."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hack.bench.runtime import sides
from hack.cluster.paths import paths_from

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ("BENCHES", "RUNTIME_SIDES", "SIDES", "WORKS", "Options", "parse")

BENCHES = ("runtime", "jobs", "start", "demo", "images")
SIDES = ("ours", "peer", "plain", "bare")
RUNTIME_SIDES = tuple(side.name for side in sides.SIDES)
WORKS = ("sync", "events", "relist", "noop", "restart", "failover", "symptoms")


_REPEAT = 3
_RUNTIME_REPEAT = 5


@dataclass(frozen=True, slots=True)
class Options:
    """Which figures, how many jobs or pods a load has, how often each is measured, and where logs go."""

    benches: tuple[str, ...]
    sides: tuple[str, ...]
    jobs: int
    repeat: int
    folder: Path
    runtime_sides: tuple[str, ...] = RUNTIME_SIDES
    works: tuple[str, ...] = WORKS
    pods: tuple[int, ...] = (10_000, 50_000)
    runtime_repeat: int = _RUNTIME_REPEAT


def parse(argv: list[str] | None = None) -> Options:
    """The options of a command line; exits with a sentence for one that is none."""
    parser = _parser()
    found = parser.parse_args(argv)
    sides, works, beside = (tuple(each.split(",")) for each in (found.sides, found.works, found.beside))
    for what, known in (
        (found.benches, BENCHES),
        (sides, SIDES),
        (works, WORKS),
        (beside, RUNTIME_SIDES),
    ):
        if unknown := set(what) - set(known):
            parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if found.jobs < 1 or (found.repeat is not None and found.repeat < 1):
        parser.error("--jobs and --repeat are at least 1")
    pods = _counts(found.pods)
    if not pods or list(pods) != sorted(set(pods)) or pods[0] < 1:
        parser.error("--pods are numbers that grow, such as 10000,50000")
    return Options(
        tuple(each for each in BENCHES if not found.benches or each in found.benches),
        sides,
        found.jobs,
        found.repeat or _REPEAT,
        paths_from().cache / "bench",
        tuple(each for each in RUNTIME_SIDES if each in beside),
        tuple(each for each in WORKS if each in works),
        pods,
        found.repeat or _RUNTIME_REPEAT,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hack.bench", description=__doc__)
    parser.add_argument("benches", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}; all by default")
    parser.add_argument("--sides", default=",".join(SIDES), help=f"of the jobs bench: {','.join(SIDES)}")
    parser.add_argument("--jobs", type=int, default=200, help="jobs of a load (200)")
    parser.add_argument(
        "--repeat", type=int, help=f"measurements that a median is of ({_REPEAT}; runtime {_RUNTIME_REPEAT})"
    )
    runtime = parser.add_argument_group("the runtime bench")
    runtime.add_argument("--pods", default="10000,50000", help="how many pods, growing (10000,50000)")
    runtime.add_argument("--works", default=",".join(WORKS), help=f"what is measured: {','.join(WORKS)}")
    runtime.add_argument(
        "--beside", default=",".join(RUNTIME_SIDES), help=f"sides: {','.join(RUNTIME_SIDES)}"
    )
    return parser


def _counts(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()
