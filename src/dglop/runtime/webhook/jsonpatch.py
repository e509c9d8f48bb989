# SPDX-License-Identifier: Apache-2.0
"""JSON patches (RFC 6902) from two states, and typed changes carried over to the untyped whole."""

from __future__ import annotations

from typing import Any

__all__ = ("carry_over", "json_patch")

Operation = dict[str, Any]


def json_patch(before: Any, after: Any, path: str = "") -> list[Operation]:
    """The operations that make *after* of *before*; none if they are the same JSON."""
    if isinstance(before, dict) and isinstance(after, dict):
        return _of_objects(before, after, path)
    if isinstance(before, list) and isinstance(after, list):
        return _of_lists(before, after, path)
    return [] if _same(before, after) else [{"op": "replace", "path": path, "value": after}]


def carry_over(raw: Any, before: Any, after: Any) -> Any:
    """
    *raw* with what differs between *before* and *after*, two typed readings of it.

    What the types do not know stays as it is, and so does what typing alone would change, such as a default
    that Python filled in.
    """
    if _same(before, after):
        return raw
    if isinstance(raw, dict) and isinstance(before, dict) and isinstance(after, dict):
        result = {key: value for key, value in raw.items() if key not in before or key in after}
        for key, value in after.items():
            if key not in before:
                result[key] = value
            elif not _same(before[key], value):
                result[key] = carry_over(raw.get(key), before[key], value)
        return result
    lists = isinstance(raw, list) and isinstance(before, list) and isinstance(after, list)
    return _carry_items(raw, before, after) if lists and len(raw) == len(before) else after


def _carry_items(raw: list[Any], before: list[Any], after: list[Any]) -> list[Any]:
    if len(before) == len(after):
        return [carry_over(*each) for each in zip(raw, before, after, strict=True)]
    # Something came or went: what was not changed itself is found again by its value.
    left = list(zip(before, raw, strict=True))
    result = []
    for item in after:
        found = next((pair for pair in left if _same(pair[0], item)), None)
        if found is None:
            result.append(item)
        else:
            left.remove(found)
            result.append(found[1])
    return result


def _of_objects(before: dict[str, Any], after: dict[str, Any], path: str) -> list[Operation]:
    operations: list[Operation] = []
    for key, value in before.items():
        place = f"{path}/{_escaped(key)}"
        if key not in after:
            operations.append({"op": "remove", "path": place})
        else:
            operations += json_patch(value, after[key], place)
    added = (key for key in after if key not in before)
    operations += [{"op": "add", "path": f"{path}/{_escaped(key)}", "value": after[key]} for key in added]
    return operations


def _of_lists(before: list[Any], after: list[Any], path: str) -> list[Operation]:
    operations: list[Operation] = []
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        operations += json_patch(old, new, f"{path}/{index}")
    # From the end, so that no removal moves what a later one means.
    for index in range(len(before) - 1, len(after) - 1, -1):
        operations.append({"op": "remove", "path": f"{path}/{index}"})
    operations += [{"op": "add", "path": f"{path}/-", "value": value} for value in after[len(before) :]]
    return operations


def _same(one: Any, other: Any) -> bool:
    """Whether both are the same JSON; Python holds True, 1 and 1.0 for equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_same(*pair) for pair in zip(one, other, strict=True))
    return type(one) is type(other) and bool(one == other)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
