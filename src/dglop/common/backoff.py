# SPDX-License-Identifier: Apache-2.0
"""Patience with a server that refuses a job's children for now: 1 s, 2 s, … up to 5 min."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ("Backoff",)

_FIRST: Final = 1.0
_MOST: Final = 300.0
_MAX_DOUBLINGS: Final = 9


@dataclass(slots=True)
class Backoff:
    """
    When to try again after refusals in a row; times are monotonic seconds.

    It lives in memory alone: an operator that was restarted tries at once, which does no harm.
    """

    failures: int = 0
    until: float = 0.0

    def failed(self, now: float) -> None:
        """Put the next try off by twice as long as the last one."""
        self.until = now + min(_MOST, _FIRST * 2 ** min(self.failures, _MAX_DOUBLINGS))
        self.failures += 1

    def hold(self, now: float, seconds: float) -> None:
        """Put the next try off, without counting a failure."""
        self.until = now + seconds

    def succeeded(self) -> None:
        self.failures = 0
        self.until = 0.0

    def left(self, now: float) -> float:
        """Seconds until the next try; 0 if it may be made."""
        return max(0.0, self.until - now)
