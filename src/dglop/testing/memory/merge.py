# SPDX-License-Identifier: Apache-2.0
"""Merging and cutting values by their schema, as server-side apply does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.testing.memory.fieldset import element_of_key, element_of_value

if TYPE_CHECKING:
    from dglop.testing.memory.fieldset import Path, Shape
    from dglop.testing.memory.resources import Node

__all__ = ("merged_by_schema", "without")


def merged_by_schema(shape: Shape, node: Node, old: Any, new: Any) -> Any:
    """*old* with *new* on top; lists that are maps or sets item by item, in structured-merge-diff's order."""
    schemas = shape.schemas
    if isinstance(old, dict) and isinstance(new, dict) and not schemas.is_atomic_map(node):
        result = dict(old)
        for name, value in new.items():
            child = schemas.child(node, name) or {}
            result[name] = merged_by_schema(shape, child, old[name], value) if name in old else value
        return result
    is_list = isinstance(old, list) and isinstance(new, list)
    if is_list and (schemas.keys(node) is not None or schemas.is_set(node)):
        return _merged_list(shape, node, old, new)
    return new


def _merged_list(shape: Shape, node: Node, old: list[Any], new: list[Any]) -> list[Any]:
    items = shape.schemas.items(node)
    left = {_element(shape, node, each): each for each in old}
    right = {_element(shape, node, each): each for each in new}
    before, after = list(left), list(right)
    shared = [element for element in after if element in left]
    result: list[Any] = []
    at = to = 0
    while at < len(before) or to < len(after):
        if at < len(before) and to < len(after):
            element = before[at]
            if element == after[to]:
                result.append(merged_by_schema(shape, items, left[element], right[element]))
                at, to = at + 1, to + 1
                shared = shared[1:]
                continue
            if element in right and shared and shared[0] != element:
                at += 1  # it is shared, but another one comes first
                continue
        if at < len(before):
            element = before[at]
            if element not in right:
                result.append(left[element])
                at += 1
                continue
            if element in after[:to]:
                at += 1
                continue
        element = after[to]
        known = element in left
        result.append(
            merged_by_schema(shape, items, left[element], right[element]) if known else right[element]
        )
        to += 1
        if shared and shared[0] == element:
            shared = shared[1:]
    return result


def without(shape: Shape, node: Node, value: Any, gone: set[Path]) -> Any:
    """*value* without the fields in *gone*; what has nothing left that way goes too."""
    by_first: dict[str, set[Path]] = {}
    for path in gone:
        by_first.setdefault(path[0], set()).add(path[1:])
    if isinstance(value, dict):
        return _map_without(shape, node, value, by_first)
    if isinstance(value, list):
        return _list_without(shape, node, value, by_first)
    return value


def _map_without(
    shape: Shape, node: Node, value: dict[str, Any], by_first: dict[str, set[Path]]
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, each in value.items():
        below = by_first.get(f"f:{name}")
        if below is None:
            result[name] = each
        elif () not in below:
            kept = without(shape, shape.schemas.child(node, name) or {}, each, below)
            if kept or not each:
                result[name] = kept
    return result


def _list_without(shape: Shape, node: Node, value: list[Any], by_first: dict[str, set[Path]]) -> list[Any]:
    items = shape.schemas.items(node)
    result = []
    for each in value:
        below = by_first.get(_element(shape, node, each))
        if below is None:
            result.append(each)
        elif () not in below:
            result.append(without(shape, items, each, below))
    return result


def _element(shape: Shape, node: Node, item: Any) -> str:
    if shape.schemas.keys(node) is not None:
        return element_of_key(shape.schemas.key_of(node, item))
    return element_of_value(item)
