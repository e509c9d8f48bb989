# SPDX-License-Identifier: Apache-2.0
"""At most one write a window and key: what comes too early waits, and only the latest of it is kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

__all__ = ("Throttle",)

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Throttle(Generic[K, V]):
    """A state machine without a clock: the time is what it is told.

    `is_older(a, b)` says whether `a` is of an earlier time than `b`: it then does not replace it.
    """

    def __init__(self, window: timedelta, is_older: Callable[[V, V], bool]) -> None:
        self._window = window
        self._is_older = is_older
        self._last: dict[K, datetime] = {}
        self._waiting: dict[K, V] = {}
        self._urgent: dict[K, datetime] = {}

    def offer(
        self, key: K, value: V, now: datetime, *, written: datetime | None = None, is_urgent: bool = False
    ) -> timedelta | None:
        """None: write `value` now, which is taken for done. Else it is kept, and this is the time to wait.

        `written` is when the key was last written by anybody, as far as is known. What is urgent does not
        wait and replaces what waits; but only once a window, so that nobody writes without a limit.
        """
        if is_urgent and not self._was_urgent(key, now):
            self._urgent[key] = now
            self._write(key, now)
            return None
        known = [each for each in (self._last.get(key), written) if each is not None]
        left = max(known) + self._window - now if known else timedelta(0)
        # a time that lies further ahead than a window comes from a clock that is wrong
        if timedelta(0) < left <= self._window:
            self._last[key] = max(known)
            if key not in self._waiting or not self._is_older(value, self._waiting[key]):
                self._waiting[key] = value
            return left
        self._write(key, now)
        return None

    def _was_urgent(self, key: K, now: datetime) -> bool:
        return key in self._urgent and timedelta(0) <= now - self._urgent[key] <= self._window

    def _write(self, key: K, now: datetime) -> None:
        self._waiting.pop(key, None)
        self._last[key] = now
        self._forget(now)

    def due(self, now: datetime) -> list[tuple[K, V]]:
        """What has waited for its window, taken for written now."""
        ready = [key for key in self._waiting if now - self._last[key] >= self._window]
        return [self._take(key, now) for key in ready]

    def drain(self, now: datetime) -> list[tuple[K, V]]:
        """All that waits, whether its window is over or not."""
        return [self._take(key, now) for key in list(self._waiting)]

    def _take(self, key: K, now: datetime) -> tuple[K, V]:
        self._last[key] = now
        return key, self._waiting.pop(key)

    def _forget(self, now: datetime) -> None:
        """Keys whose window is over and for which nothing waits need no memory."""
        old = [key for key, at in self._last.items() if now - at > self._window and key not in self._waiting]
        for key in old:
            del self._last[key]
            self._urgent.pop(key, None)
