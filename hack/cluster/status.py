# SPDX-License-Identifier: Apache-2.0
"""How a cluster stands, and what was ended of it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("NONE", "Ended", "Status")

NONE = "none was running"


@dataclass(frozen=True)
class Status:
    """Whether the cluster can be used, and what there is to say about it."""

    running: bool
    text: str


@dataclass(frozen=True)
class Ended:
    """What there was to end of a cluster: processes, containers, and state of an earlier one."""

    processes: int
    containers: int
    was_there: bool

    @property
    def is_something(self) -> bool:
        return bool(self.processes or self.containers or self.was_there)

    @property
    def text(self) -> str:
        if self.processes or self.containers:
            return f"ended: {self.processes} processes, {self.containers} containers"
        return f"{NONE}; cleared what an earlier one left" if self.was_there else NONE
