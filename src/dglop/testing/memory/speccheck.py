# SPDX-License-Identifier: Apache-2.0
"""The most common of what the real server checks of built-in kinds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dglop.testing.memory.checks import LABEL, LABEL_TEXT, QUALIFIED, QUALIFIED_TEXT
from dglop.testing.memory.refusal import Problem
from dglop.testing.memory.rules import unknown_rules
from dglop.testing.memory.schemacheck import unusable_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.testing.memory.resources import ResourceInfo

__all__ = ("spec_problems",)

_FIXED = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_EVENT_WORD, _EVENT_NOTE = 128, 1024
_CHANGEABLE = frozenset({"activeDeadlineSeconds", "tolerations", "schedulingGates", "nodeName"})


def spec_problems(info: ResourceInfo, wire: dict[str, Any], old: dict[str, Any] | None) -> Iterator[Problem]:
    """What is wrong with the built-in kinds that operators make."""
    if info.storage == "pods":
        yield from _pod_spec_problems(wire.get("spec") or {}, "spec")
        if old is not None and _fixed_part(old) != _fixed_part(wire):
            yield Problem.forbidden("spec", _FIXED)
    template = ((wire.get("spec") or {}).get("template") or {}).get("spec")
    if info.group in ("apps", "batch") and isinstance(template, dict):
        yield from _pod_spec_problems(template, "spec.template.spec")
    if info.storage == "configmaps" and old is not None and old.get("immutable"):
        for field in ("data", "binaryData"):
            if wire.get(field) != old.get(field):
                yield Problem.forbidden(field, "field is immutable when `immutable` is set")
    if info.storage == "services" and not (wire.get("spec") or {}).get("ports"):
        spec = wire.get("spec") or {}
        if spec.get("clusterIP") != "None" and spec.get("type") != "ExternalName":
            yield Problem.required("spec.ports")
    if info.storage == "events" and old is None and wire.get("eventTime"):
        yield from _event_problems(wire)
    if info.storage == "customresourcedefinitions.apiextensions.k8s.io":
        spec = wire.get("spec") or {}
        wanted = f"{(spec.get('names') or {}).get('plural')}.{spec.get('group')}"
        if wire["metadata"].get("name") != wanted:
            why = 'must be spec.names.plural+"."+spec.group'
            yield Problem.invalid("metadata.name", wire["metadata"].get("name"), why)
        for index, version in enumerate(spec.get("versions") or ()):
            schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
            where = f"spec.versions[{index}].schema.openAPIV3Schema"
            yield from unknown_rules(schema, where)
            yield from unusable_parts(schema, where)


def _event_problems(wire: dict[str, Any]) -> Iterator[Problem]:
    """Of events in the form of events.k8s.io, whichever group they are written by."""
    if wire.get("type") not in ("Normal", "Warning"):
        yield Problem.invalid("type", wire.get("type", ""), "has invalid value")
    controller = wire.get("reportingController") or wire.get("reportingComponent") or ""
    if not re.fullmatch(QUALIFIED, controller.rpartition("/")[2]):
        yield Problem.invalid("reportingController", controller, QUALIFIED_TEXT)
    for field in ("reportingInstance", "action", "reason"):
        size = len((wire.get(field) or "").encode())
        if not size:
            yield Problem.required(field)
        elif size > _EVENT_WORD:
            yield Problem.invalid(field, "", f"can have at most {_EVENT_WORD} characters")
    if len((wire.get("note") or wire.get("message") or "").encode()) > _EVENT_NOTE:
        yield Problem.invalid("message", "", f"can have at most {_EVENT_NOTE} characters")


def _fixed_part(pod: dict[str, Any]) -> dict[str, Any]:
    """What of a pod's spec stays as it was made."""
    spec = {name: value for name, value in (pod.get("spec") or {}).items() if name not in _CHANGEABLE}
    for where in ("containers", "initContainers"):
        if where in spec:
            spec[where] = [{**each, "image": ""} for each in spec[where]]
    return spec


def _pod_spec_problems(spec: dict[str, Any], path: str) -> Iterator[Problem]:
    if not spec.get("containers"):
        yield Problem.required(f"{path}.containers")
    for where in ("initContainers", "containers"):
        names: list[str] = []
        for index, container in enumerate(spec.get(where) or ()):
            for field in ("name", "image"):
                if not container.get(field):
                    yield Problem.required(f"{path}.{where}[{index}].{field}")
            if container.get("name") and not re.fullmatch(LABEL, container["name"]):
                yield Problem.invalid(f"{path}.{where}[{index}].name", container["name"], LABEL_TEXT)
            if container.get("name") in names:
                yield Problem.duplicate(f"{path}.{where}[{index}].name", container["name"])
            names.append(container.get("name", ""))
    policy = spec.get("restartPolicy", "Always")
    if policy not in ("Always", "OnFailure", "Never"):
        yield Problem.unsupported(f"{path}.restartPolicy", policy, ("Always", "OnFailure", "Never"))
