# SPDX-License-Identifier: Apache-2.0
"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from dglop.runtime.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("ManualClock", "MovableClock", "yield_to_tasks")


async def yield_to_tasks(rounds: int = 25) -> None:
    """Let every task that can run do so, a bounded number of loop rounds."""
    for _ in range(rounds):
        await asyncio.sleep(0)


class MovableClock(Clock, Protocol):
    """A Clock that a test can move ahead."""

    @property
    def count(self) -> int:
        """A number that grows with the timers that are set or ring by themselves: something goes on."""
        ...

    def next_due(self) -> float | None:
        """The moment, as `monotonic` says it, of the next timer; None without any."""
        ...

    def move(self, seconds: float) -> None:
        """Move the time and make the calls that fell due; run no task."""
        ...


class _Timer:
    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None


class ManualClock:
    """Time that moves only by `move` and `advance`; a MovableClock."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._start = start
        self._elapsed = 0.0
        self._timers: list[tuple[float, int, _Timer]] = []
        self._count = 0

    def __repr__(self) -> str:
        return f"ManualClock({self.now().isoformat()}, timers={len(self._timers)})"

    @property
    def count(self) -> int:
        """How many timers were set so far: a sign that something goes on."""
        return self._count

    def next_due(self) -> float | None:
        """The moment, as `monotonic` says it, of the next timer; None without any."""
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed

    def call_later(self, seconds: float, callback: Callable[[], object]) -> _Timer:
        timer = _Timer(callback)
        self._count += 1
        heapq.heappush(self._timers, (self._elapsed + seconds, self._count, timer))
        return timer

    async def sleep(self, seconds: float) -> None:
        passed = asyncio.Event()
        timer = self.call_later(seconds, passed.set)
        try:
            await passed.wait()
        finally:
            timer.cancel()

    def move(self, seconds: float) -> None:
        """Move the time and make the calls that fell due, each at its own moment; run no task."""
        end = self._elapsed + seconds
        while self._timers and self._timers[0][0] <= end:
            self._fire_next()
        self._elapsed = end

    async def advance(self, seconds: float) -> None:
        """Move the time; between two timers every task that can run does so."""
        await yield_to_tasks()
        end = self._elapsed + seconds
        while self._timers and self._timers[0][0] <= end:
            self._fire_next()
            await yield_to_tasks()
        self._elapsed = end
        await yield_to_tasks()

    def _fire_next(self) -> None:
        due, _, timer = heapq.heappop(self._timers)
        self._elapsed = max(self._elapsed, due)
        if timer.callback is not None:
            timer.callback()
