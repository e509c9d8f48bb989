# SPDX-License-Identifier: Apache-2.0
"""A child's output: passed on line by line under the child's name, the last lines kept."""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import IO, Callable, Deque, List

__all__ = ("KEPT_LINES", "Output", "Stdout")

KEPT_LINES = 20
_LONGEST = 1 << 16


class Stdout:
    """Writes whole lines to a file descriptor, one thread at a time.

    Unbuffered on purpose: a thread that holds the lock of sys.stdout when the process ends aborts it.
    """

    def __init__(self, handle: int = 1) -> None:
        self._handle = handle
        self._lock = threading.Lock()

    def __call__(self, line: bytes) -> None:
        with self._lock:
            while line:
                try:
                    line = line[os.write(self._handle, line) :]
                except OSError:
                    # nobody reads any more: training goes on without a log
                    return

    def say(self, text: str) -> None:
        self(("[dglrun] %s\n" % text).encode("utf-8", "replace"))


class Output:
    """The output of one child."""

    def __init__(self, prefix: str, emit: Callable[[bytes], None]) -> None:
        self._prefix = prefix.encode("utf-8")
        self._emit = emit
        self._last: Deque[str] = deque(maxlen=KEPT_LINES)
        self._ended = threading.Event()

    def only(self, text: str) -> None:
        """All that there will ever be: the child could not be started."""
        self._keep((text + "\n").encode("utf-8"))
        self._ended.set()

    def pump(self, stream: IO[bytes]) -> None:
        """Pass on until the stream ends, which is when the child and all that inherited it have ended."""
        try:
            with stream:
                for line in iter(lambda: stream.readline(_LONGEST), b""):
                    self._keep(line)
        finally:
            self._ended.set()

    def last_lines(self, patience: float) -> List[str]:
        self._ended.wait(patience)
        return list(self._last)

    def _keep(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip()
        if text:
            # a progress bar rewrites its line: only what it shows at last is worth keeping
            self._last.append(text.rpartition("\r")[2])
        self._emit(self._prefix + line + (b"" if line.endswith(b"\n") else b"\n"))
