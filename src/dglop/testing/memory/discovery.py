# SPDX-License-Identifier: Apache-2.0
"""Discovery: which groups, versions and resources are served."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dglop.testing.memory.resources import Registry

__all__ = ("discover",)


def discover(registry: Registry, path: str) -> dict[str, Any] | None:
    """The document at *path*, or None where there is none."""
    parts = path.strip("/").split("/")
    match parts:
        case ["version"]:
            major, minor, _ = registry.version.lstrip("v").split(".")
            return {"major": major, "minor": minor, "gitVersion": registry.version, "platform": "memory"}
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        case ["apis"]:
            groups = [_group(name, versions) for name, versions in registry.groups().items() if name]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
        case ["apis", group]:
            versions = registry.groups().get(group)
            if versions:
                return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, versions)}
        case ["api", version]:
            return _resources(registry, "", version)
        case ["apis", group, version]:
            return _resources(registry, group, version)
    return None


def _group(name: str, versions: list[str]) -> dict[str, Any]:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _resources(registry: Registry, group: str, version: str) -> dict[str, Any] | None:
    found = [each for each in registry if (each.group, each.version) == (group, version)]
    if not found:
        return None
    head = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": found[0].api_version}
    return {**head, "resources": [entry for each in found for entry in each.discovery()]}
