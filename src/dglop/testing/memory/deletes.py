# SPDX-License-Identifier: Apache-2.0
"""Deletion: preconditions, finalizers, grace and what is answered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.runtime.api.times import format_time, parse_time
from dglop.testing.memory.kinds import GRACEFUL, RETURNED_WHEN_DELETED
from dglop.testing.memory.refusal import Problem, conflict, forbidden_option, not_found

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.runtime.clock import Clock
    from dglop.testing.memory.request import Request, Target
    from dglop.testing.memory.store import Store, Stored

__all__ = ("DeleteOptions", "Deletes")

_FINALIZERS = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """The options of a deletion, from the body and the query."""

    grace: int | None = None
    propagation: str = "Background"
    uid: str = ""
    version: str = ""
    dry_run: bool = False

    @classmethod
    def of(cls, request: Request) -> DeleteOptions:
        body: Mapping[str, Any] = msgspec.json.decode(request.body) if request.body else {}
        query = request.query
        grace = body.get("gracePeriodSeconds", query.get("gracePeriodSeconds"))
        dry_run = body.get("dryRun") or [each for each in (query.get("dryRun"),) if each]
        if dry_run not in ([], ["All"]):
            raise forbidden_option("DeleteOptions", Problem.unsupported("dryRun", dry_run, ("All",)))
        preconditions = body.get("preconditions") or {}
        return cls(
            grace=None if grace is None else int(grace),
            propagation=body.get("propagationPolicy") or query.get("propagationPolicy") or "Background",
            uid=preconditions.get("uid") or "",
            version=preconditions.get("resourceVersion") or "",
            dry_run=bool(dry_run),
        )


class Deletes:
    """What deletes objects. Every method may raise RefusalError."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def delete(self, target: Target, options: DeleteOptions) -> dict[str, Any]:
        """What is answered: the object, or a Status."""
        found = self._store.get(target.info.storage, target.key)
        if found is None:
            raise not_found(target.info, target.name)
        self._check(target, found, options)
        marked = self._marked(target, found, options)
        metadata = marked["metadata"]
        waits = bool(metadata.get("finalizers")) or bool(metadata.get("deletionGracePeriodSeconds"))
        waits = waits or (target.info.storage == "namespaces" and bool(marked["spec"].get("finalizers")))
        if not waits:
            is_marked_first = target.info.storage in GRACEFUL
            gone = marked if is_marked_first else found.wire
            if not options.dry_run:
                if is_marked_first and marked != found.wire:
                    self._store.put(target.info.storage, marked)
                gone = self._store.remove(target.info.storage, target.key).wire
            if target.info.storage in RETURNED_WHEN_DELETED:
                return gone
            return _success(target, found)
        if marked == found.wire or options.dry_run:
            return marked
        return self._store.put(target.info.storage, marked).wire

    def _check(self, target: Target, found: Stored, options: DeleteOptions) -> None:
        metadata = found.wire["metadata"]
        if options.uid and options.uid != metadata["uid"]:
            why = (
                f"the UID in the precondition ({options.uid}) does not match the UID in record "
                f"({metadata['uid']}). The object might have been deleted and then recreated"
            )
            raise conflict(target.info, target.name, why, as_kind=True)
        if options.version and options.version != metadata["resourceVersion"]:
            why = (
                f"the ResourceVersion in the precondition ({options.version}) does not match the "
                f"ResourceVersion in record ({metadata['resourceVersion']}). "
                "The object might have been modified"
            )
            raise conflict(target.info, target.name, why, as_kind=True)

    def _marked(self, target: Target, found: Stored, options: DeleteOptions) -> dict[str, Any]:
        """The object as one that is being deleted."""
        metadata = dict(found.wire["metadata"])
        grace = self._grace(target, found.wire, options)
        known = metadata.get("deletionTimestamp")
        finalizer = _FINALIZERS.get(options.propagation)
        finalizers = list(metadata.get("finalizers") or ())
        if finalizer and finalizer not in finalizers:
            metadata["finalizers"] = [*finalizers, finalizer]
        if known and grace >= metadata.get("deletionGracePeriodSeconds", 0):
            return {**found.wire, "metadata": metadata}
        if not known and metadata.get("generation"):
            metadata["generation"] += 1
        if target.info.storage != "namespaces":
            metadata["deletionGracePeriodSeconds"] = grace
        asked = self._clock.now()
        if known:  # a shorter grace period counts from when the deletion was first asked for
            before = found.wire["metadata"].get("deletionGracePeriodSeconds", 0)
            asked = parse_time(known) - timedelta(seconds=before)
        metadata["deletionTimestamp"] = format_time(asked + timedelta(seconds=grace))
        marked = {**found.wire, "metadata": metadata}
        if target.info.storage == "namespaces":
            marked["status"] = {**(found.wire.get("status") or {}), "phase": "Terminating"}
        return marked

    def _grace(self, target: Target, wire: dict[str, Any], options: DeleteOptions) -> int:
        if target.info.storage not in GRACEFUL:
            return 0
        spec, status = wire.get("spec") or {}, wire.get("status") or {}
        if not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
            return 0
        if options.grace is not None:
            return max(options.grace, 0)
        return int(spec.get("terminationGracePeriodSeconds", 30))


def _success(target: Target, found: Stored) -> dict[str, Any]:
    details = {"name": target.name, "group": target.info.group, "kind": target.info.plural}
    details["uid"] = found.wire["metadata"]["uid"]
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {name: each for name, each in details.items() if each},
    }
