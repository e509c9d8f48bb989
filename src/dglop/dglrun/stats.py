# SPDX-License-Identifier: Apache-2.0
"""What a partitioning took, left beside the parts: numbers to show, nothing depends on them."""

from __future__ import annotations

import json
import os
from typing import Any, Dict

from . import contract

__all__ = ("leave_stats", "peak_bytes", "read_stats", "stats_text")


def peak_bytes() -> int:
    """The most memory that this process has had at once; 0 where the kernel does not say.

    Not ru_maxrss of getrusage: that one begins with what the parent had when it started this process.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            lines = [line.split() for line in file if line.startswith("VmHWM:")]
    except OSError:
        return 0
    return int(lines[0][1]) * 1024 if lines else 0


def leave_stats(folder: str, *, edge_cut: int, seconds: float, peak: int, processes: int = 1) -> None:
    """Raises OSError. `peak`: of the process that had most."""
    stats = {
        "edgeCut": edge_cut,
        "seconds": round(seconds, 3),
        "peakBytes": peak,
        "processes": processes,
    }
    with open(os.path.join(folder, contract.STATS_FILE), "w", encoding="utf-8") as file:
        json.dump(stats, file)


def read_stats(folder: str) -> Dict[str, Any]:
    """What a partition command left there, in so far as it is as the contract says."""
    try:
        with open(os.path.join(folder, contract.STATS_FILE), encoding="utf-8") as file:
            data = json.load(file)
        names = [name for name in ("edgeCut", "peakBytes", "processes") if data.get(name) is not None]
        found: Dict[str, Any] = {name: int(data[name]) for name in names}
        if "seconds" in data:
            found["seconds"] = round(float(data["seconds"]), 3)
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
    return found


def stats_text(stats: Dict[str, Any]) -> str:
    """One sentence for the log."""
    return "partitioned in %.1f s by %d process%s, peak memory of one %.0f MiB, %d cut edges" % (
        stats.get("seconds", 0.0),
        stats.get("processes", 1),
        "" if stats.get("processes", 1) == 1 else "es",
        stats.get("peakBytes", 0) / 2**20,
        stats.get("edgeCut", 0),
    )
