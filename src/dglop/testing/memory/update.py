# SPDX-License-Identifier: Apache-2.0
"""One change of one object: which parts may change, and whether it counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dglop.testing.memory.resources import ResourceInfo

__all__ = ("Update",)

_OWNED = ("creationTimestamp", "generation", "selfLink", "deletionGracePeriodSeconds", "generateName")
# What the server chose and a replacement may leave out.
_ALLOCATED = {
    "namespaces": ("finalizers",),
    "services": ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"),
}


@dataclass(frozen=True, slots=True)
class Update:
    """From *old* to *new*, by a write of *subresource* ("" for the object itself)."""

    info: ResourceInfo
    subresource: str
    old: dict[str, Any]
    new: dict[str, Any]

    def prepared(self, *, counts: bool) -> dict[str, Any]:
        """*new* without what this write cannot change."""
        if self.subresource == "status":
            return self._status()
        wire = dict(self.new)
        wire["metadata"] = metadata = dict(wire["metadata"])
        for field in _OWNED:
            if field == "generation" and not counts:
                continue
            _keep(metadata, self.old["metadata"], field)
        metadata.setdefault("uid", self.old["metadata"]["uid"])
        if self.info.has_status:
            _keep(wire, self.old, "status")
        for field in _ALLOCATED.get(self.info.storage, ()):
            if field in self.old["spec"] and field not in (wire.get("spec") or {}):
                wire["spec"] = {**(wire.get("spec") or {}), field: self.old["spec"][field]}
        return wire

    def count(self, wire: dict[str, Any], *, counts: bool) -> None:
        """Raise the generation in place if what is wanted changed."""
        if counts and self._wanted(wire) != self._wanted(self.old):
            generation = self.old["metadata"].get("generation", 0)
            wire["metadata"]["generation"] = generation + 1

    def ends(self, wire: dict[str, Any]) -> bool:
        """Whether this was what a deletion waited for."""
        metadata = wire["metadata"]
        if not metadata.get("deletionTimestamp") or metadata.get("finalizers"):
            return False
        if (wire.get("spec") or {}).get("finalizers") and self.info.storage == "namespaces":
            return False
        return not metadata.get("deletionGracePeriodSeconds")

    def _status(self) -> dict[str, Any]:
        wire = dict(self.old)
        _keep(wire, self.new, "status")
        if not self.info.is_custom:
            metadata = dict(self.new["metadata"])
            for field in (*_OWNED, "ownerReferences", "finalizers"):
                _keep(metadata, self.old["metadata"], field)
            if self.info.storage != "pods":
                _keep(metadata, self.old["metadata"], "labels")
            return {**wire, "metadata": metadata}
        return {**wire, "metadata": dict(wire["metadata"])}

    def _wanted(self, wire: dict[str, Any]) -> Any:
        """The part whose change is a new generation."""
        if not self.info.is_custom:
            return wire.get("spec")
        left_out = {"metadata", "apiVersion", "kind"} | ({"status"} if self.info.has_status else set())
        return {name: each for name, each in wire.items() if name not in left_out}


def _keep(into: dict[str, Any], source: dict[str, Any], field: str) -> None:
    if field in source:
        into[field] = source[field]
    else:
        into.pop(field, None)
