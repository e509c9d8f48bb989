# SPDX-License-Identifier: Apache-2.0
"""Samplers are the trainers' children: DGL does not notice when one dies, its trainer may wait for ever."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import Dict, Iterable, List, Mapping, Optional, Set

from .children import ChildExit, exit_of

__all__ = ("Process", "SamplerWatch", "process_table")

_ORDINARY = (signal.SIGTERM, signal.SIGINT)
_SPAWNED = b"multiprocessing.spawn"


@dataclass(frozen=True)
class Process:
    """A row of /proc; `status` is a zombie's, as waitpid would give it."""

    pid: int
    parent: int
    is_zombie: bool
    status: int
    is_spawned: bool


class SamplerWatch:
    """Learns the trainers' spawned processes while they live, and says which of them ended badly."""

    def __init__(self) -> None:
        self._known: Dict[int, str] = {}
        self._suspects: Set[int] = set()

    def look(self, table: Iterable[Process], trainers: Mapping[int, str]) -> List[ChildExit]:
        """Ends of samplers that their trainer has not collected since the last look: it does not know."""
        zombies: Set[int] = set()
        ended: List[ChildExit] = []
        for process in table:
            if process.parent not in trainers:
                continue
            if process.is_spawned:
                self._known[process.pid] = "%s/sampler" % trainers[process.parent]
            elif process.is_zombie and _bad(process.status) and process.pid in self._known:
                zombies.add(process.pid)
                if process.pid in self._suspects:
                    ended.append(exit_of(self._known.pop(process.pid), process.status))
        self._suspects = zombies
        return ended

    def orphaned(self, pid: int, status: int) -> Optional[ChildExit]:
        """The violent end of a sampler whose trainer ended before it could collect it.

        Only a signal counts here: a sampler may well exit with an error because its trainer is gone.
        """
        name = self._known.pop(pid, None)
        return exit_of(name, status) if name is not None and _bad(status) and os.WIFSIGNALED(status) else None


def _bad(status: int) -> bool:
    """Neither a good end nor one that a trainer brings about when it ends."""
    return status != 0 and not (os.WIFSIGNALED(status) and os.WTERMSIG(status) in _ORDINARY)


def process_table() -> List[Process]:
    """All processes of this container; those that vanish meanwhile are left out."""
    found: List[Process] = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            with open("/proc/%s/cmdline" % name, "rb") as file:
                command = file.read()
        except OSError:
            continue
        # the last field is the exit status, for whoever may trace the process
        spawned, zombie = _SPAWNED in command, fields[0] == b"Z"
        found.append(Process(int(name), int(fields[1]), zombie, int(fields[-1]) if zombie else 0, spawned))
    return found
