# SPDX-License-Identifier: Apache-2.0
"""How late an event loop is, sampled every two milliseconds."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("Stalls", "percentile")

_PERIOD_SECONDS = 0.002


def percentile(values: list[float], share: float) -> float:
    """The value that `share` of them do not exceed; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


@dataclass(slots=True)
class Stalls:
    """By how much each tick came late, and what this thread computed meanwhile, both in seconds."""

    late: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    _ticked: asyncio.Event = field(default_factory=asyncio.Event)

    async def watch(self) -> None:
        """Sample until cancelled."""
        while True:
            due, worked = time.monotonic() + _PERIOD_SECONDS, time.thread_time()
            await asyncio.sleep(_PERIOD_SECONDS)
            self.late.append(max(0.0, time.monotonic() - due))
            self.busy.append(time.thread_time() - worked)
            self._ticked.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Until something holds, looked at with each sample."""
        while not holds():
            self._ticked.clear()
            await self._ticked.wait()

    def forget(self) -> None:
        """Begin anew."""
        self.late.clear()
        self.busy.clear()

    def figures(self) -> dict[str, float]:
        return {
            "ticks": len(self.late),
            "late_p99": percentile(self.late, 0.99),
            "late_max": max(self.late, default=0.0),
            "busy_p99": percentile(self.busy, 0.99),
            "busy_max": max(self.busy, default=0.0),
        }
