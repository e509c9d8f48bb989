# SPDX-License-Identifier: Apache-2.0
"""Store: the objects of one kind by key, with indexes that are always right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from dglop.runtime.cache.delta import Delta
from dglop.runtime.cache.entry import Cached, Key

__all__ = ("CONTROLLER_INDEX", "NAMESPACE_INDEX", "Indexer", "Store")

Indexer = Callable[[Cached], Iterable[str]]
"""The values under which an object is found; it must depend on the object alone."""

Objects = list[Cached]
Deltas = list[Delta]

NAMESPACE_INDEX = "namespace"
"""The index of every store by namespace."""
CONTROLLER_INDEX = "controller"
"""By the uid of the owner that controls the object."""


def _namespace(obj: Cached) -> Iterable[str]:
    return (obj.meta.namespace,)


def _controller(obj: Cached) -> Iterable[str]:
    uid = obj.controller_uid()
    return (uid,) if uid else ()


class Store:
    """Objects by namespace and name.

    Changes come from the reflector alone, and each says what it changed. There is no await in here, so
    a reader in the same loop never sees half a change.
    """

    def __init__(self, indexers: Mapping[str, Indexer] | None = None) -> None:
        self._items: dict[Key, Cached] = {}
        self._indexers: dict[str, Indexer] = {}
        self._indexes: dict[str, dict[str, dict[Key, None]]] = {}
        builtin: dict[str, Indexer] = {NAMESPACE_INDEX: _namespace, CONTROLLER_INDEX: _controller}
        for name, indexer in {**builtin, **(indexers or {})}.items():
            self.add_index(name, indexer)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: Key) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[Cached]:
        return iter(self.list())

    def get(self, key: Key) -> Cached | None:
        return self._items.get(key)

    def list(self) -> Objects:
        return list(self._items.values())

    def by_index(self, name: str, value: str) -> Objects:
        """The objects with this value, in the order they came. Raises KeyError for an unknown index."""
        try:
            index = self._indexes[name]
        except KeyError:
            known = ", ".join(sorted(self._indexes))
            raise KeyError(f"there is no index {name!r}; there are: {known}") from None
        return [self._items[key] for key in index.get(value, ())]

    def add_index(self, name: str, indexer: Indexer) -> None:
        """Adds an index over what is there and what comes. Raises ValueError for a name in use."""
        if self._indexers.get(name, indexer) is not indexer:
            raise ValueError(f"the index {name!r} exists with another function; choose another name")
        self._indexers[name] = indexer
        self._indexes[name] = {}
        for obj in self._items.values():
            self._link(name, indexer, obj)

    def put(self, new: Cached) -> Deltas:
        """Takes an object as it is now.

        Another uid under the same name is another object: the deletion of the old one was missed.
        """
        key = new.key
        old = self._items.get(key)
        if old is not None:
            if old.uid == new.uid and old.resource_version == new.resource_version:
                return []  # the one that is there has its views decoded already
            self._unindex(old)
        self._items[key] = new
        self._index(new)
        if old is None:
            return [Delta(None, new)]
        if old.uid != new.uid:
            return [Delta(old, None, final_state_unknown=True), Delta(None, new)]
        return [Delta(old, new)]

    def remove(self, last: Cached) -> Deltas:
        """Drops an object; `last` is its last state."""
        old = self._items.pop(last.key, None)
        if old is None:
            return []
        self._unindex(old)
        if old.uid == last.uid:
            return [Delta(last, None)]
        return [Delta(old, None, final_state_unknown=True)]

    def replace(
        self,
        objects: Iterable[Cached],
        *,
        covers: Callable[[str], bool] | None = None,
        is_initial: bool = False,
    ) -> Deltas:
        """Takes `objects` as all there are (in the namespaces that `covers` says), at once.

        What is missing was deleted unseen. What is unchanged gives no delta.
        """
        fresh = {obj.key: obj for obj in objects}
        deltas: Deltas = []
        for key in [key for key in self._items if covers is None or covers(key[0])]:
            if key not in fresh:
                old = self._items.pop(key)
                self._unindex(old)
                deltas.append(Delta(old, None, final_state_unknown=True))
        for obj in fresh.values():
            for delta in self.put(obj):
                added = delta.old is None
                deltas.append(Delta(None, delta.new, is_initial=is_initial) if added else delta)
        return deltas

    def _index(self, obj: Cached) -> None:
        for name, indexer in self._indexers.items():
            self._link(name, indexer, obj)

    def _link(self, name: str, indexer: Indexer, obj: Cached) -> None:
        index, key = self._indexes[name], obj.key
        for value in indexer(obj):
            index.setdefault(value, {})[key] = None

    def _unindex(self, obj: Cached) -> None:
        key = obj.key
        for name, indexer in self._indexers.items():
            index = self._indexes[name]
            for value in indexer(obj):
                found = index.get(value)
                if found is not None:
                    found.pop(key, None)
                    if not found:
                        del index[value]
