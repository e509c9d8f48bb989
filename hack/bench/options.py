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

BENCHES = ("runtime", "jobs", "scale", "start", "demo", "partition", "images")
SIDES = ("ours", "torch", "peer", "lifted", "plain", "plain-torch", "bare")
RUNTIME_SIDES = tuple(side.name for side in sides.SIDES)
WORKS = ("sync", "events", "relist", "noop", "restart", "failover", "symptoms")


_REPEAT = 3
_RUNTIME_REPEAT = 5
_FEWEST_EDGES = 10_000


@dataclass(frozen=True, slots=True)
class Options:
    """Which figures, how many jobs or pods a load has, how often each is measured, and where logs go.

    `scale` is how many jobs of how many pods the scale run has, `edges` how many the graph to partition has.
    """

    benches: tuple[str, ...]
    sides: tuple[str, ...]
    jobs: tuple[int, ...]
    repeat: int
    folder: Path
    runtime_sides: tuple[str, ...] = RUNTIME_SIDES
    works: tuple[str, ...] = WORKS
    pods: tuple[int, ...] = (10_000, 50_000)
    runtime_repeat: int = _RUNTIME_REPEAT
    scale: tuple[int, int] = (1000, 10)
    edges: int = 2_000_000


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
    if found.repeat is not None and found.repeat < 1:
        parser.error("--repeat is at least 1")
    if found.edges < _FEWEST_EDGES:
        parser.error(f"--edges is at least {_FEWEST_EDGES}")
    jobs, pods = _growing(parser, "--jobs", found.jobs), _growing(parser, "--pods", found.pods)
    scale = _counts(found.scale, "x")
    if len(scale) != 2 or min(scale) < 1:
        parser.error("--scale is jobs by pods, such as 1000x10")
    return Options(
        tuple(each for each in BENCHES if not found.benches or each in found.benches),
        sides,
        jobs,
        found.repeat or _REPEAT,
        paths_from().cache / "bench",
        tuple(each for each in RUNTIME_SIDES if each in beside),
        tuple(each for each in WORKS if each in works),
        pods,
        found.repeat or _RUNTIME_REPEAT,
        (scale[0], scale[1]),
        found.edges,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hack.bench", description=__doc__)
    parser.add_argument("benches", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}; all by default")
    parser.add_argument("--sides", default=",".join(SIDES), help=f"of the jobs bench: {','.join(SIDES)}")
    parser.add_argument("--jobs", default="200,1000", help="jobs of the loads, growing (200,1000)")
    parser.add_argument("--scale", default="1000x10", help="jobs of the scale run by their pods (1000x10)")
    parser.add_argument("--edges", type=int, default=2_000_000, help="of the partition bench (2000000)")
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


def _growing(parser: argparse.ArgumentParser, name: str, text: str) -> tuple[int, ...]:
    counts = _counts(text)
    if not counts or list(counts) != sorted(set(counts)) or counts[0] < 1:
        parser.error(f"{name} are numbers that grow, such as 200,1000")
    return counts


def _counts(text: str, between: str = ",") -> tuple[int, ...]:
    parts = text.split(between)
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()
