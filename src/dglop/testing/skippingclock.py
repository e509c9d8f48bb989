# SPDX-License-Identifier: Apache-2.0
"""A clock that goes as the machine's does, and can be moved ahead."""

from __future__ import annotations

import asyncio
import heapq
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("SkippingClock",)


class _Timer:
    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None


class SkippingClock:
    """
    Real time and what was skipped of it: a MovableClock for what talks to a real server.

    Assumptions: used inside one event loop, which `call_later` and `sleep` need running.
    """

    def __init__(self) -> None:
        self._skipped = 0.0
        self._timers: list[tuple[float, int, _Timer]] = []
        self._count = 0
        self._alarm: asyncio.TimerHandle | None = None

    def __repr__(self) -> str:
        return (
            f"SkippingClock({self.now().isoformat()}, skipped={self._skipped:g}, timers={len(self._timers)})"
        )

    @property
    def count(self) -> int:
        return self._count

    def next_due(self) -> float | None:
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self._skipped)

    def monotonic(self) -> float:
        return time.monotonic() + self._skipped

    def call_later(self, seconds: float, callback: Callable[[], object]) -> _Timer:
        timer = _Timer(callback)
        self._count += 1
        entry = (self.monotonic() + seconds, self._count, timer)
        heapq.heappush(self._timers, entry)
        if self._timers[0] is entry:
            self._set_alarm()
        return timer

    async def sleep(self, seconds: float) -> None:
        passed = asyncio.Event()
        timer = self.call_later(seconds, passed.set)
        try:
            await passed.wait()
        finally:
            timer.cancel()

    def move(self, seconds: float) -> None:
        """Skip so much time and make the calls that fell due; run no task."""
        self._skipped += seconds
        self._ring()

    def close(self) -> None:
        """Make no more calls."""
        self._timers.clear()
        self._set_alarm()

    def _ring(self) -> None:
        while (due := self.next_due()) is not None and due <= self.monotonic():
            _, _, timer = heapq.heappop(self._timers)
            if timer.callback is not None:
                self._count += 1  # it rang by itself, perhaps, and somebody will wake
                timer.callback()
        self._set_alarm()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        due = self.next_due()
        if due is not None:
            loop = asyncio.get_running_loop()
            self._alarm = loop.call_later(max(due - self.monotonic(), 0.0), self._ring)
