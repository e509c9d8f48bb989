# SPDX-License-Identifier: Apache-2.0
"""Checks custom objects against their schema, in the real server's words; rules are asked elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.testing.memory.formats import is_of_format
from dglop.testing.memory.patterns import go_pattern
from dglop.testing.memory.refusal import Problem, shown
from dglop.testing.memory.schema import EMBEDDED, INT_OR_STRING, NOTHING, join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.testing.memory.resources import Node
    from dglop.testing.memory.schema import Schemas

__all__ = ("validate",)

_LIMITS = {"int32": 2**31 - 1}


def validate(
    schemas: Schemas, node: Node, value: Any, old: Any = NOTHING, *, skip: frozenset[str] = frozenset()
) -> list[Problem]:
    """
    All that is wrong with *value*; members in *skip* of the top are left alone.

    What *old* had already may stay, whatever its schema says by now.
    """
    rest = {name: each for name, each in value.items() if name not in skip}
    before = old if old is NOTHING else {name: each for name, each in old.items() if name not in skip}
    found = list(_check(schemas, node, rest, "", before))
    # The real server hands out an object's problems by the names' order, unions of checks at the end.
    return [*found, *_list_types(schemas, node, rest, "")]


def _check(schemas: Schemas, node: Node, value: Any, path: str, old: Any) -> Iterator[Problem]:
    if old is not NOTHING and old == value:
        return
    wrong = list(_type(node, value, path))
    if wrong:
        yield from wrong
        return
    yield from _enum(node, value, path)
    if isinstance(value, str):
        yield from _string(node, value, path)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        yield from _number(node, value, path)
    elif isinstance(value, list):
        yield from _list(schemas, node, value, path, old)
    elif isinstance(value, dict):
        yield from _object(schemas, node, value, path, old)


def _type(node: Node, value: Any, path: str) -> Iterator[Problem]:
    if value is None and node.get("nullable"):
        return
    found = _name_of(value)
    if node.get(INT_OR_STRING):
        if found not in ("integer", "string"):
            yield _of_type(path, found, "integer,string")
        return
    wanted = node.get("type")
    if wanted is None or found == wanted or (wanted == "number" and found == "integer"):
        return
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        return
    yield _of_type(path, found, wanted)
    if wanted == "integer" and found == "number":
        text = f'Invalid value: "": Checked value must be of type integer (default format) in {path}'
        yield Problem("FieldValueInvalid", "<nil>", text)


def _of_type(path: str, found: str, wanted: str) -> Problem:
    # A status alone is checked from its own root, and the message shows that.
    where = path.removeprefix("status.") if path.startswith("status.") else path
    return Problem.wrong_type(path, found, f'{where} in body must be of type {wanted}: "{found}"')


def _name_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return "number"  # Go has no larger integers, so it reads a float
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names[type(value)]


def _enum(node: Node, value: Any, path: str) -> Iterator[Problem]:
    if "enum" in node and value not in node["enum"]:
        yield Problem.unsupported(path, value, node["enum"])


def _string(node: Node, value: str, path: str) -> Iterator[Problem]:
    if "maxLength" in node and len(value) > node["maxLength"]:
        yield Problem.too_long(path, node["maxLength"])
    if len(value) < node.get("minLength", 0):
        yield Problem.invalid(
            path, value, f"{path} in body should be at least {node['minLength']} chars long"
        )
    elif "pattern" in node and not go_pattern(node["pattern"]).search(value):
        yield Problem.invalid(path, value, f"{path} in body should match '{node['pattern']}'")
    format_ = node.get("format", "")
    if not is_of_format(value, format_):
        yield Problem.wrong_type(path, value, f"{path} in body must be of type {format_}: {shown(value)}")


def _number(node: Node, value: float, path: str) -> Iterator[Problem]:
    most = _LIMITS.get(node.get("format", ""))
    if most is not None and not -most - 1 <= value <= most:
        text = f'Invalid value: "": Checked value must be of type integer with format int32 in {path}'
        yield Problem("FieldValueInvalid", "<nil>", text)
        yield Problem.invalid(f".{path}", value, f"should be less than or equal to {most}")
    low, high = node.get("minimum"), node.get("maximum")
    if low is not None and (value <= low if node.get("exclusiveMinimum") else value < low):
        word = "greater than" if node.get("exclusiveMinimum") else "greater than or equal to"
        yield Problem.invalid(path, value, f"{path} in body should be {word} {low:g}")
    if high is not None and (value >= high if node.get("exclusiveMaximum") else value > high):
        word = "less than" if node.get("exclusiveMaximum") else "less than or equal to"
        yield Problem.invalid(path, value, f"{path} in body should be {word} {high:g}")
    step = node.get("multipleOf")
    if step and value % step:
        yield Problem.invalid(path, value, f"{path} in body should be a multiple of {step:g}")


def _list(schemas: Schemas, node: Node, value: list[Any], path: str, old: Any) -> Iterator[Problem]:
    if "maxItems" in node and len(value) > node["maxItems"]:
        yield Problem.too_many(path, len(value), node["maxItems"])
    if len(value) < node.get("minItems", 0):
        why = f"{path} in body should have at least {node['minItems']} items"
        yield Problem.invalid(path, len(value), why)
    items = schemas.items(node)
    for index, each in enumerate(value):
        yield from _check(schemas, items, each, f"{path}[{index}]", schemas.counterpart(node, each, old))


def _object(schemas: Schemas, node: Node, value: dict[str, Any], path: str, old: Any) -> Iterator[Problem]:
    if "maxProperties" in node and len(value) > node["maxProperties"]:
        yield Problem.too_many(path, len(value), node["maxProperties"])
    if len(value) < node.get("minProperties", 0):
        why = f"{path} in body should have at least {node['minProperties']} properties"
        yield Problem.invalid(path, len(value), why)
    for name in node.get("required", ()):
        if name not in value:
            yield Problem.required(join(path, name))
    for name in ("apiVersion", "kind") if node.get(EMBEDDED) else ():
        if not value.get(name):
            yield Problem.required(join(path, name))
    for name in sorted(value):
        child = schemas.child(node, name)
        if child is not None:
            before = old.get(name, NOTHING) if isinstance(old, dict) else NOTHING
            yield from _check(schemas, child, value[name], join(path, name), before)


def _list_types(schemas: Schemas, node: Node, value: Any, path: str) -> Iterator[Problem]:
    """Items that are there twice in lists that are sets or maps."""
    if isinstance(value, dict):
        for name in sorted(value):
            child = schemas.child(node, name)
            if child is not None:
                yield from _list_types(schemas, child, value[name], join(path, name))
        return
    if not isinstance(value, list):
        return
    keys, seen = schemas.keys(node), []
    for index, each in enumerate(value):
        where = f"{path}[{index}]"
        if keys is not None and not isinstance(each, dict):
            yield Problem.invalid(where, each, "must be an object for an array of list-type map")
            continue
        if keys is not None or schemas.is_set(node):
            key = each if keys is None else schemas.key_of(node, each)
            if key in seen:
                yield Problem.duplicate(where, key)
            seen.append(key)
        yield from _list_types(schemas, schemas.items(node), each, where)
