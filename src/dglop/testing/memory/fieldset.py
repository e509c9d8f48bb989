# SPDX-License-Identifier: Apache-2.0
"""Sets of an object's fields, after structured-merge-diff: what server-side apply counts in.

A field is a path of elements in the words of FieldsV1: `f:name`, `k:{"key":"value"}`, `v:"value"`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.testing.memory.resources import Node
    from dglop.testing.memory.schema import Schemas

__all__ = ("FieldSet", "Path", "Shape", "compared", "decoded", "encoded", "fields_of", "readable")

Path = tuple[str, ...]
FieldSet = frozenset[Path]

MISSING: Any = object()
_ENCODER = msgspec.json.Encoder(order="sorted")


class Shape:
    """A value's members as path elements, by its schema; None for a leaf: a scalar or something atomic."""

    def __init__(self, schemas: Schemas) -> None:
        self.schemas = schemas

    def members(self, node: Node, value: Any) -> dict[str, tuple[Node, Any]] | None:
        schemas = self.schemas
        if isinstance(value, dict) and not schemas.is_atomic_map(node):
            return {f"f:{name}": (schemas.child(node, name) or {}, each) for name, each in value.items()}
        if isinstance(value, list):
            keys = schemas.keys(node)
            items = schemas.items(node)
            if keys is not None:
                return {element_of_key(schemas.key_of(node, each)): (items, each) for each in value}
            if schemas.is_set(node):
                return {element_of_value(each): (items, each) for each in value}
        return None


def element_of_key(key: dict[str, Any]) -> str:
    return f"k:{_ENCODER.encode(key).decode()}"


def element_of_value(value: Any) -> str:
    return f"v:{_ENCODER.encode(value).decode()}"


def fields_of(shape: Shape, node: Node, value: Any) -> FieldSet:
    """The fields that a configuration states."""
    found: set[Path] = set()
    _collect(shape, node, value, (), found)
    return frozenset(found)


def _collect(shape: Shape, node: Node, value: Any, path: Path, found: set[Path]) -> None:
    members = shape.members(node, value)
    if members is None:
        if path:
            found.add(path)
        return
    if path and (path[-1][0] == "k" or (isinstance(value, dict) and not value)):
        found.add(path)
    for element, (child, each) in members.items():
        _collect(shape, child, each, (*path, element), found)


def compared(shape: Shape, node: Node, old: Any, new: Any) -> tuple[FieldSet, FieldSet]:
    """The fields that were added or changed from *old* to *new*, and those that were removed."""
    comparison = _Comparison(shape)
    comparison.go(node, old, new, ())
    return frozenset(comparison.changed), frozenset(comparison.removed)


class _Comparison:
    """The differences so far."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.changed: set[Path] = set()
        self.removed: set[Path] = set()

    def go(self, node: Node, old: Any, new: Any, path: Path) -> None:
        shape, changed, removed = self._shape, self.changed, self.removed
        if old is new or (old is not MISSING and new is not MISSING and old == new):
            return
        before, after = shape.members(node, old), shape.members(node, new)
        if before is None and after is None:
            (removed if new is MISSING else changed).add(path)
            return
        if path and old is MISSING:
            changed.add(path)
        elif (path and new is MISSING) or (before is None and old is not MISSING and old is not None):
            removed.add(path)
        before, after = before or {}, after or {}
        for element in {**before, **after}:
            child, was = before.get(element, ({}, MISSING))
            child, is_now = after.get(element, (child, MISSING))
            self.go(child, was, is_now, (*path, element))


def encoded(fields: Iterable[Path]) -> dict[str, Any]:
    """The set as FieldsV1."""
    tree: dict[str, Any] = {}
    members = sorted(fields)
    for path in members:
        at = tree
        for element in path:
            at = at.setdefault(element, {})
    for path in members:
        at = tree
        for element in path:
            at = at[element]
        if at:
            at["."] = {}
    return tree


def decoded(tree: dict[str, Any], path: Path = ()) -> FieldSet:
    """The set that a FieldsV1 says."""
    found: set[Path] = set()
    for element, below in tree.items():
        if element == ".":
            found.add(path)
        elif not below:
            found.add((*path, element))
        else:
            found |= decoded(below, (*path, element))
    return frozenset(found)


def readable(path: Path) -> str:
    """The path as messages write it: `.spec.items[name="a"].value`."""
    parts = []
    for element in path:
        kind, _, text = element.partition(":")
        if kind == "f":
            parts.append(f".{text}")
        elif kind == "v":
            parts.append(f"[={text}]")
        else:
            pairs = msgspec.json.decode(text)
            shown = ",".join(f"{name}={msgspec.json.encode(each).decode()}" for name, each in pairs.items())
            parts.append(f"[{shown}]")
    return "".join(parts)
