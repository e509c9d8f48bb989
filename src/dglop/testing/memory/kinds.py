# SPDX-License-Identifier: Apache-2.0
"""What the real server adds to built-in objects: defaults, first statuses, what admission sets."""

from __future__ import annotations

import base64
import ipaddress
from typing import TYPE_CHECKING, Any

from dglop.testing.memory.crds import complete_crd
from dglop.testing.memory.pods import complete_pod_spec, quality_of_service, tolerations

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.testing.memory.resources import ResourceInfo

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

_SURGE = {"maxUnavailable": "25%", "maxSurge": "25%"}
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
    if info.storage == "pods":
        spec = wire["spec"]
        spec.setdefault("priority", 0)
        spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
        spec["tolerations"] = tolerations(spec.get("tolerations") or [])


def first_status(info: ResourceInfo, wire: dict[str, Any]) -> dict[str, Any] | None:
    """The status that a built-in object is born with; None for none."""
    if info.storage == "pods":
        return {"phase": "Pending", "qosClass": quality_of_service(wire["spec"])}
    if info.storage == "services":
        return {"loadBalancer": {}}
    if info.storage == "namespaces":
        return {"phase": "Active"}
    if info.storage == "persistentvolumeclaims":
        return {"phase": "Pending"}
    return {} if "status" in (info.node.get("properties") or {}) else None


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


def _template(wire: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = wire.get("spec") or {}
    template = spec.get("template")
    if isinstance(template, dict):
        template.setdefault("metadata", {})
        complete_pod_spec(template.setdefault("spec", {}))
    return spec


def _deployment(wire: dict[str, Any]) -> None:
    spec = _template(wire)
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    strategy = spec.setdefault("strategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        strategy["rollingUpdate"] = {**_SURGE, **(strategy.get("rollingUpdate") or {})}


def _replica_set(wire: dict[str, Any]) -> None:
    _template(wire).setdefault("replicas", 1)


def _stateful_set(wire: dict[str, Any]) -> None:
    spec = _template(wire)
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("podManagementPolicy", "OrderedReady")
    spec.setdefault("serviceName", "")
    strategy = spec.setdefault("updateStrategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        strategy["rollingUpdate"] = {"partition": 0, **(strategy.get("rollingUpdate") or {})}
    spec.setdefault("persistentVolumeClaimRetentionPolicy", {"whenDeleted": "Retain", "whenScaled": "Retain"})


def _daemon_set(wire: dict[str, Any]) -> None:
    spec = _template(wire)
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = spec.setdefault("updateStrategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        strategy["rollingUpdate"] = {
            "maxUnavailable": 1,
            "maxSurge": 0,
            **(strategy.get("rollingUpdate") or {}),
        }


def _job(wire: dict[str, Any]) -> None:
    spec = _template(wire)
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    spec.setdefault("podReplacementPolicy", "TerminatingOrFailed")


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
    "deployments.apps": _deployment,
    "replicasets.apps": _replica_set,
    "statefulsets.apps": _stateful_set,
    "daemonsets.apps": _daemon_set,
    "jobs.batch": _job,
    "persistentvolumeclaims": _claim,
    "customresourcedefinitions.apiextensions.k8s.io": complete_crd,
}
