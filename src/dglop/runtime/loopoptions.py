# SPDX-License-Identifier: Apache-2.0
"""What can be said of a controller of any sort."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import timedelta

    from dglop.runtime.api import Kind, Rule
    from dglop.runtime.cache import Cached
    from dglop.runtime.predicate import Predicate
    from dglop.runtime.queue import RateLimiter

    Indexes = Mapping[Kind, Mapping[str, Callable[[Cached], Iterable[str]]]]

__all__ = ("Limit", "LoopOptions")


class Limit(Protocol):
    """Limits what the cache of a cluster holds of a kind. Raises ConfigError for two selectors."""

    def __call__(self, cluster: str, kind: Kind, labels: str, *, metadata_only: bool) -> None: ...


class LoopOptions(TypedDict, total=False):
    """
    What can be said of any controller.

    Attributes
    ----------
        concurrency: how many keys are reconciled at once; 1 by default.
        reconcile_timeout: how long one reconciliation may take; without it as long as it likes.
        rate_limiter: how long a key that failed waits; by default from 5 ms to 1000 s. MaxOf(
            ExponentialBackoff(), TokenBucket(clock.monotonic)) bounds all retries together too.
        filters: predicates that the events of every kind must pass, beside those of each source.
        debounce: how long an event waits for others, which are then one reconciliation with it.
        indexes: what the cache finds the objects of a kind by.
        rules: what the reconciler's calls must be allowed beside what `needs` declares.
        needs_leader: whether only the leader may run it; True by default.
        warm_up: run the sources and fill the queue, but work on nothing, while another process leads.
    """

    concurrency: int
    reconcile_timeout: timedelta | None
    rate_limiter: RateLimiter[Any] | None
    filters: Sequence[Predicate]
    debounce: timedelta | None
    indexes: Indexes | None
    rules: Sequence[Rule]
    needs_leader: bool
    warm_up: bool
