# SPDX-License-Identifier: Apache-2.0
"""Parts of compiled CEL expressions: functions of the variables that raise CelError."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dglop.testing.memory.celvalues import OPERATORS, TYPES, CelError, Maybe, equal, kind_of, member, present

__all__ = (
    "Names",
    "Node",
    "absorbing",
    "binary",
    "call",
    "comprehension",
    "field",
    "maybe_field",
    "operation",
    "truth",
    "variable",
)

Names = Mapping[str, Any]
Node = Callable[[Names], Any]


def truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise CelError(f"no such overload: {kind_of(value)} where a bool was expected")
    return value


def variable(names: Names, name: str) -> Any:
    if name not in names and name in TYPES:
        return name
    if name not in names:
        raise CelError(f"undeclared reference to '{name}'")
    return names[name]


def absorbing(left: Node, right: Node, *, decides: bool) -> Node:
    """|| and &&: either side alone may decide, even if the other one fails."""

    def evaluate(names: Names) -> bool:
        try:
            if truth(left(names)) is decides:
                return decides
        except CelError:
            if truth(right(names)) is decides:
                return decides
            raise
        return truth(right(names))

    return evaluate


def operation(sign: str, left: Node, right: Node) -> Node:
    return binary(OPERATORS[sign], left, right)


def binary(work: Callable[[Any, Any], Any], left: Node, right: Node) -> Node:
    return lambda names: work(left(names), right(names))


def call(function: Callable[..., Any], arguments: list[Node]) -> Node:
    def evaluate(names: Names) -> Any:
        values = [each(names) for each in arguments]
        try:
            return function(*values)
        except (AttributeError, TypeError) as problem:
            kinds = ", ".join(map(kind_of, values))
            raise CelError(f"found no matching overload applied to ({kinds})") from problem

    return evaluate


def field(node: Node, name: str) -> Node:
    return lambda names: member(node(names), name)


def maybe_field(node: Node, name: str) -> Node:
    def evaluate(names: Names) -> Maybe:
        value = node(names)
        if isinstance(value, Maybe):
            value = value.value if value.is_there else {}
        return Maybe(value[name], is_there=True) if present(value, name) else Maybe()

    return evaluate


def comprehension(node: Node, macro: str, variables: list[str], parts: list[Node]) -> Node:
    def scopes(names: Names) -> list[tuple[Any, Names]]:
        value = node(names)
        pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
        if len(variables) == 2:
            return [(key, {**names, variables[0]: key, variables[1]: each}) for key, each in pairs]
        chosen = [key for key, _ in pairs] if isinstance(value, dict) else [each for _, each in pairs]
        return [(each, {**names, variables[0]: each}) for each in chosen]

    def evaluate(names: Names) -> Any:
        found = scopes(names)
        if macro == "map":
            kept = [scope for _, scope in found if len(parts) == 1 or truth(parts[0](scope))]
            return [parts[-1](scope) for scope in kept]
        if macro == "filter":
            return [each for each, scope in found if truth(parts[0](scope))]
        if macro in {"exists_one", "existsOne"}:
            return sum(truth(parts[0](scope)) for _, scope in found) == 1
        return _decided([scope for _, scope in found], parts[0], decides=macro == "exists")

    return evaluate


def _decided(scopes: list[Names], test: Node, *, decides: bool) -> bool:
    """`all` and `exists`: one item may decide, even if others fail."""
    failure: CelError | None = None
    for scope in scopes:
        try:
            if equal(truth(test(scope)), decides):
                return decides
        except CelError as problem:
            failure = problem
    if failure is not None:
        raise failure
    return not decides
