# SPDX-License-Identifier: Apache-2.0
"""Label and field selectors: read once, then asked of each object."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dglop.testing.memory.refusal import bad_request

if TYPE_CHECKING:
    from dglop.testing.memory.resources import ResourceInfo

__all__ = ("Selector", "read_selectors", "selector_text", "selects")

Selector = Callable[[dict[str, Any]], bool]
"""Whether an object is meant."""

_Test = Callable[[dict[str, str]], bool]
_NAME = r"[A-Za-z0-9./_-]+"
_SET = re.compile(rf"^({_NAME})\s+(in|notin)\s*\(([^()]*)\)$")
_EXISTS = re.compile(rf"^(!?)\s*({_NAME})$")
_COMPARE = re.compile(rf"^({_NAME})\s*(==|=|!=|>|<)\s*([A-Za-z0-9._-]*)$")

_FIELDS: dict[str, tuple[str, ...]] = {
    "pods": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "events": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "reason",
        "type",
    ),
    "nodes": ("spec.unschedulable",),
    "secrets": ("type",),
    "services": ("spec.clusterIP", "spec.type"),
    "namespaces": ("status.phase",),
    "replicasets.apps": ("status.replicas",),
    "jobs.batch": ("status.successful",),
}


def read_selectors(info: ResourceInfo, labels: str, fields: str) -> Selector | None:
    """One test for both; None where everything is meant. Raises RefusalError (400)."""
    tests = [_by_labels(each) for each in _split(labels)] if labels.strip() else []
    wanted = [_by_field(info, each) for each in fields.split(",")] if fields.strip() else []
    if not tests and not wanted:
        return None

    def matches(wire: dict[str, Any]) -> bool:
        found = wire["metadata"].get("labels") or {}
        return all(test(found) for test in tests) and all(test(wire) for test in wanted)

    return matches


def selector_text(selector: dict[str, Any]) -> str:
    """A LabelSelector as query strings write it."""
    parts = [f"{name}={value}" for name, value in (selector.get("matchLabels") or {}).items()]
    for each in selector.get("matchExpressions") or ():
        name, operator, values = each["key"], each["operator"], ",".join(each.get("values") or ())
        forms = {"Exists": name, "DoesNotExist": f"!{name}"}
        parts.append(forms.get(operator, f"{name} {operator.lower()} ({values})"))
    return ",".join(sorted(parts))


def selects(selector: dict[str, Any] | None, labels: dict[str, str]) -> bool:
    """Whether a LabelSelector of an object means *labels*; an empty one means all, none at all nothing."""
    if selector is None:
        return False
    if any(labels.get(name) != value for name, value in (selector.get("matchLabels") or {}).items()):
        return False
    for each in selector.get("matchExpressions") or ():
        found, values = labels.get(each["key"]), each.get("values") or ()
        verdicts = {
            "In": found in values,
            "NotIn": found not in values,
            "Exists": found is not None,
            "DoesNotExist": found is None,
        }
        if not verdicts[each["operator"]]:
            return False
    return True


def _split(text: str) -> Iterator[str]:
    """The requirements: commas inside parentheses separate values only."""
    yield from (part.strip() for part in re.split(r",(?![^()]*\))", text))


def _by_labels(text: str) -> _Test:
    if found := _SET.match(text):
        name, word, values = found.groups()
        listed = {each.strip() for each in values.split(",")}
        if word == "in":
            return lambda labels: name in labels and labels[name] in listed
        return lambda labels: labels.get(name) not in listed
    if found := _COMPARE.match(text):
        return _comparison(*found.groups())
    if found := _EXISTS.match(text):
        absent, name = found.groups()
        return lambda labels: (name in labels) is not bool(absent)
    raise bad_request(f"unable to parse requirement: found '{text}', which is no label selector")


def _comparison(name: str, operator: str, value: str) -> _Test:
    if operator in ("=", "=="):
        return lambda labels: labels.get(name) == value
    if operator == "!=":
        return lambda labels: labels.get(name) != value
    if not value.lstrip("-").isdecimal():
        raise bad_request(
            f"unable to parse requirement: values[0][{name}]: for 'Gt', 'Lt' operators, the value must be "
            "an integer"
        )
    limit = int(value)

    def compares(labels: dict[str, str]) -> bool:
        found = labels.get(name, "")
        if not found.lstrip("-").isdecimal():
            return False
        return int(found) > limit if operator == ">" else int(found) < limit

    return compares


def _by_field(info: ResourceInfo, text: str) -> Selector:
    name, operator, value = _term(text)
    known = ("metadata.name", "metadata.namespace")
    if name not in (*known, *info.selectable, *_FIELDS.get(info.storage, ())):
        if info.is_custom or info.storage in _FIELDS:
            raise bad_request(f"field label not supported: {name}")
        raise bad_request(
            f'"{name}" is not a known field selector: only "metadata.name", "metadata.namespace"'
        )
    path = name.split(".")

    def matches(wire: dict[str, Any]) -> bool:
        return (_text_at(wire, path) == value) is (operator != "!=")

    return matches


def _term(text: str) -> tuple[str, str, str]:
    for operator in ("!=", "==", "="):
        name, found, value = text.partition(operator)
        if found:
            return name.strip(), operator, value.strip()
    raise bad_request(f"invalid selector: '{text}'; can't understand '{text}'")


def _text_at(wire: Any, path: list[str]) -> str:
    for name in path:
        wire = wire.get(name) if isinstance(wire, dict) else None
    if wire is None:
        return ""
    return str(wire).lower() if isinstance(wire, bool) else str(wire)
