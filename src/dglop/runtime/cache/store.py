# SPDX-License-Identifier: Apache-2.0
"""Store: the objects of one kind by key, with indexes that are always right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from dglop.runtime.cache.delta import Delta
from dglop.runtime.cache.entry import Cached, Key
from dglop.runtime.usercode import failed

__all__ = ("CONTROLLER_INDEX", "NAMESPACE_INDEX", "Indexer", "Store")

Indexer = Callable[[Cached], Iterable[str]]
"""The values under which an object is found; it must depend on the object alone."""

Objects = list[Cached]
Deltas = list[Delta]

NAMESPACE_INDEX = "namespace"
"""The index of every store by namespace."""
CONTROLLER_INDEX = "controller"
"""By the uid of the owner that controls the object."""


_PART = 1000
_LOOKED_AT = 5000  # which takes less time than so many changes


def _is_same(old: Cached, new: Cached) -> bool:
    return old.uid == new.uid and old.resource_version == new.resource_version


def _namespace(obj: Cached) -> Iterable[str]:
    return (obj.meta.namespace,)


def _controller(obj: Cached) -> Iterable[str]:
    uid = obj.controller_uid()
    return (uid,) if uid else ()


class Store:
    """Objects by namespace and name.

    Changes come from the reflector alone, and each says what it changed. There is no await in here, so
    a reader in the same loop never sees half a change, except that many changes at once come in parts.
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
        if old is not None and _is_same(old, new):
            return []  # the one that is there has its views decoded already
        self._items[key] = new
        if old is None:
            self._index(new)
            return [Delta(None, new)]
        self._reindex(old, new)
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
        parts = self.replacing(fresh, covers=covers, is_initial=is_initial)
        return [delta for part in parts for delta in part]

    def replacing(
        self,
        fresh: dict[Key, Cached],
        *,
        covers: Callable[[str], bool] | None = None,
        is_initial: bool = False,
    ) -> Iterator[Deltas]:
        """`replace` in parts, between which others may have their turn; `fresh` is emptied.

        First it is only looked at what changed. Up to 1000 changes are then made at once, more of them in
        parts of so many, each with its deltas. Between parts nobody else may change what is covered.
        """
        gone: Objects = []
        for index, key in enumerate(list(self._items)):
            if key not in fresh and (covers is None or covers(key[0])):
                gone.append(self._items[key])
            if index % _LOOKED_AT == _LOOKED_AT - 1:
                yield []
        changed: Objects = []
        for index, key in enumerate(list(fresh)):
            # Taken out one by one: to drop ten thousand at once would take long, too.
            obj, old = fresh.pop(key), self._items.get(key)
            if old is None or not _is_same(old, obj):
                changed.append(obj)
            if index % _LOOKED_AT == _LOOKED_AT - 1:
                yield []
        deltas: Deltas = []
        for obj in (*gone, *changed):
            is_gone = self._items.get(obj.key) is obj
            deltas += self._lose(obj) if is_gone else _initial(self.put(obj), is_initial=is_initial)
            if len(deltas) >= _PART:
                yield deltas
                deltas = []
        yield deltas

    def _lose(self, obj: Cached) -> Deltas:
        """Drops what was deleted unseen."""
        del self._items[obj.key]
        self._unindex(obj)
        return [Delta(obj, None, final_state_unknown=True)]

    def _index(self, obj: Cached) -> None:
        for name, indexer in self._indexers.items():
            self._link(name, indexer, obj)

    def _link(self, name: str, indexer: Indexer, obj: Cached) -> None:
        index, key = self._indexes[name], obj.key
        for value in _values(name, indexer, obj):
            index.setdefault(value, {})[key] = None

    def _unindex(self, obj: Cached) -> None:
        for name, indexer in self._indexers.items():
            _unlink(self._indexes[name], _values(name, indexer, obj), obj.key)

    def _reindex(self, old: Cached, new: Cached) -> None:
        for name, indexer in self._indexers.items():
            before, after = _values(name, indexer, old), _values(name, indexer, new)
            if before != after:  # seldom: labels and owners stay
                index = self._indexes[name]
                _unlink(index, before, old.key)
                for value in after:
                    index.setdefault(value, {})[new.key] = None


def _values(name: str, indexer: Indexer, obj: Cached) -> tuple[str, ...]:
    try:
        values = indexer(obj)
        if not isinstance(values, str):
            return tuple(values)
    except BaseException as error:
        raise failed(error, f"cannot put {obj!r} into the index {name!r}", indexer) from error
    raise TypeError(f"the function of index {name!r} returned the text {values!r}; it returns a list of such")


def _initial(deltas: Deltas, *, is_initial: bool) -> Deltas:
    if not is_initial:
        return deltas
    return [Delta(None, each.new, is_initial=True) if each.old is None else each for each in deltas]


def _unlink(index: dict[str, dict[Key, None]], values: Iterable[str], key: Key) -> None:
    for value in values:
        found = index.get(value)
        if found is not None:
            found.pop(key, None)
            if not found:
                del index[value]
