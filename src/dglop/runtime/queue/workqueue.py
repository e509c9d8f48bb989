# SPDX-License-Identifier: Apache-2.0
"""The work queue: a Schedule with a clock, waiting workers, rate limits and metrics."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from dglop.runtime.queue.ratelimit import ExponentialBackoff
from dglop.runtime.queue.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Hashable

    from dglop.runtime.clock import Clock, Timer
    from dglop.runtime.queue.ratelimit import RateLimiter
    from dglop.runtime.queue.schedule import Item

__all__ = ("QueueMetrics", "WorkQueue")

K = TypeVar("K", bound="Hashable")


class QueueMetrics(Protocol):
    """What a work queue reports of itself."""

    def added(self) -> None: ...

    def retried(self) -> None: ...

    def started(self, waited: float) -> None: ...

    def finished(self, worked: float) -> None: ...

    def depth(self, priority: int, items: int) -> None: ...


class WorkQueue(Generic[K]):
    """
    A queue of keys for the workers of one event loop.

    Guarantees: a key is handed to one worker at a time; an addition during processing is not lost; several
    additions before processing are one; nothing is handed out before its time. After `close` every waiting
    and every later `get` answers None, queued keys stay where they are, and additions are dropped.
    """

    def __init__(
        self, clock: Clock, *, limiter: RateLimiter[K] | None = None, metrics: QueueMetrics | None = None
    ) -> None:
        self._clock = clock
        self._limiter: RateLimiter[K] = limiter or ExponentialBackoff[K]()
        self._metrics = metrics
        self._schedule: Schedule[K] = Schedule()
        self._getters: deque[asyncio.Future[None]] = deque()
        self._idle_waiters: list[asyncio.Future[None]] = []
        self._timer: Timer | None = None
        self._timer_at: float | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"WorkQueue({self._schedule!r}, closed={self._closed})"

    def __len__(self) -> int:
        """Keys that are ready."""
        return len(self._schedule)

    @property
    def waiting(self) -> int:
        """Keys whose time has not come."""
        return self._schedule.waiting

    @property
    def processing(self) -> int:
        """Keys that workers have."""
        return len(self._schedule.processing)

    @property
    def is_closed(self) -> bool:
        return self._closed

    @property
    def is_idle(self) -> bool:
        """Whether nothing is ready and nothing is being processed; delayed keys may wait."""
        return not len(self._schedule) and not self._schedule.processing

    def add(self, key: K, *, after: float = 0.0, priority: int | None = None) -> None:
        """Have *key* processed, *after* seconds from now if nothing makes it due before."""
        if self._closed:
            return
        if after > 0 and self._metrics:
            self._metrics.retried()
        before = len(self._schedule)
        self._schedule.add(key, self._clock.monotonic(), after=after, priority=priority)
        if self._metrics and len(self._schedule) > before:
            self._metrics.added()
        self._report_depth()
        self._set_timer()
        self._wake()

    def add_rate_limited(self, key: K, *, priority: int | None = None) -> None:
        """Have *key* processed after the back-off that its failures ask for, this one counted."""
        self.add(key, after=self._limiter.when(key), priority=priority)

    def forget(self, key: K) -> None:
        """Start over with the key's back-off; what is scheduled stays scheduled."""
        self._limiter.forget(key)

    def failures(self, key: K) -> int:
        return self._limiter.failures(key)

    async def get(self) -> Item[K] | None:
        """The next key, to be given back with `done`; None when the queue was closed."""
        while not self._closed:
            now = self._clock.monotonic()
            self._advance(now)
            item = self._schedule.pop(now)
            if item is not None:
                if self._metrics:
                    self._metrics.started(now - item.ready_since)
                self._report_depth()
                return item
            await self._wait_for_item()
        return None

    def done(self, key: K) -> None:
        """Give *key* back. Raises KeyError if no worker has it."""
        now = self._clock.monotonic()
        started = self._schedule.done(key)
        if self._metrics:
            self._metrics.finished(now - started)
        self._wake()
        self._report_idle()

    def close(self) -> None:
        """Let every worker go; may be called twice."""
        self._closed = True
        if self._timer:
            self._timer.cancel()
            self._timer = self._timer_at = None
        for getter in self._getters:
            if not getter.done():
                getter.set_result(None)
        self._getters.clear()
        self._report_idle()

    async def wait_idle(self) -> None:
        """Return when nothing is ready and nothing is being processed, or the queue is closed."""
        while not (self.is_idle or self._closed):
            waiter = asyncio.get_running_loop().create_future()
            self._idle_waiters.append(waiter)
            await waiter

    def work_in_progress(self) -> list[float]:
        """Seconds that each key now being processed has taken so far."""
        now = self._clock.monotonic()
        return [now - started for started in self._schedule.processing.values()]

    async def _wait_for_item(self) -> None:
        getter = asyncio.get_running_loop().create_future()
        self._getters.append(getter)
        try:
            await getter
        except asyncio.CancelledError:
            if getter.done() and not getter.cancelled():
                self._wake()  # it was this one's turn: pass it on, or the item waits for nobody
            elif getter in self._getters:
                self._getters.remove(getter)
            raise

    def _wake(self) -> None:
        # As many as there are items: a getter that was woken before may not have run yet.
        for _ in range(min(self._schedule.available, len(self._getters))):
            getter = self._getters.popleft()
            if not getter.done():
                getter.set_result(None)

    def _advance(self, now: float) -> None:
        for _ in self._schedule.advance(now):
            if self._metrics:
                self._metrics.added()
        self._report_depth()

    def _set_timer(self) -> None:
        at = self._schedule.next_ready_at()
        if at == self._timer_at:
            return
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self._timer_at = at
        if at is not None:
            self._timer = self._clock.call_later(at - self._clock.monotonic(), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = self._timer_at = None
        self._advance(self._clock.monotonic())
        self._set_timer()
        self._wake()

    def _report_depth(self) -> None:
        if self._metrics:
            for priority, items in self._schedule.take_depth_changes():
                self._metrics.depth(priority, items)

    def _report_idle(self) -> None:
        if self.is_idle or self._closed:
            waiters, self._idle_waiters = self._idle_waiters, []
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)
