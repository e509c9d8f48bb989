# SPDX-License-Identifier: Apache-2.0
"""The one queue that a command's main thread waits on: signals, children's ends, words of other threads."""

from __future__ import annotations

import queue
import signal
import time
from typing import Any, Dict, Optional

__all__ = ("ChildrenEnded", "Events", "Told")


class ChildrenEnded:
    """SIGCHLD: there may be something to reap."""


class Told:
    """Told to stop by this signal."""

    def __init__(self, number: int) -> None:
        self.number = number


class Events:
    """A queue of anything; SimpleQueue, as only that may be filled from a signal handler."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._before: Dict[int, Any] = {}

    def listen_to_signals(self) -> None:
        """From now on SIGTERM and SIGINT come as Told, SIGCHLD as ChildrenEnded."""
        for number in (signal.SIGTERM, signal.SIGINT):
            self._before[number] = signal.signal(number, lambda number, _frame: self.put(Told(number)))
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda _n, _f: self.put(ChildrenEnded()))

    def ignore_signals(self) -> None:
        """Give the signals back to whoever had them before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def put(self, event: Any) -> None:
        self._queue.put(event)

    def get(self, seconds: Optional[float]) -> Any:
        """The next event, None when none came in that time (None: wait for ever)."""
        try:
            return self._queue.get(timeout=seconds)
        except queue.Empty:
            return None

    def wait_for_child(self, seconds: float) -> None:
        """Return when a child ended or after `seconds`; other events of that time are of no use any more."""
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or isinstance(self.get(left), ChildrenEnded):
                return
