# SPDX-License-Identifier: Apache-2.0
"""The objects, their versions and their history: what etcd is to a real API server."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ("Change", "Key", "Store", "Stored")

Key = tuple[str, str]
"""Namespace ("" for cluster scope) and name."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One state of one object; its dict is never changed."""

    wire: dict[str, Any]
    raw: bytes
    version: int

    def copy(self) -> dict[str, Any]:
        """A dict of the caller's own."""
        found: dict[str, Any] = msgspec.json.decode(self.raw)
        return found


@dataclass(frozen=True, slots=True)
class Change:
    """One write: only `new` is a creation, only `old` a deletion; a deletion carries its last state."""

    version: int
    key: Key
    old: Stored | None
    new: Stored | None
    last: Stored


class Store:
    """All resources' objects under one counter of versions."""

    def __init__(self) -> None:
        self.version: int = 1
        self.compacted: int = 0
        """The version up to which history is gone."""
        self._objects: dict[str, dict[Key, Stored]] = {}
        self._history: dict[str, list[Change]] = {}
        self._listeners: list[Callable[[str, Change], None]] = []

    def subscribe(self, listener: Callable[[str, Change], None]) -> Callable[[], None]:
        """Have *listener* told of each change; the function given back ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def get(self, storage: str, key: Key) -> Stored | None:
        return self._objects.get(storage, {}).get(key)

    def all(self, storage: str, namespace: str | None = None) -> list[Stored]:
        """The objects in the order of their keys."""
        found = sorted(self._objects.get(storage, {}).items())
        return [each for key, each in found if namespace is None or key[0] == namespace]

    def everything(self) -> Iterator[tuple[str, Key, Stored]]:
        for storage, objects in self._objects.items():
            for key, each in list(objects.items()):
                yield storage, key, each

    def put(self, storage: str, wire: dict[str, Any]) -> Stored:
        """Store a new state; it gets the next version."""
        key = key_of(wire)
        objects = self._objects.setdefault(storage, {})
        old = objects.get(key)
        new = self._next(wire)
        objects[key] = new
        self._tell(storage, Change(new.version, key, old, new, new))
        return new

    def remove(self, storage: str, key: Key, last: dict[str, Any] | None = None) -> Stored:
        """Delete an object; *last* is its state if that was never stored. Raises KeyError."""
        old = self._objects[storage].pop(key)
        gone = self._next(last if last is not None else old.wire)
        self._tell(storage, Change(gone.version, key, old, None, gone))
        return gone

    def changes(self, storage: str, since: int) -> list[Change]:
        """What happened after version *since*."""
        history = self._history.get(storage, [])
        return history[bisect_right(history, since, key=lambda each: each.version) :]

    def at(self, storage: str, version: int) -> list[Stored]:
        """The objects as they were at a version that is not compacted."""
        objects = dict(self._objects.get(storage, {}))
        for change in reversed(self.changes(storage, version)):
            if change.old is None:
                objects.pop(change.key, None)
            else:
                objects[change.key] = change.old
        return [each for _, each in sorted(objects.items())]

    def compact(self) -> None:
        """Forget all history."""
        self.compacted = self.version
        self._history.clear()

    def _next(self, wire: dict[str, Any]) -> Stored:
        self.version += 1
        metadata = {**wire["metadata"], "resourceVersion": str(self.version)}
        whole = {**wire, "metadata": metadata}
        return Stored(whole, msgspec.json.encode(whole), self.version)

    def _tell(self, storage: str, change: Change) -> None:
        self._history.setdefault(storage, []).append(change)
        for listener in list(self._listeners):
            listener(storage, change)


def key_of(wire: dict[str, Any]) -> Key:
    metadata = wire["metadata"]
    return (metadata.get("namespace") or "", metadata["name"])
