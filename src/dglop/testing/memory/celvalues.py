# SPDX-License-Identifier: Apache-2.0
"""The values of CEL, as JSON has them, and its functions: what rules of CRDs commonly use."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("FUNCTIONS", "METHODS", "OPERATORS", "TYPES", "CelError", "Maybe", "equal", "member", "present")


_KINDS = {bool: "bool", int: "int", float: "double", str: "string", list: "list", dict: "map"}
TYPES = frozenset(_KINDS.values())


class CelError(Exception):
    """An expression has no value for what it is asked about."""


@dataclass(frozen=True, slots=True)
class Maybe:
    """CEL's optional value."""

    value: Any = None
    is_there: bool = False


def present(value: Any, name: str) -> bool:
    """Whether an object has a field; one that is null counts as absent."""
    if isinstance(value, Maybe):
        return value.is_there and present(value.value, name)
    if not isinstance(value, dict):
        raise CelError(f"no such overload: field {name} of {kind_of(value)}")
    return value.get(name) is not None


def member(value: Any, name: Any) -> Any:
    """A field of an object or an item of a list or map. Raises CelError."""
    if isinstance(value, list) and isinstance(name, int) and not isinstance(name, bool):
        if 0 <= name < len(value):
            return value[name]
        raise CelError(f"index out of bounds: {name}")
    if not isinstance(value, dict):
        raise CelError(f"no such overload: member of {kind_of(value)}")
    if value.get(name) is None:
        raise CelError(f"no such key: {name}")
    return value[name]


def kind_of(value: Any) -> str:
    return _KINDS.get(type(value), "null" if value is None else "optional")


def equal(left: Any, right: Any) -> bool:
    """CEL's ==: a number is no bool, and an int may equal a double."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    return bool(left == right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compared(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(left: Any, right: Any) -> bool:
        fits = (_is_number(left) and _is_number(right)) or (
            type(left) is type(right) and isinstance(left, str | bool)
        )
        if not fits:
            raise CelError(f"no such overload: {kind_of(left)} against {kind_of(right)}")
        return test(left, right)

    return compare


def _arithmetic(work: Callable[[Any, Any], Any], *, joins: bool = False) -> Callable[[Any, Any], Any]:
    def operate(left: Any, right: Any) -> Any:
        if kind_of(left) != kind_of(right) or not (
            _is_number(left) or (joins and isinstance(left, str | list))
        ):
            raise CelError(f"no such overload: {kind_of(left)} with {kind_of(right)}")
        try:
            return work(left, right)
        except ZeroDivisionError as problem:
            raise CelError("division by zero") from problem

    return operate


def _divided(left: Any, right: Any) -> Any:
    if isinstance(left, float):
        return left / right if right else math.copysign(math.inf, left)
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int:
    return left - right * int(_divided(left, right))


def _contained(left: Any, right: Any) -> bool:
    if isinstance(right, dict):
        return left in right
    if isinstance(right, list):
        return any(equal(left, each) for each in right)
    raise CelError(f"no such overload: in {kind_of(right)}")


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": equal,
    "!=": lambda left, right: not equal(left, right),
    "<": _compared(lambda left, right: left < right),
    "<=": _compared(lambda left, right: left <= right),
    ">": _compared(lambda left, right: left > right),
    ">=": _compared(lambda left, right: left >= right),
    "in": _contained,
    "+": _arithmetic(lambda left, right: left + right, joins=True),
    "-": _arithmetic(lambda left, right: left - right),
    "*": _arithmetic(lambda left, right: left * right),
    "/": _arithmetic(_divided),
    "%": _arithmetic(_remainder),
}


def _size(value: Any) -> int:
    if isinstance(value, str | list | dict):
        return len(value)
    raise CelError(f"no such overload: size of {kind_of(value)}")


def _to_int(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError) as problem:
        raise CelError(f"type conversion error from {kind_of(value)} to int") from problem


def _to_double(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as problem:
        raise CelError(f"type conversion error from {kind_of(value)} to double") from problem


def _to_string(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    raise CelError(f"type conversion error from {kind_of(value)} to string")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "size": _size,
    "int": _to_int,
    "double": _to_double,
    "string": _to_string,
    "dyn": lambda value: value,
    "type": kind_of,
}


def _on_text(work: Callable[..., Any]) -> Callable[..., Any]:
    def call(text: Any, *arguments: Any) -> Any:
        if not isinstance(text, str):
            raise CelError(f"no such overload: a string's function on {kind_of(text)}")
        try:
            return work(text, *arguments)
        except (TypeError, IndexError, re.error) as problem:
            raise CelError(f"no such overload: {problem}") from problem

    return call


def _of_list(work: Callable[[list[Any]], Any]) -> Callable[[Any], Any]:
    def call(value: Any) -> Any:
        if not isinstance(value, list):
            raise CelError(f"no such overload: a list's function on {kind_of(value)}")
        try:
            return work(value)
        except (TypeError, ValueError) as problem:
            raise CelError(f"no such overload: {problem}") from problem

    return call


def _unwrapped(maybe: Any) -> Any:
    if not maybe.is_there:
        raise CelError("optional.none() dereference")
    return maybe.value


METHODS: dict[str, Callable[..., Any]] = {
    "size": _size,
    "startsWith": _on_text(lambda text, start: text.startswith(start)),
    "endsWith": _on_text(lambda text, end: text.endswith(end)),
    "contains": _on_text(lambda text, part: part in text),
    "matches": _on_text(lambda text, pattern: re.search(pattern, text) is not None),
    "lowerAscii": _on_text(lambda text: text.lower()),
    "upperAscii": _on_text(lambda text: text.upper()),
    "trim": _on_text(lambda text: text.strip()),
    "replace": _on_text(lambda text, old, new, *count: text.replace(old, new, *count)),
    "split": _on_text(lambda text, by: text.split(by) if by else list(text)),
    "indexOf": _on_text(lambda text, part: text.find(part)),
    "lastIndexOf": _on_text(lambda text, part: text.rfind(part)),
    "substring": _on_text(lambda text, start, *end: text[start : end[0] if end else None]),
    "join": lambda parts, by="": by.join(parts),
    "isSorted": _of_list(lambda items: items == sorted(items)),
    "sum": _of_list(sum),
    "min": _of_list(min),
    "max": _of_list(max),
    "hasValue": lambda maybe: maybe.is_there,
    "value": _unwrapped,
    "orValue": lambda maybe, other: maybe.value if maybe.is_there else other,
}
