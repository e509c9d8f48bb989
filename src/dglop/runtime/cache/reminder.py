# SPDX-License-Identifier: Apache-2.0
"""Says again and again that something is still awaited."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dglop.runtime.clock import Clock

__all__ = ("reminded",)


@contextmanager
def reminded(
    clock: Clock, every: float, is_over: Callable[[], bool], remind: Callable[[float], None]
) -> Iterator[None]:
    """Inside of it, call *remind* with the seconds so far, *every* so many seconds, until *is_over*."""
    started = clock.monotonic()

    def fire() -> None:
        nonlocal timer
        if not is_over():
            remind(clock.monotonic() - started)
            timer = clock.call_later(every, fire)

    timer = clock.call_later(every, fire)
    try:
        yield
    finally:
        timer.cancel()
