# SPDX-License-Identifier: Apache-2.0
"""Numbers as they are measured and as they are told."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ("Usage", "megabytes", "middle", "parse_busy", "parse_usage", "ratio", "seconds")

_UTIME, _STIME = 11, 12  # fields 14 and 15 of /proc/<pid>/stat, counted after the command's closing bracket


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process has used: CPU seconds since its start, memory now and at its highest, in bytes."""

    cpu_seconds: float
    rss: int
    peak_rss: int


def parse_usage(stat: str, status: str, ticks_per_second: int) -> Usage:
    """The usage that /proc/<pid>/stat and /proc/<pid>/status tell."""
    fields = stat.rpartition(")")[2].split()  # the command before may hold spaces and brackets
    rows = dict(row.split(":", 1) for row in status.splitlines() if ":" in row)
    return Usage(
        cpu_seconds=(int(fields[_UTIME]) + int(fields[_STIME])) / ticks_per_second,
        rss=_kibibytes(rows["VmRSS"]),
        peak_rss=_kibibytes(rows["VmHWM"]),
    )


def _kibibytes(value: str) -> int:
    return int(value.split(maxsplit=1)[0]) * 1024


def parse_busy(stat: str, ticks_per_second: int) -> float:
    """The CPU seconds that all cores have spent at work since the machine's start, by /proc/stat."""
    user, nice, system, _idle, _iowait, irq, softirq = map(int, stat.splitlines()[0].split()[1:8])
    return (user + nice + system + irq + softirq) / ticks_per_second


def middle(values: Iterable[float]) -> float:
    """The median; of one value, itself. Raises StatisticsError for none."""
    return median(values)


def seconds(value: float) -> str:
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def megabytes(value: float) -> str:
    return f"{value / 1e6:.0f} MB"


def ratio(ours: float, theirs: float) -> str:
    """How many times `theirs` is in `ours`, with two figures behind the point."""
    return f"{ours / theirs:.2f}"
