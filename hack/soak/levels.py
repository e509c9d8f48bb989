# SPDX-License-Identifier: Apache-2.0
"""What a leak would raise, looked at when nothing happens."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from dataclasses import dataclass
from pathlib import Path

__all__ = ("Levels", "grown", "look")

_FILES, _TASKS, _THREADS = 12, 12, 2
_MEMORY_RATIO, _MEMORY_MIB = 1.15, 12.0
"""Half a soak may cost so much more memory: an allocator's fragments, no leak."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Of this process."""

    files: int
    tasks: int
    threads: int
    mib: float

    def __str__(self) -> str:
        return f"{self.files} files, {self.tasks} tasks, {self.threads} threads, {self.mib:.0f} MiB"


def look() -> Levels:
    """The levels of now, garbage collected."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Levels(
        files=sum(1 for _ in Path("/proc/self/fd").iterdir()),
        tasks=len(asyncio.all_tasks()),
        threads=threading.active_count(),
        mib=pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
    )


def grown(middle: Levels, end: Levels) -> list[str]:
    """What is higher at the end than in the middle by more than chance explains."""
    bounds = [
        ("file descriptors", middle.files, end.files, middle.files + _FILES),
        ("tasks", middle.tasks, end.tasks, middle.tasks + _TASKS),
        ("threads", middle.threads, end.threads, middle.threads + _THREADS),
        ("MiB of memory", round(middle.mib), round(end.mib), middle.mib * _MEMORY_RATIO + _MEMORY_MIB),
    ]
    return [
        f"{name} grew from {before} in the middle to {after} at the end"
        for name, before, after, bound in bounds
        if after > bound
    ]
