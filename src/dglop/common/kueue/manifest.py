# SPDX-License-Identifier: Apache-2.0
"""The Workload of a job, and what of it follows the job while it waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dglop.common.draft import controller_name
from dglop.common.kueue.names import (
    ANNOTATION_POD_SETS,
    LABEL_JOB_UID,
    LABEL_MAX_SECONDS,
    LABEL_PREBUILT,
    LABEL_PRIORITY,
    LABEL_QUEUE,
    WORKLOAD,
    workload_name,
)
from dglop.common.kueue.podsets import pod_sets, pod_sets_hash
from dglop.common.names import job_labels
from dglop.runtime.api.meta import owner_reference

if TYPE_CHECKING:
    from dglop.common.draft import Draft
    from dglop.common.kind import JobKind

__all__ = (
    "Priority",
    "PriorityRef",
    "changed_spec",
    "prebuilt_name",
    "priority_ref",
    "queue_name",
    "workload_manifest",
)

_PROVISIONING = "provreq.kueue.x-k8s.io/"


@dataclass(frozen=True, slots=True)
class PriorityRef:
    """A class that says how important a job is; one of Kueue's own, or one of pods'."""

    name: str = ""
    is_of_workloads: bool = False


@dataclass(frozen=True, slots=True)
class Priority:
    """Such a class and what it is worth; no name: the value of a job that names none."""

    name: str = ""
    value: int = 0
    is_of_workloads: bool = False

    def to_wire(self) -> dict[str, Any]:
        """The two fields of a Workload's spec."""
        if not self.name:
            return {"priority": self.value, "priorityClassRef": None}
        group, kind = "scheduling.k8s.io", "PriorityClass"
        if self.is_of_workloads:
            group, kind = "kueue.x-k8s.io", "WorkloadPriorityClass"
        return {
            "priority": self.value,
            "priorityClassRef": {"group": group, "kind": kind, "name": self.name},
        }


def queue_name(job: Any) -> str:
    """The LocalQueue that the job's label names; "" for a job that is in none."""
    return str((job.metadata.labels or {}).get(LABEL_QUEUE, ""))


def prebuilt_name(job: Any) -> str:
    """The Workload that somebody made for the job beforehand."""
    return str((job.metadata.labels or {}).get(LABEL_PREBUILT, ""))


def priority_ref(job: Any, kind: JobKind[Any]) -> PriorityRef:
    """
    The job's class: that of its label, of its schedulingPolicy, or of the first template that names one.

    Raises SchemaError for a spec that does not tell its replicas.
    """
    stated = (job.metadata.labels or {}).get(LABEL_PRIORITY)
    if stated:
        return PriorityRef(str(stated), is_of_workloads=True)
    policy = job.spec.run_policy.scheduling_policy
    if policy and policy.priority_class:
        return PriorityRef(policy.priority_class)
    specs = (each.template.get("spec") for each in kind.replicas(job).values())
    names = (each.get("priorityClassName") for each in specs if isinstance(each, dict))
    return PriorityRef(str(next(filter(None, names), "")))


def workload_manifest(draft: Draft, priority: Priority | None) -> dict[str, Any]:
    """The Workload that queues the job. Raises SchemaError where a pod cannot be built."""
    job = draft.job
    labels = job_labels(controller_name(draft.kind, job), job.name)
    kept = {
        key: value for key, value in (job.metadata.annotations or {}).items() if key.startswith(_PROVISIONING)
    }
    metadata = {
        "name": workload_name(job),
        "namespace": job.namespace,
        "labels": {**labels, LABEL_JOB_UID: job.uid},
        "annotations": {**kept, ANNOTATION_POD_SETS: pod_sets_hash(draft)},
        "ownerReferences": [owner_reference(job)],
    }
    spec = {key: value for key, value in _spec(draft, priority).items() if value is not None}
    return {"apiVersion": WORKLOAD.api_version, "kind": WORKLOAD.kind, "metadata": metadata, "spec": spec}


def changed_spec(draft: Draft, priority: Priority | None, *, pods: bool) -> dict[str, Any]:
    """A merge patch that brings a waiting Workload up to its job, with *pods* its pod sets too.

    It is changed and not made anew, since its place in the queue goes by its age.
    """
    spec = _spec(draft, priority)
    if not pods:
        del spec["podSets"]
        return {"spec": spec}
    return {"metadata": {"annotations": {ANNOTATION_POD_SETS: pod_sets_hash(draft)}}, "spec": spec}


def _spec(draft: Draft, priority: Priority | None) -> dict[str, Any]:
    seconds = str((draft.job.metadata.labels or {}).get(LABEL_MAX_SECONDS, ""))
    longest = int(seconds) if seconds.isascii() and seconds.isdigit() and int(seconds) > 0 else None
    return {
        "queueName": queue_name(draft.job),
        "podSets": pod_sets(draft),
        "maximumExecutionTimeSeconds": longest,
        **(priority.to_wire() if priority else {}),
    }
