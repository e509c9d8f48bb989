# SPDX-License-Identifier: Apache-2.0
"""Writes that were made and that the cache has not shown yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

__all__ = ("Expectations",)

K = TypeVar("K", bound="Hashable")

TTL_SECONDS = 300.0


@dataclass(slots=True)
class _Record:
    since: float
    creations: set[str] = field(default_factory=set)
    deletions: set[str] = field(default_factory=set)

    @property
    def is_empty(self) -> bool:
        return not self.creations and not self.deletions


class Expectations(Generic[K]):
    """
    Keeps a controller from acting on a cache that lags behind its own writes.

    Expected flow: `expect` before the calls; `creation_failed` or `deletion_failed` when a call surely did
    nothing (after a time-out nobody knows: leave it expected); `…_observed` from the informer's handlers,
    where an object that arrives with a deletionTimestamp is an observed creation and an observed deletion.

    Guarantees: names and UIDs are sets, so an event seen twice, or one that nobody expected, changes nothing
    and no count goes below zero. A record older than *ttl* seconds no longer holds anything back, since the
    event may have been missed. Put the owner's UID into the key, or call `forget` when the owner is gone:
    an owner made again under the same name must not wait for its predecessor's objects.
    """

    def __init__(self, monotonic: Callable[[], float], *, ttl: float = TTL_SECONDS) -> None:
        self._monotonic = monotonic
        self._ttl = ttl
        self._records: dict[K, _Record] = {}

    def __len__(self) -> int:
        return len(self._records)

    def __repr__(self) -> str:
        return f"Expectations({len(self._records)} keys)"

    def expect(self, key: K, *, creations: Iterable[str] = (), deletions: Iterable[str] = ()) -> None:
        """Add names about to be created and UIDs about to be deleted; restarts the key's clock."""
        record = self._records.get(key)
        now = self._monotonic()
        if record is None or self._is_expired(record, now):
            record = _Record(now)
        record.since = now
        record.creations.update(creations)
        record.deletions.update(deletions)
        if not record.is_empty:
            self._records[key] = record

    def creation_observed(self, key: K, name: str) -> None:
        self._lower(key, "creations", name)

    def deletion_observed(self, key: K, uid: str) -> None:
        self._lower(key, "deletions", uid)

    def creation_failed(self, key: K, name: str) -> None:
        """The object was certainly not created, so no event will come."""
        self._lower(key, "creations", name)

    def deletion_failed(self, key: K, uid: str) -> None:
        """The object was certainly not deleted, or was gone before, so no event will come."""
        self._lower(key, "deletions", uid)

    def pending(self, key: K) -> tuple[frozenset[str], frozenset[str]]:
        """Names of creations and UIDs of deletions that were not seen yet."""
        record = self._records.get(key)
        if record is None:
            return frozenset(), frozenset()
        return frozenset(record.creations), frozenset(record.deletions)

    def satisfied(self, key: K) -> bool:
        """Whether the cache has shown all that was expected of *key*, or has had its time to."""
        record = self._records.get(key)
        return record is None or record.is_empty or self._is_expired(record, self._monotonic())

    def expires_in(self, key: K) -> float | None:
        """Seconds until `satisfied` turns true by itself; None if it is true already."""
        record = self._records.get(key)
        if record is None or self.satisfied(key):
            return None
        return record.since + self._ttl - self._monotonic()

    def forget(self, key: K) -> None:
        self._records.pop(key, None)

    def forget_if(self, predicate: Callable[[K], bool]) -> None:
        """Drop every key that *predicate* names, such as all of a deleted owner."""
        for key in [key for key in self._records if predicate(key)]:
            del self._records[key]

    def _lower(self, key: K, which: str, token: str) -> None:
        record = self._records.get(key)
        if record is None:
            return
        tokens: set[str] = getattr(record, which)
        tokens.discard(token)
        if record.is_empty:
            del self._records[key]

    def _is_expired(self, record: _Record, now: float) -> bool:
        return now - record.since >= self._ttl
