# SPDX-License-Identifier: Apache-2.0
"""What a run of the bench is told on its command line."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hack.cluster.paths import paths_from

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ("BENCHES", "SIDES", "Options", "parse")

BENCHES = ("jobs", "start", "demo", "images")
SIDES = ("ours", "peer", "plain", "bare")


@dataclass(frozen=True, slots=True)
class Options:
    """Which figures, how many jobs a load has, how often each is measured, and where logs go."""

    benches: tuple[str, ...]
    sides: tuple[str, ...]
    jobs: int
    repeat: int
    folder: Path


def parse(argv: list[str] | None = None) -> Options:
    """The options of a command line; exits with a sentence for one that is none."""
    parser = argparse.ArgumentParser(prog="python -m hack.bench", description=__doc__)
    parser.add_argument("benches", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}; all by default")
    parser.add_argument("--sides", default=",".join(SIDES), help=f"of the jobs bench: {','.join(SIDES)}")
    parser.add_argument("--jobs", type=int, default=200, help="jobs of a load (200)")
    parser.add_argument("--repeat", type=int, default=3, help="measurements that a median is of (3)")
    found = parser.parse_args(argv)
    sides = tuple(found.sides.split(","))
    for what, known in ((found.benches, BENCHES), (sides, SIDES)):
        if unknown := set(what) - set(known):
            parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if found.jobs < 1 or found.repeat < 1:
        parser.error("--jobs and --repeat are at least 1")
    benches = tuple(each for each in BENCHES if not found.benches or each in found.benches)
    return Options(benches, sides, found.jobs, found.repeat, paths_from().cache / "bench")
