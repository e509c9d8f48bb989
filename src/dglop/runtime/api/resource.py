# SPDX-License-Identifier: Apache-2.0
"""What the API server calls a kind: group, version, plural, and the URL paths that follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dglop.errors import ConfigError
from dglop.runtime.api.builtin import BUILTIN

__all__ = ("Kind", "Resource", "is_builtin", "resource_of")

Kind = Any
"""A CustomResource class, an official model such as V1Pod, or a Resource."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of the API server, by its group, version and names."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_resource(self) -> str:
        """`plural.group`, or `plural` in the core group: how kubectl and error messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(
        self, namespace: str | None = None, name: str | None = None, subresource: str | None = None
    ) -> str:
        """The URL path of the collection, of one object, or of its subresource."""
        parts = ["/api" if not self.group else f"/apis/{self.group}", self.version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        if name is not None:
            if not name:
                raise ValueError(f"an empty name cannot address one object of {self.group_resource}")
            parts.append(name)
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


def resource_of(kind: Kind) -> Resource:
    """The Resource of a class, an object or a wire dict.

    Official models are known by their class name, so nothing is imported here.
    Raises ConfigError for what is none of these.
    """
    if isinstance(kind, Resource):
        return kind
    if isinstance(kind, Mapping):
        return _of_wire(kind)
    cls = kind if isinstance(kind, type) else type(kind)
    own = getattr(kind, "resource", None)
    if isinstance(own, Resource):
        return own
    if cls.__module__.startswith("kubernetes."):
        found = BUILTIN.get(cls.__name__)
        if found is not None:
            return Resource(*found)
    raise ConfigError(
        f"{cls.__module__}.{cls.__qualname__} is no kind that dglop knows; "
        "give a CustomResource class with group and version, an official model, or a Resource"
    )


def is_builtin(resource: Resource) -> bool:
    """Whether the API server has it without a CRD, and dglop knows its names without asking."""
    names = (resource.group, resource.version, resource.kind)
    return any(known[:3] == names for known in BUILTIN.values())


def _of_wire(wire: Mapping[str, Any]) -> Resource:
    api_version, kind = wire.get("apiVersion", ""), wire.get("kind", "")
    group, _, version = api_version.rpartition("/")
    for known in BUILTIN.values():
        if known[:3] == (group, version, kind):
            return Resource(*known)
    if not (version and kind):
        raise ConfigError("a wire dict needs apiVersion and kind to be sent anywhere")
    return Resource(group, version, kind, kind.lower() + "s")
