# SPDX-License-Identifier: Apache-2.0
"""CRDs: completed when they are written, served from then on, and their objects gone with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.runtime.api.times import format_time
from dglop.testing.memory.resources import CRD_GROUP_RESOURCE

if TYPE_CHECKING:
    from dglop.runtime.clock import Clock
    from dglop.testing.memory.resources import Registry
    from dglop.testing.memory.store import Change, Store

__all__ = ("CrdServer", "complete_crd")


def complete_crd(wire: dict[str, Any]) -> None:
    """Set a CRD's defaults in place."""
    spec = wire.get("spec") or {}
    names = spec.get("names") or {}
    if names.get("kind"):
        names.setdefault("singular", names["kind"].lower())
        names.setdefault("listKind", f"{names['kind']}List")
    spec.setdefault("conversion", {"strategy": "None"})


class CrdServer:
    """Serves what CRDs say, at once."""

    def __init__(self, store: Store, registry: Registry, clock: Clock) -> None:
        self._store = store
        self._registry = registry
        self._clock = clock
        store.subscribe(self._heard)

    def _heard(self, storage: str, change: Change) -> None:
        if storage != CRD_GROUP_RESOURCE:
            return
        if change.new is None:
            self._drop(change.last.wire)
            return
        wire = change.new.wire
        self._registry.install(wire)
        status = self._status(wire)
        if wire.get("status") != status:
            self._store.put(storage, {**wire, "status": status})

    def _status(self, wire: dict[str, Any]) -> dict[str, Any]:
        spec, known = wire["spec"], wire.get("status") or {}
        conditions = known.get("conditions") or []
        have = {each["type"] for each in conditions}
        now = format_time(self._clock.now())
        reasons = (
            ("NamesAccepted", "NoConflicts", "no conflicts found"),
            ("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        )
        added = [
            {"type": kind, "status": "True", "reason": reason, "message": text, "lastTransitionTime": now}
            for kind, reason, text in reasons
            if kind not in have
        ]
        stored = list(known.get("storedVersions") or [])
        stored += [
            each["name"] for each in spec["versions"] if each.get("storage") and each["name"] not in stored
        ]
        whole = {**known, "conditions": [*conditions, *added], "acceptedNames": spec["names"]}
        return {**whole, "storedVersions": stored}

    def _drop(self, wire: dict[str, Any]) -> None:
        spec = wire["spec"]
        storage = f"{spec['names']['plural']}.{spec['group']}"
        for each in self._store.all(storage):
            metadata = each.wire["metadata"]
            self._store.remove(storage, (metadata.get("namespace") or "", metadata["name"]))
        self._registry.uninstall(wire)
