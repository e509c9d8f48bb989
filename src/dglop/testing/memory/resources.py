# SPDX-License-Identifier: Apache-2.0
"""What the in-memory API server serves: built-in resources by a table, custom ones by their CRDs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ("Registry", "ResourceInfo")

META_TYPE = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
CRD_GROUP_RESOURCE = "customresourcedefinitions.apiextensions.k8s.io"
CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")

Node = dict[str, Any]
"""A schema, in OpenAPI's words."""

# Stored as one resource, served as two.
_ALIASES = {("events.k8s.io", "events"): "events"}


@dataclass(frozen=True, slots=True)
class ResourceInfo:
    """One resource in one version."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    node: Node
    verbs: tuple[str, ...] = CUSTOM_VERBS
    subresources: frozenset[str] = frozenset()
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    is_custom: bool = False
    list_kind: str = ""
    selectable: tuple[str, ...] = ()
    scale: Mapping[str, str] = field(default_factory=dict)
    needs_webhook: bool = False
    """Whether its versions are converted into each other by a webhook."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_resource(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def storage(self) -> str:
        """The key of the resource's objects, which all versions share."""
        return _ALIASES.get((self.group, self.plural), self.group_resource)

    @property
    def has_status(self) -> bool:
        return "status" in self.subresources

    def discovery(self) -> Iterator[dict[str, Any]]:
        """The entries of an APIResourceList."""
        common = {"namespaced": self.namespaced, "kind": self.kind}
        entry: dict[str, Any] = {"name": self.plural, "singularName": self.singular, **common}
        entry["verbs"] = list(self.verbs)
        if self.short_names:
            entry["shortNames"] = list(self.short_names)
        if self.categories:
            entry["categories"] = list(self.categories)
        yield entry
        for sub in sorted(self.subresources):
            served: dict[str, Any] = {"name": f"{self.plural}/{sub}", "singularName": "", **common}
            if sub == "scale":
                served |= {"group": "autoscaling", "version": "v1", "kind": "Scale"}
            yield {**served, "verbs": ["get", "patch", "update"]}


class Registry:
    """All resources, and the types that built-in ones refer to."""

    def __init__(self) -> None:
        table = _built_in_table()
        self.version: str = table["version"]
        self.types: dict[str, Node] = table["types"]
        self._served: dict[tuple[str, str, str], ResourceInfo] = {}
        for entry in table["resources"]:
            self._add(_built_in(entry, self.types))

    def find(self, group: str, version: str, plural: str) -> ResourceInfo | None:
        return self._served.get((group, version, plural))

    def of_kind(self, api_version: str, kind: str) -> ResourceInfo | None:
        """The resource of an owner reference, in whatever version it is served."""
        group = api_version.rpartition("/")[0]
        found = [each for each in self._served.values() if each.group == group and each.kind == kind]
        return found[0] if found else None

    def __iter__(self) -> Iterator[ResourceInfo]:
        return iter(self._served.values())

    def groups(self) -> dict[str, list[str]]:
        """The versions of each group, the most stable and newest first."""
        found: dict[str, list[str]] = {}
        for each in self._served.values():
            versions = found.setdefault(each.group, [])
            if each.version not in versions:
                versions.append(each.version)
        return {group: sorted(versions, key=_stability) for group, versions in found.items()}

    def install(self, crd: Mapping[str, Any]) -> None:
        """Serve what a CRD says, and nothing more of what it said before."""
        self.uninstall(crd)
        for version in crd["spec"]["versions"]:
            if version.get("served"):
                self._add(_custom(crd["spec"], version, self.types))

    def uninstall(self, crd: Mapping[str, Any]) -> None:
        spec = crd["spec"]
        gone = (spec["group"], spec["names"]["plural"])
        self._served = {key: each for key, each in self._served.items() if (each.group, each.plural) != gone}

    def _add(self, info: ResourceInfo) -> None:
        self._served[info.group, info.version, info.plural] = info


def _stability(version: str) -> tuple[int, int, int, str]:
    """The key that puts v2 before v1 before v1beta2 before v1alpha1, and all else at the end."""
    found = re.fullmatch(r"v(\d+)(?:(alpha|beta)(\d+))?", version)
    if found is None:
        return (3, 0, 0, version)
    major, stage, minor = found.groups()
    return ({None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0), version)


@cache
def _built_in_table() -> dict[str, Any]:
    """What kubernetes.json says; it is read once and never changed."""
    found: dict[str, Any] = msgspec.json.decode(
        (files("dglop.testing.memory") / "kubernetes.json").read_bytes()
    )
    return found


def _built_in(entry: Mapping[str, Any], types: Mapping[str, Node]) -> ResourceInfo:
    return ResourceInfo(
        group=entry["group"],
        version=entry["version"],
        kind=entry["kind"],
        plural=entry["plural"],
        singular=entry["singular"],
        namespaced=entry["namespaced"],
        node=types.get(entry["type"], {}),
        verbs=tuple(entry["verbs"]),
        subresources=frozenset(entry["subresources"]),
        short_names=tuple(entry.get("shortNames", ())),
        categories=tuple(entry.get("categories", ())),
        list_kind=f"{entry['kind']}List",
    )


def _custom(spec: Mapping[str, Any], version: Mapping[str, Any], types: Mapping[str, Node]) -> ResourceInfo:
    names = spec["names"]
    schema = version.get("schema", {}).get("openAPIV3Schema", {})
    properties = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        **schema.get("properties", {}),
    }
    properties["metadata"] = types[META_TYPE]
    subresources = version.get("subresources") or {}
    return ResourceInfo(
        group=spec["group"],
        version=version["name"],
        kind=names["kind"],
        plural=names["plural"],
        singular=names.get("singular") or names["kind"].lower(),
        namespaced=spec["scope"] == "Namespaced",
        node={"type": "object", **schema, "properties": properties},
        subresources=frozenset(subresources),
        short_names=tuple(names.get("shortNames", ())),
        categories=tuple(names.get("categories", ())),
        is_custom=True,
        list_kind=names.get("listKind") or f"{names['kind']}List",
        selectable=tuple(each["jsonPath"].lstrip(".") for each in version.get("selectableFields") or ()),
        scale=subresources.get("scale") or {},
        needs_webhook=(spec.get("conversion") or {}).get("strategy") == "Webhook",
    )
