# SPDX-License-Identifier: Apache-2.0
"""Merge patches from two states of one object; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.errors import SchemaError
from dglop.runtime.difference import merge_difference

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ("graft", "merge_body")

_IDENTITY = ("name", "namespace", "uid")
_NOT_OURS = ("creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion")
_KEYS = ("name", "uid", "type", "key", "containerPort", "port", "ip")


def merge_body(
    before: Mapping[str, Any], after: Mapping[str, Any], *, lock: bool = False, subresource: str | None = None
) -> dict[str, Any] | None:
    """The merge patch from `before` to `after`, or None where there is nothing to write.

    With `lock` it holds uid and resourceVersion of `before`, which the server compares. Raises SchemaError
    where the two are not states of one object, or there is nothing to lock by.
    """
    was, now = before.get("metadata") or {}, after.get("metadata") or {}
    head = f"{before.get('kind')} {was.get('name')}"
    if not was.get("name"):
        raise SchemaError(f"{before.get('kind')}: metadata.name is missing; read or create the object first")
    for field in _IDENTITY:
        if was.get(field) != now.get(field):
            raise SchemaError(
                f"{head}: metadata.{field} was changed from {was.get(field)!r} to {now.get(field)!r}, "
                "but a patch cannot make one object into another"
            )
    if subresource == "status":
        old, new = {"status": before.get("status") or {}}, {"status": after.get("status") or {}}
    else:
        old, new = _without_server_parts(before), _without_server_parts(after)
    body = merge_difference(old, new)
    if not body:
        return None
    if lock:
        if not was.get("resourceVersion"):
            raise SchemaError(f"{head}: there is no resourceVersion to lock by; read the object first")
        held = {key: was[key] for key in ("uid", "resourceVersion") if was.get(key)}
        body["metadata"] = {**(body.get("metadata") or {}), **held}
    return body


def graft(base: Any, before: Any, after: Any) -> Any:
    """`base`, changed in the way that `before` became `after`.

    `before` is `base` as a type shows it, which may lack fields. Fields that the type does not show stay,
    also those inside the items of a list: items are paired by what names them, else by their place.
    """
    if before == after and type(before) is type(after):
        return base
    if isinstance(base, dict) and isinstance(before, dict) and isinstance(after, dict):
        kept = {key: value for key, value in base.items() if key in after or key not in before}
        changed = {
            key: graft(base.get(key), before.get(key), value)
            for key, value in after.items()
            # A default that only the type knows of is no change.
            if key not in before or before[key] != value or type(before[key]) is not type(value)
        }
        return {**kept, **changed}
    if isinstance(base, list) and isinstance(before, list) and isinstance(after, list):
        return _graft_list(base, before, after)
    return after


def _graft_list(base: list[Any], before: list[Any], after: list[Any]) -> list[Any]:
    if len(base) != len(before):
        return after
    key = _key_of([*before, *after])
    if key is None or not (_is_distinct(before, key) and _is_distinct(after, key)):
        if len(before) != len(after):
            return after
        return [graft(*each) for each in zip(base, before, after, strict=True)]
    places = {each[key]: index for index, each in enumerate(before)}
    return [
        graft(base[places[each[key]]], before[places[each[key]]], each) if each[key] in places else each
        for each in after
    ]


def _key_of(items: list[Any]) -> str | None:
    """The field that names the items of a list, if one does."""
    if not all(isinstance(each, dict) for each in items):
        return None
    return next((key for key in _KEYS if all(isinstance(each.get(key), str | int) for each in items)), None)


def _is_distinct(items: list[Any], key: str) -> bool:
    return len({each[key] for each in items}) == len(items)


def _without_server_parts(wire: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in (wire.get("metadata") or {}).items() if key not in _NOT_OURS}
    return {**{key: value for key, value in wire.items() if key != "status"}, "metadata": metadata}
