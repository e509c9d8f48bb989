# SPDX-License-Identifier: Apache-2.0
"""Who is measured, at which work, and how each is started."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ("SIDES", "Programs", "SideSpec", "argv_of", "sides_at")

_PACKAGE = "hack.bench.runtime.programs"
ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class SideSpec:
    """
    One side of the comparison.

    Attributes
    ----------
        name: what it is called on the command line.
        title: what the tables call it.
        module: its program, of this package; empty for the one in Go.
        works: what it can do of sync, events, relist, noop, restart, failover.
    """

    name: str
    title: str
    module: str
    works: frozenset[str]

    def does(self, work: str) -> bool:
        return work in self.works


_ALL = frozenset({"sync", "events", "noop", "restart", "failover"})
SIDES = (
    SideSpec("dglop", "dglop", "ours", _ALL | {"relist"}),
    SideSpec("controller-runtime", "controller-runtime", "", _ALL),
    SideSpec("kopf", "kopf", "with_kopf", _ALL - {"noop"}),
    SideSpec("kopf-indexed", "kopf with `@kopf.index`", "with_kopf", frozenset({"events"})),
    SideSpec("aio", "official client, coroutines", "plain_aio", frozenset({"sync", "events", "restart"})),
    SideSpec("plain", "official client, plain calls", "plain_sync", frozenset({"sync", "events", "restart"})),
)


@dataclass(frozen=True, slots=True)
class Programs:
    """
    What the sides are started with.

    Attributes
    ----------
        own: the Python of an environment with dglop and what it needs, the official client among that.
        reference: the program in Go; None where that side is not measured.
        kopf: the Python of an environment with kopf; None likewise.
    """

    own: Path
    reference: Path | None
    kopf: Path | None


def sides_at(work: str, names: Sequence[str]) -> list[SideSpec]:
    """Those of `names` that can do a work, in the order of the tables."""
    return [side for side in SIDES if side.name in names and side.does(work)]


def argv_of(side: SideSpec, programs: Programs, work: str, *options: str) -> list[str]:
    """The command line of a side's program for a work."""
    told = "indexed" if side.name == "kopf-indexed" else _PROGRAM_WORK.get(work, work)
    head = [str(programs.reference)]
    if side.module:
        python = programs.kopf if side.module == "with_kopf" else programs.own
        head = [str(python), "-m", f"{_PACKAGE}.{side.module}"]
    return [*head, f"--work={told}", *options]


_PROGRAM_WORK = {"restart": "serve", "failover": "serve"}
