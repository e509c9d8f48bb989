# SPDX-License-Identifier: Apache-2.0
"""x-kubernetes-validations: the rules of a CRD's schema, asked of an object and what it was before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dglop.testing.memory.cel import CelSyntaxError, compile_cel
from dglop.testing.memory.celvalues import CelError, Maybe
from dglop.testing.memory.refusal import Problem
from dglop.testing.memory.schema import NOTHING, join

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dglop.testing.memory.resources import Node
    from dglop.testing.memory.schema import Schemas

__all__ = ("has_rules", "rule_problems", "unknown_rules")

RULES = "x-kubernetes-validations"
_OLD = re.compile(r"\boldSelf\b")


def rule_problems(
    schemas: Schemas, node: Node, wire: dict[str, Any], old: Any = NOTHING
) -> Iterator[tuple[Problem, bool]]:
    """The rules that *wire* breaks, each with whether it may: what *old* had before may stay."""
    before = old if old is NOTHING else _root(old)
    yield from _walk(schemas, node, _root(wire), before, "")


def _root(wire: dict[str, Any]) -> dict[str, Any]:
    """The whole object as rules see it: of its metadata the names alone."""
    metadata = {name: value for name, value in wire["metadata"].items() if name in {"name", "generateName"}}
    return {**wire, "metadata": metadata}


def _walk(schemas: Schemas, node: Node, value: Any, old: Any, path: str) -> Iterator[tuple[Problem, bool]]:
    if value is None:
        return
    for rule in node.get(RULES, ()):
        may_stay = not _OLD.search(rule["rule"]) and old is not NOTHING and old == value
        for problem in _broken(rule, node, value, old, path):
            yield problem, may_stay
    if isinstance(value, dict):
        for name, each in value.items():
            child = schemas.child(node, name)
            if child is not None:
                before = old.get(name, NOTHING) if isinstance(old, dict) else NOTHING
                where = join(path, name) if name in node.get("properties", {}) else f"{path}[{name}]"
                yield from _walk(schemas, child, each, before, where)
    elif isinstance(value, list):
        items = schemas.items(node)
        for index, each in enumerate(value):
            before = schemas.counterpart(node, each, old)
            yield from _walk(schemas, items, each, before, f"{path}[{index}]")


def _broken(rule: Mapping[str, Any], node: Node, value: Any, old: Any, path: str) -> Iterator[Problem]:
    names = {"self": value}
    if _OLD.search(rule["rule"]):
        is_there = old is not NOTHING and old is not None
        if rule.get("optionalOldSelf"):
            names["oldSelf"] = Maybe(old, is_there=True) if is_there else Maybe()
        elif not is_there:
            return  # a rule about a change, and this is none
        else:
            names["oldSelf"] = old
    try:
        if compile_cel(rule["rule"])(names) is True:
            return
    except CelError as problem:
        why = f"{problem} evaluating rule: {(rule.get('message') or rule['rule']).strip()}"
        yield Problem.invalid(path or "<nil>", node.get("type", ""), why)
        return
    yield _problem(rule, value, f"{path}{rule.get('fieldPath', '')}".lstrip("."), _message(rule, names))


def _message(rule: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    expression = rule.get("messageExpression")
    if expression:
        try:
            text = compile_cel(expression)(names)
        except CelError:
            text = ""
        if isinstance(text, str) and text.strip() and "\n" not in text:
            return text
    return rule.get("message") or f"failed rule: {rule['rule'].strip()}"


def _problem(rule: Mapping[str, Any], value: Any, path: str, message: str) -> Problem:
    where = path or "<nil>"
    match rule.get("reason"):
        case "FieldValueForbidden":
            return Problem.forbidden(where, message)
        case "FieldValueRequired":
            return Problem.required(where, message)
        case "FieldValueDuplicate":
            return Problem.duplicate(where, value)
    if isinstance(value, dict | list):
        return Problem("FieldValueInvalid", where, f"Invalid value: {message}")
    return Problem.invalid(where, value, message)


def has_rules(node: Any) -> bool:
    """Whether a schema states rules anywhere."""
    if isinstance(node, list):
        return any(map(has_rules, node))
    return isinstance(node, dict) and (RULES in node or any(map(has_rules, node.values())))


def unknown_rules(node: Any, path: str) -> Iterator[Problem]:
    """The rules that cannot be evaluated here, in a schema as a CRD states it."""
    if isinstance(node, list):
        for index, each in enumerate(node):
            yield from unknown_rules(each, f"{path}[{index}]")
    if not isinstance(node, dict):
        return
    for index, rule in enumerate(node.get(RULES) or ()):
        for field in ("rule", "messageExpression"):
            try:
                if rule.get(field):
                    compile_cel(rule[field])
            except CelSyntaxError as problem:
                why = (
                    f"it cannot be evaluated in memory ({problem}): ask a real API server, as envtest starts"
                )
                yield Problem.invalid(f"{path}.{RULES}[{index}].{field}", rule[field], why)
    for name in ("properties", "additionalProperties", "items"):
        below = node.get(name)
        if name == "properties" and isinstance(below, dict):
            for key, each in below.items():
                yield from unknown_rules(each, f"{path}.properties[{key}]")
        elif isinstance(below, dict):
            yield from unknown_rules(below, f"{path}.{name}")
