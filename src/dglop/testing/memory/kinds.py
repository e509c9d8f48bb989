# SPDX-License-Identifier: Apache-2.0
"""What the real server adds to built-in objects: defaults, first statuses, what admission sets."""

from __future__ import annotations

import base64
import ipaddress
from typing import TYPE_CHECKING, Any

from dglop.testing.memory.crds import complete_crd
from dglop.testing.memory.pods import complete_pod_spec, quality_of_service, tolerations
from dglop.testing.memory.workloads import WORKLOADS, label_job

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.testing.memory.resources import ResourceInfo
    from dglop.testing.memory.schema import Schemas

__all__ = ("GRACEFUL", "RETURNED_WHEN_DELETED", "admit", "complete", "first_status")

GRACEFUL = frozenset({"pods"})
"""Deleted with a grace period."""

RETURNED_WHEN_DELETED = frozenset(
    {
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        "podtemplates",
        "resourcequotas",
        "serviceaccounts",
        "services",
        "storageclasses.storage.k8s.io",
    }
)
"""Their deletion is answered with the object, not with a Status."""

_FIRST: dict[str, dict[str, Any]] = {
    "services": {"loadBalancer": {}},
    "namespaces": {"phase": "Active"},
    "persistentvolumeclaims": {"phase": "Pending"},
    "poddisruptionbudgets.policy": dict.fromkeys(
        ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"), 0
    ),
    "statefulsets.apps": {"replicas": 0, "availableReplicas": 0},
}
_NETWORK = int(ipaddress.IPv4Address("10.0.0.0"))


def complete(info: ResourceInfo, wire: dict[str, Any]) -> None:
    """Set the defaults of a built-in object in place."""
    completer = _COMPLETERS.get(info.storage)
    if completer is not None:
        completer(wire)
    if info.group == "events.k8s.io":
        wire.setdefault("deprecatedSource", {})
        if wire["metadata"].get("uid"):
            _fill_event(wire)


def admit(info: ResourceInfo, wire: dict[str, Any], serial: Callable[[], int]) -> None:
    """
    Set in place what the server sets at creation after the writer's fields were noted.

    *serial* numbers cluster addresses.
    """
    if info.storage == "namespaces":
        _namespace(wire)
        wire.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])
    if info.storage == "services":
        _allocate(wire["spec"], serial)
    if info.group == "events.k8s.io":
        _fill_event(wire)
    if info.storage == "statefulsets.apps":
        wire["spec"].setdefault("serviceName", "")
    if info.storage == "jobs.batch":
        label_job(wire)
    if info.storage == "persistentvolumeclaims":
        held = wire["metadata"].get("finalizers") or []
        wire["metadata"]["finalizers"] = list(dict.fromkeys([*held, "kubernetes.io/pvc-protection"]))
    if info.storage == "pods":
        spec = wire["spec"]
        spec.setdefault("priority", 0)
        spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
        spec["tolerations"] = tolerations(spec.get("tolerations") or [])


def first_status(schemas: Schemas, info: ResourceInfo, wire: dict[str, Any]) -> dict[str, Any] | None:
    """The status that a built-in object is born with; None for none."""
    if info.storage == "pods":
        return {"phase": "Pending", "qosClass": quality_of_service(wire["spec"])}
    known = _FIRST.get(info.storage)
    if known is not None:
        return dict(known)
    node = schemas.child(info.node, "status")
    if node is None:
        return None
    return {name: value for name, value in schemas.zero(node).items() if value is not None}


def _fill_event(wire: dict[str, Any]) -> None:
    wire.setdefault("deprecatedFirstTimestamp", None)
    wire.setdefault("deprecatedLastTimestamp", None)


def _namespace(wire: dict[str, Any]) -> None:
    metadata = wire["metadata"]
    if metadata.get("name"):
        labels = dict(metadata.get("labels") or {})
        metadata["labels"] = {**labels, "kubernetes.io/metadata.name": metadata["name"]}


def _secret(wire: dict[str, Any]) -> None:
    wire.setdefault("type", "Opaque")
    text = wire.pop("stringData", None)
    if text:
        coded = {name: base64.b64encode(each.encode()).decode() for name, each in text.items()}
        wire["data"] = {**(wire.get("data") or {}), **coded}


def _pod(wire: dict[str, Any]) -> None:
    spec = wire.get("spec") or {}
    complete_pod_spec(spec)
    spec.setdefault("enableServiceLinks", True)
    status = wire.get("status") or {}
    if status.get("podIP"):
        status["podIPs"] = [{"ip": status["podIP"]}, *(status.get("podIPs") or [])[1:]]
    for condition in status.get("conditions") or ():
        condition.setdefault("lastProbeTime", None)
        condition.setdefault("lastTransitionTime", None)


def _network_policy(wire: dict[str, Any]) -> None:
    spec = wire.get("spec") or {}
    spec.setdefault("policyTypes", ["Ingress", *(["Egress"] if spec.get("egress") else [])])


def _claim(wire: dict[str, Any]) -> None:
    (wire.get("spec") or {}).setdefault("volumeMode", "Filesystem")


def _service(wire: dict[str, Any]) -> None:
    spec = wire.setdefault("spec", {})
    spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        port.setdefault("targetPort", port.get("port"))
    if spec["type"] != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")


def _allocate(spec: dict[str, Any], serial: Callable[[], int]) -> None:
    """A service's addresses."""
    if spec["type"] == "ExternalName":
        return
    if not spec.get("clusterIP"):
        spec["clusterIP"] = str(ipaddress.IPv4Address(_NETWORK + serial() % 65000 + 10))
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")


_COMPLETERS: dict[str, Callable[[dict[str, Any]], None]] = {
    "namespaces": _namespace,
    "secrets": _secret,
    "pods": _pod,
    "services": _service,
    "persistentvolumeclaims": _claim,
    "networkpolicies.networking.k8s.io": _network_policy,
    **WORKLOADS,
    "customresourcedefinitions.apiextensions.k8s.io": complete_crd,
}
