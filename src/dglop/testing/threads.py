# SPDX-License-Identifier: Apache-2.0
"""The threads of a loop under test, of which it is known whether they are at work."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("Threads",)

T = TypeVar("T")


class Threads(ThreadPoolExecutor):
    """An executor that can be waited for."""

    def __init__(self) -> None:
        super().__init__(thread_name_prefix="test-cluster")
        self.started: int = 0
        """How many functions it was given so far."""
        self._working: set[Future[Any]] = set()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        self.started += 1
        future = super().submit(fn, *args, **kwargs)
        self._working.add(future)
        future.add_done_callback(self._working.discard)
        return future

    async def join_one(self, seconds: float) -> bool:
        """Wait until one of those at work ends; False if none is. Raises TimeoutError."""
        working = [asyncio.wrap_future(each) for each in list(self._working) if not each.done()]
        if not working:
            return False
        ended, _ = await asyncio.wait(working, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not ended:
            raise TimeoutError(f"a function in a thread does not end within {seconds:g} s")
        return True
