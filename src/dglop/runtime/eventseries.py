# SPDX-License-Identifier: Apache-2.0
"""Which events are worth a request: equal ones become a series, floods are dropped; no I/O, no clock."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ("EventKey", "EventSeries", "Patch", "Post", "reference_key")

MAX_SERIES = 4096
BURST = 25
REFILL_SECONDS = 300.0
IDLE_SECONDS = 360.0


@dataclass(frozen=True, slots=True)
class EventKey:
    """
    What makes two events the same.

    The note is part of it, unlike in client-go: there the second "Created pod" would count up the first and
    its pod's name would be lost.
    """

    type: str
    reason: str
    action: str
    note: str
    regarding: tuple[str, ...]
    related: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Post:
    """Create the event."""

    name: str


@dataclass(frozen=True, slots=True)
class Patch:
    """Write the number of times that the event of this name happened."""

    key: EventKey
    name: str
    count: int


@dataclass(slots=True)
class _Series:
    name: str
    last: float
    count: int = 1
    written: int = 1


@dataclass(slots=True)
class _Bucket:
    at: float
    tokens: float = field(default=float(BURST))


class EventSeries:
    """
    Remembers what was posted.

    Guarantees: one Post for the first of equal events, then a Patch whenever their number has doubled and a
    last one when nothing came for six minutes; at most 25 requests an object at once and then one every five
    minutes; bounded memory.
    """

    def __init__(self) -> None:
        self._series: OrderedDict[EventKey, _Series] = OrderedDict()
        self._buckets: OrderedDict[tuple[str, ...], _Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._series)

    def observe(self, key: EventKey, now: float, *, name: str) -> Post | Patch | None:
        """Count one event; *name* is for it if it is posted. None if there is nothing to send."""
        series = self._series.get(key)
        if series is None or now - series.last >= IDLE_SECONDS:
            if not self._may_send(key.regarding, now):
                return None
            self._series[key] = _Series(name, now)
            self._series.move_to_end(key)
            while len(self._series) > MAX_SERIES:
                self._series.popitem(last=False)
            return Post(name)
        series.last = now
        series.count += 1
        self._series.move_to_end(key)
        if series.count < 2 * series.written or not self._may_send(key.regarding, now):
            return None
        series.written = series.count
        return Patch(key, series.name, series.count)

    def forget(self, key: EventKey) -> None:
        """The event is not on the server (any more): the next equal one is a first one."""
        self._series.pop(key, None)

    def sweep(self, now: float) -> list[Patch]:
        """End the series to which nothing was added for six minutes; give the counts still to be written."""
        ended = [(key, s) for key, s in self._series.items() if now - s.last >= IDLE_SECONDS]
        for key, _ in ended:
            del self._series[key]
        for regarding in [r for r, bucket in self._buckets.items() if _tokens(bucket, now) >= BURST]:
            del self._buckets[regarding]
        return [Patch(key, s.name, s.count) for key, s in ended if s.count > s.written]

    def _may_send(self, regarding: tuple[str, ...], now: float) -> bool:
        bucket = self._buckets.get(regarding)
        if bucket is None:
            bucket = self._buckets[regarding] = _Bucket(now)
            while len(self._buckets) > MAX_SERIES:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(regarding)
        bucket.tokens, bucket.at = _tokens(bucket, now), now
        if bucket.tokens < 1.0:
            return False
        bucket.tokens -= 1.0
        return True


def _tokens(bucket: _Bucket, now: float) -> float:
    return min(float(BURST), bucket.tokens + (now - bucket.at) / REFILL_SECONDS)


def reference_key(reference: Mapping[str, str]) -> tuple[str, ...]:
    """An object reference as something hashable; its resourceVersion does not count."""
    names = ("apiVersion", "kind", "namespace", "name", "uid")
    return tuple(reference.get(name, "") for name in names)
