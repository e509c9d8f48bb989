# SPDX-License-Identifier: Apache-2.0
"""Unions of JSON schemas, as far as a CRD can say them: all text, all whole numbers, or both."""

from __future__ import annotations

from typing import Any

from dglop.errors import SchemaError

__all__ = ("one_of",)

Schema = dict[str, Any]

_INT_OR_STRING = "x-kubernetes-int-or-string"
_BESIDE = frozenset({"title", "description", "default", "examples"})
_OF_ONE_TYPE = frozenset({"type", "format", "enum"})


def one_of(options: list[Schema], rest: Schema, path: str) -> Schema:
    """What holds for each of the options, which refer to nothing; `rest` is said beside them.

    Raises SchemaError for what a CRD cannot say.
    """
    if rest.get(_INT_OR_STRING):
        return {_INT_OR_STRING: True}
    types = {_type_of(each) for each in options}
    if len(types) == 1 and types <= {"integer", "string"}:
        return {"type": types.pop(), **_common(options)}
    if types == {"integer", "string"}:
        if any("enum" in each or "const" in each for each in options):
            raise SchemaError(f"{path}: a CRD has no union of int and str in which values are named; use str")
        return {_INT_OR_STRING: True, **_of_each_type(options)}
    raise SchemaError(f"{path}: a CRD has no unions but of int and str; use separate fields")


def _common(options: list[Schema]) -> Schema:
    """The values where all name theirs, and else what all options say alike: more would refuse some."""
    named = [_values(each) for each in options]
    if all(each is not None for each in named):
        return {"enum": list(dict.fromkeys(value for each in named for value in each or ()))}
    first, *others = options
    return {
        key: value
        for key, value in first.items()
        if key not in _BESIDE and all(key in each and each[key] == value for each in others)
    }


def _of_each_type(options: list[Schema]) -> Schema:
    """Limits of numbers hold for numbers alone and those of text for text, so both can stand together."""
    found: Schema = {}
    for kind in ("integer", "string"):
        of_kind = [each for each in options if _type_of(each) == kind]
        found |= {
            key: value for key, value in _common(of_kind).items() if key not in ("type", "format", "enum")
        }
    return found


def _values(schema: Schema) -> list[Any] | None:
    found: list[Any] | None = [schema["const"]] if "const" in schema else schema.get("enum")
    return found


def _type_of(schema: Schema) -> str:
    values = _values(schema)
    if "type" in schema or not values:
        return str(schema.get("type"))
    types = {type(each) for each in values}
    return {frozenset({str}): "string", frozenset({int}): "integer"}.get(frozenset(types), "several")
