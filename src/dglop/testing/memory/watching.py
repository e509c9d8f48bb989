# SPDX-License-Identifier: Apache-2.0
"""Watches: from changes in the store to lines on a stream."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from dglop.runtime.clock import Clock, Timer
    from dglop.testing.memory.refusal import RefusalError
    from dglop.testing.memory.selectors import Selector
    from dglop.testing.memory.store import Change

__all__ = ("Watcher", "bookmark_line", "error_line", "event_line")

BOOKMARK_SECONDS = 60.0
INITIAL_END = "k8s.io/initial-events-end"

Shown = Callable[[dict[str, Any], bytes], bytes]
"""The JSON of an object as this watch shows it, from its dict and its own JSON."""


def event_line(type_: str, raw: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (type_.encode(), raw)


def error_line(error: RefusalError) -> bytes:
    return event_line("ERROR", msgspec.json.encode(error.wire()))


def bookmark_line(api_version: str, kind: str, version: int, *, ends_initial: bool = False) -> bytes:
    metadata: dict[str, Any] = {"resourceVersion": str(version)}
    if ends_initial:
        metadata["annotations"] = {INITIAL_END: "true"}
    wire = {"apiVersion": api_version, "kind": kind, "metadata": metadata}
    return event_line("BOOKMARK", msgspec.json.encode(wire))


class Watcher:
    """
    One open watch.

    Lines may be pushed from any thread; they are read in the loop that opened it.
    """

    def __init__(
        self, storage: str, namespace: str | None, selector: Selector | None, shown: Shown, clock: Clock
    ) -> None:
        self.storage = storage
        self.namespace = namespace
        self._selector = selector
        self._shown = shown
        self._clock = clock
        self._lines: deque[bytes] = deque()
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._timers: list[Timer] = []
        self._held = False
        self.is_ended: bool = False
        self.on_end: Callable[[Watcher], None] = lambda _: None

    @property
    def is_drained(self) -> bool:
        """Whether all that may be read was."""
        return self._held or not self._lines

    def offer(self, change: Change) -> None:
        """Push the change if it concerns this watch, as it looks through the watch's selector."""
        if self.namespace is not None and change.key[0] != self.namespace:
            return
        old = change.old is not None and self._matches(change.old.wire)
        new = change.new is not None and self._matches(change.new.wire)
        if not old and not new:
            return
        type_ = ("MODIFIED" if old else "ADDED") if new else "DELETED"
        shown = change.new or change.last
        if type_ == "DELETED" and change.new is not None and change.old is not None:
            # It left the selection: its last state in it, at the version at which it left.
            metadata = {**change.old.wire["metadata"], "resourceVersion": str(change.version)}
            wire = {**change.old.wire, "metadata": metadata}
            self.push(event_line(type_, self._shown(wire, msgspec.json.encode(wire))))
            return
        self.push(event_line(type_, self._shown(shown.wire, shown.raw)))

    def _matches(self, wire: dict[str, Any]) -> bool:
        return self._selector is None or self._selector(wire)

    def push(self, line: bytes) -> None:
        if not self.is_ended:
            self._lines.append(line)
            self._wake()

    def limit(self, seconds: float) -> None:
        """End the watch after *seconds*, as timeoutSeconds asks for."""
        self._timers.append(self._clock.call_later(seconds, self.end))

    def repeat_bookmarks(self, make: Callable[[], bytes]) -> None:
        """Push a bookmark once a minute."""

        def push() -> None:
            if not self.is_ended:
                self.push(make())
                self.repeat_bookmarks(make)

        self._timers.append(self._clock.call_later(BOOKMARK_SECONDS, push))

    def hold(self) -> None:
        """Keep lines back, as a slow network does, until `release`."""
        self._held = True

    def release(self) -> None:
        self._held = False
        self._wake()

    def end(self) -> None:
        """End the stream properly; lines that were pushed can still be read."""
        if self.is_ended:
            return
        self.is_ended = True
        for timer in self._timers:
            timer.cancel()
        self.on_end(self)
        self._wake()

    async def read(self, seconds: float | None) -> bytes:
        """The lines that are there, or b"" at the end. Raises TimeoutError after *seconds* without any."""
        expired = False

        def expire() -> None:
            nonlocal expired
            expired = True
            self._news.set()

        timer: Timer | None = None
        try:
            while self._held or not self._lines:
                if self.is_ended and not self._held:
                    return b""
                if timer is None and seconds is not None:
                    timer = self._clock.call_later(seconds, expire)
                self._news.clear()
                await self._news.wait()
                if expired:
                    raise TimeoutError(f"no line for {seconds:g} s")
        finally:
            if timer is not None:
                timer.cancel()
        lines = b"".join(self._lines)
        self._lines.clear()
        return lines

    def _wake(self) -> None:
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is self._loop:
            self._news.set()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._news.set)
