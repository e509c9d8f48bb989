# SPDX-License-Identifier: Apache-2.0
"""How long a key has to wait before it is tried again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

__all__ = ("ExponentialBackoff", "MaxOf", "RateLimiter", "TokenBucket")

K = TypeVar("K", bound="Hashable")
K_contra = TypeVar("K_contra", bound="Hashable", contravariant=True)


class RateLimiter(Protocol[K_contra]):
    """Counts a key's failures and says how long to wait after each."""

    def when(self, key: K_contra) -> float:
        """Count one more failure of *key* and give the seconds to wait."""
        ...

    def forget(self, key: K_contra) -> None:
        """The key succeeded, or is given up: start over with it."""
        ...

    def failures(self, key: K_contra) -> int: ...


class ExponentialBackoff(Generic[K]):
    """For each key *base* seconds, doubled with each failure up to *cap*."""

    def __init__(self, base: float = 0.005, cap: float = 1000.0) -> None:
        self._base = base
        self._cap = cap
        self._failures: dict[K, int] = {}

    def when(self, key: K) -> float:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        # 2.0**1024 overflows; long before that the cap holds.
        return min(self._base * 2.0 ** min(failures, 64), self._cap)

    def forget(self, key: K) -> None:
        self._failures.pop(key, None)

    def failures(self, key: K) -> int:
        return self._failures.get(key, 0)


class TokenBucket(Generic[K]):
    """All keys together at most *rate* a second, after a first burst."""

    def __init__(self, monotonic: Callable[[], float], *, rate: float = 10.0, burst: int = 100) -> None:
        self._monotonic = monotonic
        self._rate = rate
        self._burst = float(burst)
        self._tokens = float(burst)
        self._last = monotonic()

    def when(self, key: K) -> float:  # noqa: ARG002
        now = self._monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._last) * self._rate) - 1.0
        self._last = now
        # A negative balance is a reservation: each caller waits behind those before it.
        return max(0.0, -self._tokens / self._rate)

    def forget(self, key: K) -> None:
        """Nothing is kept by key."""

    def failures(self, key: K) -> int:  # noqa: ARG002
        return 0


class MaxOf(Generic[K]):
    """The longest wait that any of several limiters asks for."""

    def __init__(self, *limiters: RateLimiter[K]) -> None:
        self._limiters = limiters

    def when(self, key: K) -> float:
        return max(limiter.when(key) for limiter in self._limiters)

    def forget(self, key: K) -> None:
        for limiter in self._limiters:
            limiter.forget(key)

    def failures(self, key: K) -> int:
        return max(limiter.failures(key) for limiter in self._limiters)
