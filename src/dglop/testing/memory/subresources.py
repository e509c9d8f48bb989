# SPDX-License-Identifier: Apache-2.0
"""Subresources other than status, and the reviews that are asked by creating them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from dglop.testing.memory.deletes import DeleteOptions
from dglop.testing.memory.patches import json_patched, merged
from dglop.testing.memory.refusal import RefusalError, not_found
from dglop.testing.memory.request import Options, Target
from dglop.testing.memory.selectors import selector_text, selects

if TYPE_CHECKING:
    from dglop.testing.memory.deletes import Deletes
    from dglop.testing.memory.request import Request
    from dglop.testing.memory.store import Store, Stored
    from dglop.testing.memory.writes import Writes

__all__ = ("SubresourceServer",)

_MERGE = "application/merge-patch+json"
_NEVER = "2100-01-01T00:00:00Z"
_DONE = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
_REVIEWS: dict[str, dict[str, Any]] = {
    "tokenreviews": {"authenticated": True, "user": {"username": "memory", "groups": ["system:masters"]}},
    "subjectaccessreviews": {"allowed": True},
    "selfsubjectaccessreviews": {"allowed": True},
    "localsubjectaccessreviews": {"allowed": True},
}


class SubresourceServer:
    """Scale, eviction, binding, tokens and finalize. Methods may raise RefusalError."""

    def __init__(self, store: Store, writes: Writes, deletes: Deletes) -> None:
        self._store = store
        self._writes = writes
        self._deletes = deletes

    def handle(self, target: Target, request: Request) -> tuple[int, dict[str, Any]]:
        """The answer's code and object."""
        found = self._store.get(target.info.storage, target.key)
        if found is None or target.subresource not in target.info.subresources:
            raise not_found(target.info, target.name)
        whole = Target(target.info, target.namespace, target.name)
        match target.subresource, request.method:
            case "scale", "GET" | "PUT" | "PATCH":
                return 200, self._scale(target, found, request)
            case "eviction", "POST":
                self._evict(whole, found, msgspec.json.decode(request.body) if request.body else {})
                return 201, _DONE
            case "binding", "POST":
                node = msgspec.json.decode(request.body)["target"]["name"]
                self._store.put("pods", {**found.wire, "spec": {**found.wire["spec"], "nodeName": node}})
                return 201, _DONE
            case "token", "POST":
                return 201, _token(msgspec.json.decode(request.body), found)
            case "finalize", "PUT":
                return 200, self._finalize(found, msgspec.json.decode(request.body))
        raise RefusalError(
            405, "MethodNotAllowed", f"the in-memory server has no {request.method} {target.subresource}"
        )

    def review(self, target: Target, request: Request) -> dict[str, Any] | None:
        """A review with its verdict, which is always yes; None for what is no review."""
        verdict = _REVIEWS.get(target.info.plural)
        if verdict is None or not target.info.group.endswith(("ation.k8s.io",)):
            return None
        return {**msgspec.json.decode(request.body), "status": verdict}

    def _scale(self, target: Target, found: Stored, request: Request) -> dict[str, Any]:
        paths = target.info.scale
        wanted = paths.get("specReplicasPath", ".spec.replicas")
        if request.method != "GET":
            scale = self._shown(target, found)
            change = msgspec.json.decode(request.body)
            if request.method == "PUT":
                scale = change
            elif request.content_type.startswith("application/json-patch"):
                scale = json_patched(scale, change)
            else:
                scale = merged(scale, change)
            body: Any = scale["spec"].get("replicas", 0)
            for name in reversed(wanted.strip(".").split(".")):
                body = {name: body}
            version = (
                (change.get("metadata") or {}).get("resourceVersion") if isinstance(change, dict) else None
            )
            body |= {"metadata": {"resourceVersion": version}} if version else {}
            options = Options.of(request, "PatchOptions")
            self._writes.patch(target, _MERGE, msgspec.json.encode(body), options)
            found = self._store.get(target.info.storage, target.key) or found
        return self._shown(target, found)

    def _shown(self, target: Target, found: Stored) -> dict[str, Any]:
        metadata = found.wire["metadata"]
        kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        paths = target.info.scale
        status: dict[str, Any] = {
            "replicas": _at(found.wire, paths.get("statusReplicasPath", ".status.replicas")) or 0
        }
        if not target.info.is_custom:
            status["selector"] = selector_text((found.wire.get("spec") or {}).get("selector") or {})
        selector = paths.get("labelSelectorPath")
        if selector:
            status["selector"] = _at(found.wire, selector) or ""
        return {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {name: metadata[name] for name in kept if name in metadata},
            "spec": {"replicas": _at(found.wire, paths.get("specReplicasPath", ".spec.replicas")) or 0},
            "status": status,
        }

    def _evict(self, pod: Target, found: Stored, body: dict[str, Any]) -> None:
        """Delete a pod as far as its disruption budget goes, which counts that at once."""
        options = body.get("deleteOptions") or {}
        runs = (found.wire.get("status") or {}).get("phase") == "Running"
        for budget in self._store.all("poddisruptionbudgets.policy", pod.namespace) if runs else ():
            if not selects(budget.wire["spec"].get("selector"), found.wire["metadata"].get("labels") or {}):
                continue
            status = budget.wire.get("status") or {}
            allowed = status.get("disruptionsAllowed", 0)
            if allowed < 1:
                raise _too_disruptive(budget.wire["metadata"]["name"], status)
            if not options.get("dryRun"):
                status = {**status, "disruptionsAllowed": allowed - 1}
                self._store.put("poddisruptionbudgets.policy", {**budget.wire, "status": status})
        grace, dry_run = options.get("gracePeriodSeconds"), bool(options.get("dryRun"))
        self._deletes.delete(pod, DeleteOptions(grace=grace, dry_run=dry_run))

    def _finalize(self, found: Stored, body: dict[str, Any]) -> dict[str, Any]:
        wire = {**found.wire, "spec": body.get("spec") or {}}
        metadata = wire["metadata"]
        if metadata.get("deletionTimestamp") and not wire["spec"].get("finalizers"):
            self._store.remove("namespaces", ("", metadata["name"]), wire)
            return wire
        return self._store.put("namespaces", wire).wire


def _at(wire: Any, path: str) -> Any:
    for name in path.strip(".").split("."):
        wire = wire.get(name) if isinstance(wire, dict) else None
    return wire


def _too_disruptive(name: str, status: dict[str, Any]) -> RefusalError:
    wanted, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    why = f"The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently"
    return RefusalError(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
        {"causes": [{"reason": "DisruptionBudget", "message": why}]},
    )


def _token(body: dict[str, Any], account: Stored) -> dict[str, Any]:
    name = account.wire["metadata"]["name"]
    return {**body, "status": {"token": f"memory.{name}.token", "expirationTimestamp": _NEVER}}
