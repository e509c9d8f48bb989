# SPDX-License-Identifier: Apache-2.0
"""Reads what the API server says of its kinds, in the new form of one answer and in the old one of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dglop.runtime.api.resource import Resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ("AGGREGATED", "Served", "best_match", "group_versions", "read_aggregated", "read_resources")

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


@dataclass(frozen=True, slots=True)
class Served:
    """A resource as the API server serves it, and the other names it goes by."""

    resource: Resource
    singular: str = ""
    short_names: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    def rank(self, word: str) -> int | None:
        """How well `word`, in lower case, names it: 0 is best, None not at all."""
        if word in (self.resource.plural, self.resource.kind.lower()):
            return 0
        if word == self.singular:
            return 1
        return 2 if word in self.short_names else None


def best_match(
    served: Iterable[Served], word: str, *, group: str | None = None, version: str = ""
) -> Served | None:
    """The resource that `word` names: kind, plural, singular or short name, in any case.

    Of several that are named equally well the server's first is taken, as kubectl does.
    """
    named = [
        (rank, index, each)
        for index, each in enumerate(served)
        if (rank := each.rank(word.lower())) is not None
        and group in (None, each.resource.group)
        and version in ("", each.resource.version)
    ]
    return min(named)[2] if named else None


def read_aggregated(wire: Mapping[str, Any]) -> tuple[Served, ...] | None:
    """All resources of an APIGroupDiscoveryList, in the server's order; None of an older server's answer."""
    if wire.get("kind") != "APIGroupDiscoveryList":
        return None
    return tuple(
        _of_aggregated(group["metadata"].get("name") or "", version["version"], each)
        for group in wire.get("items") or ()
        for version in group.get("versions") or ()
        for each in version.get("resources") or ()
        if each.get("responseKind")
    )


def group_versions(wire: Mapping[str, Any]) -> tuple[str, ...]:
    """The group-versions of an APIGroupList, APIGroup or APIVersions, each group's preferred one first."""
    if "groups" in wire:
        return tuple(each for group in wire["groups"] or () for each in group_versions(group))
    preferred = (wire.get("preferredVersion") or {}).get("groupVersion")
    listed = [each if isinstance(each, str) else each["groupVersion"] for each in wire.get("versions") or ()]
    return tuple(sorted(listed, key=lambda each: each != preferred))


def read_resources(wire: Mapping[str, Any]) -> tuple[Served, ...]:
    """The resources of an APIResourceList, each with its subresources."""
    group, _, version = str(wire.get("groupVersion") or "").rpartition("/")
    listed = wire.get("resources") or ()
    names = [str(each["name"]) for each in listed]
    return tuple(
        Served(
            Resource(group, version, each["kind"], each["name"], bool(each.get("namespaced"))),
            each.get("singularName") or each["kind"].lower(),
            tuple(each.get("shortNames") or ()),
            tuple(each.get("verbs") or ()),
            tuple(name.partition("/")[2] for name in names if name.startswith(f"{each['name']}/")),
            tuple(each.get("categories") or ()),
        )
        for each in listed
        if "/" not in each["name"]
    )


def _of_aggregated(group: str, version: str, wire: Mapping[str, Any]) -> Served:
    kind = wire["responseKind"]["kind"]
    return Served(
        Resource(group, version, kind, wire["resource"], wire.get("scope") == "Namespaced"),
        wire.get("singularResource") or kind.lower(),
        tuple(wire.get("shortNames") or ()),
        tuple(wire.get("verbs") or ()),
        tuple(each["subresource"] for each in wire.get("subresources") or ()),
        tuple(wire.get("categories") or ()),
    )
