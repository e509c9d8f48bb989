# SPDX-License-Identifier: Apache-2.0
"""The clock that everything with a deadline is given, so that a test can own the time."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

__all__ = ("Clock", "SystemClock", "Timer", "repeat", "within")

T = TypeVar("T")


class Timer(Protocol):
    """A call that is due later and can be called off."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """Wall time for what is written down, monotonic seconds for what is measured."""

    def now(self) -> datetime:
        """The time of day, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean something."""
        ...

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call back in the running loop when *seconds* have passed."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return when *seconds* have passed."""
        ...


class SystemClock:
    """The machine's clocks and the running loop's timers."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def within(clock: Clock, seconds: float, work: Coroutine[object, object, T]) -> T:
    """
    Run *work*, but no longer than *seconds* of *clock*.

    Raises TimeoutError when the time is up; *work* is cancelled and has ended by then.
    """
    task = asyncio.ensure_future(work)
    expired = False

    def expire() -> None:
        nonlocal expired
        expired = not task.done()
        task.cancel()

    timer = clock.call_later(max(seconds, 0.0), expire)
    try:
        return await task
    except asyncio.CancelledError:
        # Ours only if the timer fired and nobody cancelled the caller as well.
        current = asyncio.current_task()
        if expired and not (current and current.cancelling()):
            message = f"not finished within {seconds:.1f} s"
            raise TimeoutError(message) from None
        task.cancel()
        await asyncio.wait([task])
        raise
    finally:
        timer.cancel()


async def repeat(
    clock: Clock, seconds: float, work: Callable[[], Awaitable[object]], stop: asyncio.Event
) -> None:
    """Await *work()* after every *seconds* of *clock*, until *stop* is set; raises what *work* raises."""
    stopped = asyncio.ensure_future(stop.wait())
    try:
        while not stop.is_set():
            pause = asyncio.ensure_future(clock.sleep(seconds))
            try:
                await asyncio.wait({stopped, pause}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                pause.cancel()
            if not stop.is_set():
                await work()
    finally:
        stopped.cancel()
