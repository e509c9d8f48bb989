# SPDX-License-Identifier: Apache-2.0
"""Deployments, jobs and their like as the real server completes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.testing.memory.pods import complete_pod_spec

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("WORKLOADS", "label_job")

_SURGE = {"maxUnavailable": "25%", "maxSurge": "25%"}


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
    if wire["metadata"].get("uid"):
        spec.setdefault("serviceName", "")
    strategy = spec.setdefault("updateStrategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        strategy["rollingUpdate"] = {
            "partition": 0,
            "maxUnavailable": 1,
            **(strategy.get("rollingUpdate") or {}),
        }
    spec.setdefault("persistentVolumeClaimRetentionPolicy", {"whenDeleted": "Retain", "whenScaled": "Retain"})


def _daemon_set(wire: dict[str, Any]) -> None:
    annotations = wire["metadata"].get("annotations") or {}
    wire["metadata"]["annotations"] = {"deprecated.daemonset.template.generation": "1", **annotations}
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


def _cron_job(wire: dict[str, Any]) -> None:
    spec = wire.get("spec") or {}
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    job = spec.setdefault("jobTemplate", {})
    job.setdefault("metadata", {})
    _template(job)


def label_job(wire: dict[str, Any]) -> None:
    """Give a new job its selector in place, and itself and its pods the labels for that."""
    spec, metadata = wire["spec"], wire["metadata"]
    if spec.get("manualSelector"):
        return
    uid, name = metadata["uid"], metadata["name"]
    labels = {"controller-uid": uid, "job-name": name}
    labels |= {f"batch.kubernetes.io/{key}": value for key, value in labels.items()}
    template = spec["template"]["metadata"]
    template["labels"] = {**(template.get("labels") or {}), **labels}
    metadata["labels"] = {**(template["labels"]), **(metadata.get("labels") or {})}
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}


WORKLOADS: dict[str, Callable[[dict[str, Any]], None]] = {
    "cronjobs.batch": _cron_job,
    "daemonsets.apps": _daemon_set,
    "deployments.apps": _deployment,
    "jobs.batch": _job,
    "replicasets.apps": _replica_set,
    "statefulsets.apps": _stateful_set,
}
"""What completes each kind in place."""
