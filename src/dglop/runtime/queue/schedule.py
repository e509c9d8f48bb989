# SPDX-License-Identifier: Apache-2.0
"""Which key is next: the work queue's decisions, as a state machine without clock or waiting."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

__all__ = ("Item", "Schedule")

K = TypeVar("K", bound="Hashable")

OVERDUE_SECONDS = 60.0
OVERDUE_SHARE = 4


@dataclass(slots=True)
class Item(Generic[K]):
    """
    A key that is to be processed.

    Attributes
    ----------
        key: whose turn it is.
        priority: higher comes first.
        order: place within its priority; taken anew whenever the item becomes ready or rises.
        ready_at: when it may be handed out; None once it is ready.
        ready_since: since when it is ready.
    """

    key: K
    priority: int
    order: int = 0
    ready_at: float | None = None
    ready_since: float = 0.0


class Schedule(Generic[K]):
    """
    At most one item a key; ready items by priority, then first come first served.

    A key that is being processed can be added again: it is then ready but held back until `done`, so that no
    two workers have the same key and no addition is lost. A second addition keeps the earlier time and the
    higher priority. Lest low priorities starve, every fourth hand-out goes to the item that has been ready
    longest, once that is over a minute: a bound for it, and three quarters of the speed for the others.
    """

    def __init__(self, *, overdue_after: float = OVERDUE_SECONDS, overdue_share: int = OVERDUE_SHARE) -> None:
        self._overdue_after = overdue_after
        self._overdue_share = overdue_share
        self._items: dict[K, Item[K]] = {}
        self._processing: dict[K, float] = {}
        # The heaps hold stale entries too: an entry counts only while its item still says the same.
        self._ready: list[tuple[int, int, K]] = []
        self._by_age: list[tuple[float, int, K]] = []
        self._waiting: list[tuple[float, int, K]] = []
        self._depth: Counter[int] = Counter()
        self._changed: set[int] = set()
        self._ready_count = 0
        self._available = 0
        self._order = 0
        self._handed_out = 0

    def __repr__(self) -> str:
        return f"Schedule(ready={len(self)}, waiting={self.waiting}, processing={len(self._processing)})"

    def __len__(self) -> int:
        """Ready items, those held back by a worker included."""
        return self._ready_count

    def __contains__(self, key: K) -> bool:
        return key in self._items

    @property
    def depth(self) -> Mapping[int, int]:
        """Ready items by priority; a priority once seen stays, with 0."""
        return self._depth

    def take_depth_changes(self) -> list[tuple[int, int]]:
        """Priorities whose depth changed since the last call, and their depths."""
        changed = [(priority, self._depth[priority]) for priority in self._changed]
        self._changed.clear()
        return changed

    @property
    def available(self) -> int:
        """Items that `pop` would hand out now."""
        return self._available

    @property
    def waiting(self) -> int:
        """Items whose time has not come."""
        return len(self._items) - len(self)

    @property
    def processing(self) -> Mapping[K, float]:
        """Keys that were handed out and not done, and when that was."""
        return self._processing

    def add(self, key: K, now: float, *, after: float = 0.0, priority: int | None = None) -> None:
        """Have *key* processed, *after* seconds from now at the earliest if it is not due before."""
        item = self._items.get(key)
        if item is None:
            item = self._items[key] = Item(key, priority or 0)
            if after <= 0:
                self._make_ready(item, now)
            else:
                self._wait(item, now + after)
            return
        if priority is not None and priority > item.priority:
            self._raise(item, priority)
        if item.ready_at is not None and now + after < item.ready_at:
            if after <= 0:
                self._make_ready(item, now)
            else:
                self._wait(item, now + after)

    def advance(self, now: float) -> list[Item[K]]:
        """Make ready what is due at *now*, earliest first, and give those items."""
        due: list[Item[K]] = []
        while self._waiting and self._waiting[0][0] <= now:
            at, _, key = heapq.heappop(self._waiting)
            if self._is_due_at(key, at):
                item = self._items[key]
                self._make_ready(item, now)
                due.append(item)
        return due

    def next_ready_at(self) -> float | None:
        """When `advance` has something to do next."""
        while self._waiting:
            at, _, key = self._waiting[0]
            if self._is_due_at(key, at):
                return at
            heapq.heappop(self._waiting)
        return None

    def pop(self, now: float) -> Item[K] | None:
        """Hand out the next item, to be given back with `done`; None if there is none."""
        if not self._available:
            return None
        item = self._pop_overdue(now) or self._pop_ready()
        self._handed_out += 1
        self._available -= 1
        self._count(item.priority, -1)
        del self._items[item.key]
        self._processing[item.key] = now
        return item

    def done(self, key: K) -> float:
        """
        Take *key* back; if it was added meanwhile it can be handed out again.

        Gives the time at which it was handed out. Raises KeyError if it was not.
        """
        started = self._processing.pop(key)
        item = self._items.get(key)
        if item is not None and item.ready_at is None:
            self._push(item)
        return started

    def _make_ready(self, item: Item[K], now: float) -> None:
        item.ready_at = None
        item.ready_since = now
        item.order = self._next_order()
        self._count(item.priority, 1)
        if item.key not in self._processing:
            self._push(item)

    def _push(self, item: Item[K]) -> None:
        self._available += 1
        self._enter(item)

    def _enter(self, item: Item[K]) -> None:
        heapq.heappush(self._ready, (-item.priority, item.order, item.key))
        if self._is_stale(self._by_age):
            self._by_age = [entry for entry in self._by_age if self._live(entry[2], entry[1])]
            heapq.heapify(self._by_age)
        heapq.heappush(self._by_age, (item.ready_since, item.order, item.key))

    def _raise(self, item: Item[K], priority: int) -> None:
        if item.ready_at is None:
            self._count(item.priority, -1)
            self._count(priority, 1)
            item.order = self._next_order()
        item.priority = priority
        if item.ready_at is None and item.key not in self._processing:
            self._enter(item)

    def _wait(self, item: Item[K], ready_at: float) -> None:
        item.ready_at = ready_at
        if self._is_stale(self._waiting):
            self._waiting = [entry for entry in self._waiting if self._is_due_at(entry[2], entry[0])]
            heapq.heapify(self._waiting)
        heapq.heappush(self._waiting, (ready_at, self._next_order(), item.key))

    def _is_stale(self, heap: list[tuple[float, int, K]]) -> bool:
        # Stale entries are cheap, but a key that asks for an hour's delay a hundred times a second is not.
        return len(heap) > 2 * len(self._items) + 64

    def _is_due_at(self, key: K, at: float) -> bool:
        item = self._items.get(key)
        return item is not None and item.ready_at == at

    def _pop_ready(self) -> Item[K]:
        while True:
            _, order, key = heapq.heappop(self._ready)
            item = self._live(key, order)
            if item is not None:
                return item

    def _pop_overdue(self, now: float) -> Item[K] | None:
        while self._by_age and self._live(self._by_age[0][2], self._by_age[0][1]) is None:
            heapq.heappop(self._by_age)
        if (self._handed_out + 1) % self._overdue_share or not self._by_age:
            return None
        since, order, key = self._by_age[0]
        if now - since < self._overdue_after:
            return None
        heapq.heappop(self._by_age)
        return self._live(key, order)

    def _live(self, key: K, order: int) -> Item[K] | None:
        item = self._items.get(key)
        if item is None or item.order != order or item.ready_at is not None or key in self._processing:
            return None
        return item

    def _count(self, priority: int, change: int) -> None:
        self._depth[priority] += change
        self._changed.add(priority)
        self._ready_count += change

    def _next_order(self) -> int:
        self._order += 1
        return self._order
