# SPDX-License-Identifier: Apache-2.0
"""What a Manager runs beside its controllers, in groups that start and stop together."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from dglop.runtime.usercode import call_coroutine, failure_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from dglop.runtime.log import Log

__all__ = ("Runnable", "RunnableFunction", "RunnableGroup")

LAST_SECONDS = 5.0


@runtime_checkable
class Runnable(Protocol):
    """Something that runs until it is told to stop."""

    async def run(self, stop: asyncio.Event) -> None:
        """Run until *stop* is set; an earlier return is fine, an exception ends the Manager."""
        ...


class RunnableFunction:
    """A coroutine function as a Runnable: it is called with *stop*."""

    def __init__(self, function: Callable[[asyncio.Event], Awaitable[None]]) -> None:
        self.name: str = getattr(function, "__name__", type(function).__name__)
        self._function = function

    async def run(self, stop: asyncio.Event) -> None:
        await call_coroutine(self._function, stop)


class RunnableGroup:
    """
    Runnables that start together and stop together.

    Guarantees: `failed` completes with the first exception that one of them raised, or when one was cancelled
    from outside; after `stop` nothing of
    the group can start any more, so what was never allowed to run does not begin during the shutdown.
    """

    def __init__(self, name: str, *, log: Log) -> None:
        self.name = name
        self._log = log
        self._stop = asyncio.Event()
        self._tasks: dict[asyncio.Task[None], str] = {}
        self.stuck: list[str] = []
        self.failed: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

    def start(self, runnables: Iterable[Runnable]) -> None:
        """Start *runnables* as tasks; does nothing after `stop`."""
        if self._stop.is_set():
            return
        for runnable in runnables:
            name = str(getattr(runnable, "name", type(runnable).__name__))
            work = call_coroutine(runnable.run, self._stop)
            task = asyncio.create_task(work, name=f"{self.name}/{name}")
            self._tasks[task] = name
            task.add_done_callback(self._on_done)

    def tell_to_stop(self) -> None:
        """Ask all to stop, and let nothing start any more; `stop` waits for them."""
        self._stop.set()

    async def stop(self, *, deadline: float | None = None) -> list[str]:
        """
        Stop all; at *deadline* (in the loop's time) those that still run are cancelled.

        Gives the names of those that had to be cancelled. What does not end even then, such as a function in
        a thread, is given up after a few seconds: `stuck` names it.
        """
        self._stop.set()
        left = None if deadline is None else max(deadline - asyncio.get_running_loop().time(), 0.0)
        if not self._tasks:
            return []
        _, late = await asyncio.wait(self._tasks, timeout=left)
        names = [self._tasks[task] for task in late]
        for task in late:
            task.cancel()
        if late:
            _, stuck = await asyncio.wait(late, timeout=LAST_SECONDS)
            self.stuck = [self._tasks[task] for task in stuck]
        return names

    def _on_done(self, task: asyncio.Task[None]) -> None:
        error = failure_of(task, is_ours=self._stop.is_set())
        if error is None:
            return
        if self._stop.is_set():
            self._log.warning("Failed while stopping", runnable=self._tasks[task], exc_info=error)
        elif not self.failed.done():
            self.failed.set_result(error)
