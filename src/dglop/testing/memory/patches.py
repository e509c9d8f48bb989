# SPDX-License-Identifier: Apache-2.0
"""Merge, JSON and strategic merge patches on plain values; nothing given is changed."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from dglop.testing.memory.refusal import RefusalError, bad_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.testing.memory.resources import Node
    from dglop.testing.memory.schema import Schemas

__all__ = ("json_patched", "merged", "strategic")

_DIRECTIVE = "$patch"
_DELETE_FROM = "$deleteFromPrimitiveList/"
_ORDER = "$setElementOrder/"
_RETAIN = "$retainKeys"


def merged(target: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def json_patched(target: Any, operations: Any) -> Any:
    """RFC 6902. Raises RefusalError: 422 where it does not apply, 400 where it is none."""
    if not isinstance(operations, list):
        raise bad_request("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
    document = copy.deepcopy(target)
    for operation in operations:
        try:
            document = _operate(document, operation)
        except (LookupError, TypeError, ValueError) as problem:
            raise _unprocessable() from problem
    return document


def _unprocessable() -> RefusalError:
    return RefusalError(422, "Invalid", "the server rejected our request due to an error in our request")


def _operate(document: Any, operation: dict[str, Any]) -> Any:
    op, path = operation["op"], _pointer(operation["path"])
    if op == "test":
        if _at(document, path) != operation.get("value"):
            raise ValueError("the test failed")
        return document
    if op == "remove":
        _remove(document, path)
        return document
    if op in ("add", "replace"):
        value = copy.deepcopy(operation["value"])
    elif op in ("copy", "move"):
        source = _pointer(operation["from"])
        value = copy.deepcopy(_at(document, source))
        if op == "move":
            _remove(document, source)
    else:
        raise ValueError(f"unknown operation {op}")
    if not path:
        return value
    # As with the real server's library, what is replaced in a map need not be there.
    _put(_at(document, path[:-1]), path[-1], value, is_insertion=op != "replace")
    return document


def _pointer(text: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _at(value: Any, path: list[str]) -> Any:
    for part in path:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def _put(holder: Any, part: str, value: Any, *, is_insertion: bool) -> None:
    if not isinstance(holder, list):
        holder[part] = value
    elif part == "-":
        holder.append(value)
    elif is_insertion:
        if int(part) > len(holder):
            raise IndexError(part)
        holder.insert(int(part), value)
    else:
        holder[int(part)] = value


def _remove(document: Any, path: list[str]) -> None:
    holder = _at(document, path[:-1])
    del holder[int(path[-1]) if isinstance(holder, list) else path[-1]]


def strategic(schemas: Schemas, node: Node, target: Any, patch: Any) -> Any:
    """A strategic merge patch of a built-in object."""
    if not isinstance(patch, dict) or not isinstance(target, dict):
        return _plain(patch)
    directive = patch.get(_DIRECTIVE)
    if directive == "replace":
        return _plain({name: value for name, value in patch.items() if name != _DIRECTIVE})
    if directive == "delete":
        return {}
    result = dict(target)
    if _RETAIN in patch:
        result = {name: value for name, value in result.items() if name in patch[_RETAIN]}
    for name, value in patch.items():
        if name.startswith(_DELETE_FROM):
            listed = name.removeprefix(_DELETE_FROM)
            result[listed] = [each for each in result.get(listed) or () if each not in value]
    for name, value in patch.items():
        if name.startswith("$"):
            continue
        if value is None:
            result.pop(name, None)
            continue
        child = schemas.child(node, name) or {}
        old = result.get(name)
        if isinstance(value, list) and "merge" in child.get("x-kubernetes-patch-strategy", ""):
            result[name] = _merged_list(schemas, child, old or [], value)
        else:
            result[name] = strategic(schemas, child, old, value)
    for name, order in patch.items():
        if name.startswith(_ORDER):
            listed = name.removeprefix(_ORDER)
            _reorder(schemas, node, (target.get(listed) or [], result), listed, order)
    return result


def _plain(value: Any) -> Any:
    """*value* without directives and nulls, as it is where there was nothing before."""
    if isinstance(value, dict):
        return {
            name: _plain(each)
            for name, each in value.items()
            if each is not None and not name.startswith("$")
        }
    if isinstance(value, list):
        return [_plain(each) for each in value if not (isinstance(each, dict) and _DIRECTIVE in each)]
    return value


def _merged_list(schemas: Schemas, node: Node, old: list[Any], new: list[Any]) -> list[Any]:
    key = node.get("x-kubernetes-patch-merge-key")
    if key is None:
        rest = [each for each in old if each not in new]
        return _interleaved(rest, list(dict.fromkeys(new)), old, lambda each: each)
    if any(isinstance(each, dict) and each.get(_DIRECTIVE) == "replace" for each in new):
        return _plain([each for each in new if each.get(_DIRECTIVE) != "replace"])  # type: ignore[no-any-return]
    items, result = schemas.items(node), list(old)
    for each in new:
        at = next((i for i, known in enumerate(result) if known.get(key) == each.get(key)), None)
        if each.get(_DIRECTIVE) == "delete":
            if at is not None:
                del result[at]
        elif at is None:
            result.append(_plain(each))
        else:
            result[at] = strategic(schemas, items, result[at], each)
    order = [each.get(key) for each in new]
    given = sorted(
        (each for each in result if each.get(key) in order), key=lambda each: order.index(each.get(key))
    )
    return _interleaved(
        [each for each in result if each not in given], given, old, lambda each: each.get(key)
    )


def _interleaved(rest: list[Any], given: list[Any], old: list[Any], name: Callable[[Any], Any]) -> list[Any]:
    """*given* with *rest* put in: before the first one that stood behind it in *old*."""
    place = {name(each): index for index, each in enumerate(old)}
    result, waiting = [], list(rest)
    for each in given:
        at = place.get(name(each), -1)
        while waiting and place.get(name(waiting[0]), -1) < at:
            result.append(waiting.pop(0))
        result.append(each)
    return [*result, *waiting]


def _reorder(
    schemas: Schemas, node: Node, lists: tuple[list[Any], dict[str, Any]], name: str, order: list[Any]
) -> None:
    """Order a member of a result in place; *lists* is what was there before, and the result."""
    old, result = lists
    key = (schemas.child(node, name) or {}).get("x-kubernetes-patch-merge-key")

    def named(each: Any) -> Any:
        return each.get(key) if isinstance(each, dict) else each

    wanted = [named(each) for each in order]
    given = sorted(
        (each for each in result.get(name) or () if named(each) in wanted),
        key=lambda each: wanted.index(named(each)),
    )
    if name in result:
        rest = [each for each in result[name] if named(each) not in wanted]
        result[name] = _interleaved(rest, given, old, named)
