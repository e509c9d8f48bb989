# SPDX-License-Identifier: Apache-2.0
"""The form of pod templates, which the CRDs keep as they are: what must be an object, and what a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dglop.runtime.api.rawpod import RawPod

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ("OWN_VOLUME_PREFIX", "own_name_problems", "shape_problems", "template_path", "template_problems")

OWN_VOLUME_PREFIX: Final = "dglop-"
"""What the names of the volumes that kinds add begin with."""


def template_problems(template: dict[str, Any], where: str, *, main: str = "") -> list[str]:
    """What the base finds wrong with a template: its form, or that it has no container named *main*."""
    shapes = list(shape_problems(template, where))
    if shapes or not main:
        return shapes
    names = [each.name for each in RawPod(template).containers]
    if main in names:
        return []
    there = ", ".join(names) or "none"
    return [f"{where}.spec.containers must have one named {main}, which decides; there are: {there}"]


def template_path(spec: Any, role: str) -> str | None:
    """Where the template of a replica type is in a job's spec; None where the kind itself made it."""
    for field, info in type(spec).model_fields.items():
        value, name = getattr(spec, field), info.alias or field
        if isinstance(value, Mapping) and hasattr(value.get(role), "template"):
            return f"{name}.{role}.template"
        if field == role and hasattr(value, "template"):
            return f"{name}.template"
    return None


def shape_problems(template: dict[str, Any], where: str) -> Iterator[str]:
    """The mistakes in the form of a template, with the path of each; without any, a RawPod can read it."""
    spec = template.get("spec")
    if not isinstance(spec, dict):
        yield f"{where}.spec must be an object with containers"
        return
    metadata = template.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        yield f"{where}.metadata must be an object"
        return
    for key in ("labels", "annotations"):
        if not isinstance((metadata or {}).get(key) or {}, dict):
            yield f"{where}.metadata.{key} must be an object"
    for key in ("containers", "initContainers", "volumes"):
        yield from _objects(spec.get(key), f"{where}.spec.{key}")
    for key in ("containers", "initContainers"):
        found = spec.get(key)
        for index, each in enumerate(found if isinstance(found, list) else ()):
            if isinstance(each, dict):
                yield from _container_shapes(each, f"{where}.spec.{key}[{index}]")


def _container_shapes(container: dict[str, Any], where: str) -> Iterator[str]:
    for key in ("env", "envFrom", "ports", "volumeMounts"):
        yield from _objects(container.get(key), f"{where}.{key}")
    for key in ("command", "args"):
        listed = container.get(key) or []
        if not isinstance(listed, list) or any(isinstance(each, dict | list) for each in listed):
            yield f"{where}.{key} must be a list of strings"
    resources = container.get("resources") or {}
    if not isinstance(resources, dict):
        yield f"{where}.resources must be an object"
    elif any(not isinstance(resources.get(key) or {}, dict) for key in ("limits", "requests")):
        yield f"{where}.resources.limits and requests must be objects"


def _objects(found: Any, where: str) -> Iterator[str]:
    if found is None:
        return
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        yield f"{where} must be a list of objects"


def own_name_problems(pod: RawPod, where: str, containers: Collection[str]) -> Iterator[str]:
    """What has a name that a kind gives to its own: *containers*, and volumes with the operator's prefix."""
    for each in (*pod.containers, *pod.init_containers):
        if each.name in containers:
            yield f"{where}: the container name {each.name} is the operator's own; use another"
    for volume in pod.volumes if pod.spec.get("volumes") else ():
        if str(volume.get("name", "")).startswith(OWN_VOLUME_PREFIX):
            yield f"{where}: volume names with {OWN_VOLUME_PREFIX} are the operator's own; use another"
