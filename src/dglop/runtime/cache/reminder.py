# SPDX-License-Identifier: Apache-2.0
"""Says again and again that something is still awaited."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dglop.runtime.clock import Clock, Timer

__all__ = ("reminded",)


@contextmanager
def reminded(
    clock: Clock, every: float, is_over: Callable[[], bool], remind: Callable[[float], None]
) -> Iterator[None]:
    """Inside of it, call *remind* with the seconds so far, *every* so many seconds, until *is_over*."""
    started = clock.monotonic()
    next_ones: deque[Timer] = deque(maxlen=1)

    def fire() -> None:
        if not is_over():
            remind(clock.monotonic() - started)
            next_ones.append(clock.call_later(every, fire))

    next_ones.append(clock.call_later(every, fire))
    try:
        yield
    finally:
        next_ones.pop().cancel()
