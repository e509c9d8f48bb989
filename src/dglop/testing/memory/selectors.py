# SPDX-License-Identifier: Apache-2.0
"""Label and field selectors of a request, and of objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dglop.runtime.api.selector import label_test, selector_text
from dglop.testing.memory.refusal import bad_request

if TYPE_CHECKING:
    from dglop.testing.memory.resources import ResourceInfo

__all__ = ("Selector", "read_selectors", "selector_text", "selects")

Selector = Callable[[dict[str, Any]], bool]
"""Whether an object is meant."""

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
    try:
        test = label_test(labels)
    except ValueError as problem:
        raise bad_request(f"unable to parse requirement: {problem}") from problem
    wanted = [_by_field(info, each) for each in fields.split(",")] if fields.strip() else []
    if not labels.strip() and not wanted:
        return None

    def matches(wire: dict[str, Any]) -> bool:
        return test(wire["metadata"].get("labels") or {}) and all(each(wire) for each in wanted)

    return matches


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
