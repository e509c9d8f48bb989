# SPDX-License-Identifier: Apache-2.0
"""Pods as the real server completes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ("complete_pod_spec", "quality_of_service", "tolerations")

_MODES = {
    "configMap": "defaultMode",
    "secret": "defaultMode",
    "downwardAPI": "defaultMode",
    "projected": "defaultMode",
}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_NODE_TROUBLES = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def complete_pod_spec(spec: dict[str, Any]) -> None:
    """Set a pod's defaults in place."""
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("securityContext", {})
    if spec.get("serviceAccountName"):
        spec.setdefault("serviceAccount", spec["serviceAccountName"])
    for container in _containers(spec):
        _complete_container(container)
    for volume in spec.get("volumes") or ():
        for source, field in _MODES.items():
            if isinstance(volume.get(source), dict):
                volume[source].setdefault(field, 0o644)
        if set(volume) == {"name"}:
            volume["emptyDir"] = {}


def _containers(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in ("initContainers", "containers"):
        yield from (each for each in spec.get(name) or () if isinstance(each, dict))


def _complete_container(container: dict[str, Any]) -> None:
    image = container.get("image", "")
    tag = image.rpartition("/")[2].partition(":")[2]
    is_latest = "@" not in image and tag in ("", "latest")
    container.setdefault("imagePullPolicy", "Always" if is_latest else "IfNotPresent")
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    resources = container.setdefault("resources", {})
    if resources.get("limits"):
        resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
    for variable in container.get("env") or ():
        reference = (variable.get("valueFrom") or {}).get("fieldRef")
        if reference is not None:
            reference.setdefault("apiVersion", "v1")
    for name in _PROBES:
        if isinstance(container.get(name), dict):
            _complete_probe(container[name])


def _complete_probe(probe: dict[str, Any]) -> None:
    probe.setdefault("timeoutSeconds", 1)
    probe.setdefault("periodSeconds", 10)
    probe.setdefault("successThreshold", 1)
    probe.setdefault("failureThreshold", 3)
    if isinstance(probe.get("httpGet"), dict):
        probe["httpGet"].setdefault("path", "/")
        probe["httpGet"].setdefault("scheme", "HTTP")


def tolerations(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tolerations with those that every pod gets."""
    result = list(given)
    for key in _NODE_TROUBLES:
        known = any(
            each.get("key") in (key, None) and each.get("effect") in ("NoExecute", None) for each in given
        )
        if not known:
            toleration = {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            result.append(toleration)
    return result


def quality_of_service(spec: dict[str, Any]) -> str:
    """Guaranteed, Burstable or BestEffort, by the containers' CPU and memory."""
    found = [each.get("resources") or {} for each in _containers(spec)]
    said = [
        {name: (each.get(what) or {}).get(name) for name in ("cpu", "memory")}
        for each in found
        for what in ("limits", "requests")
    ]
    if not any(value for each in said for value in each.values()):
        return "BestEffort"
    limits, requests = said[::2], said[1::2]
    if limits == requests and all(all(each.values()) for each in limits):
        return "Guaranteed"
    return "Burstable"
