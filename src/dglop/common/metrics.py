# SPDX-License-Identifier: Apache-2.0
"""Metrics of jobs and their children, under the training operator's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dglop.common.views import PodView
from dglop.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.common.actions import Counter
    from dglop.common.report import Report
    from dglop.runtime.cache import Cached
    from dglop.runtime.metrics import Metrics

__all__ = ("FailedPods", "JobMetrics")

_LABELS: Final = ("job_namespace", "framework")
_FAMILIES: Final = {
    **{f"training_operator_jobs_{word}_total": f"Jobs {word}" for word in ("created", "deleted")},
    **{f"training_operator_jobs_{word}_total": f"Jobs {word}" for word in ("successful", "failed")},
    "training_operator_jobs_restarted_total": "Restarts of jobs",
    "created_pods_total": "Pods created",
    "deleted_pods_total": "Pods deleted",
    "failed_pods_total": "Pods seen to fail",
    "failed_pod_creations_total": "Pods not created",
    "succeeded_service_creation_total": "Services created",
    "failed_service_creation_total": "Services not created",
    "created_pod_groups_total": "PodGroups created",
    "deleted_pod_groups_total": "PodGroups deleted",
}


class JobMetrics:
    """
    Counters of one kind; the labels are the namespace and the kind, never a job's name.

    Each is there, and zero, from the first job that is seen in a namespace: a rate needs a zero to begin at.
    """

    def __init__(self, metrics: Metrics, framework: str) -> None:
        self.framework: str = framework
        self._families = {name: metrics.counter(name, text, *_LABELS) for name, text in _FAMILIES.items()}
        self._namespaces: set[str] = set()

    def seen(self, namespace: str) -> None:
        """Have every counter of the namespace be there."""
        if namespace in self._namespaces:
            return
        self._namespaces.add(namespace)
        for family in self._families.values():
            family.labels(namespace, self.framework)

    def jobs(self, counters: Iterable[Counter], namespace: str) -> None:
        for counter in counters:
            self._add(namespace, f"training_operator_jobs_{counter}_total", 1)

    def deleted(self, namespace: str) -> None:
        self._add(namespace, "training_operator_jobs_deleted_total", 1)

    def pod_failed(self, namespace: str) -> None:
        self._add(namespace, "failed_pods_total", 1)

    def children(self, report: Report, namespace: str) -> None:
        """What became of the children that a plan wanted to be made or deleted."""
        self._add(namespace, "created_pods_total", report.created)
        self._add(namespace, "deleted_pods_total", report.deleted)
        self._add(namespace, "failed_pod_creations_total", report.pods_failed)
        self._add(namespace, "succeeded_service_creation_total", report.services_created)
        self._add(namespace, "failed_service_creation_total", report.services_failed)
        self._add(namespace, "created_pod_groups_total", report.groups_created)
        self._add(namespace, "deleted_pod_groups_total", report.groups_deleted)

    def _add(self, namespace: str, name: str, count: int) -> None:
        if count:
            self._families[name].labels(namespace, self.framework).inc(count)


class FailedPods:
    """
    An informer's handler that counts the pods of one kind's jobs as they fail.

    One that had failed before it was first listed is not counted: another process may have done it.
    """

    def __init__(self, metrics: JobMetrics) -> None:
        self._metrics = metrics

    def on_add(self, obj: Cached, is_initial: bool) -> None:
        if not is_initial and _has_failed(obj):
            self._count(obj)

    def on_update(self, old: Cached, new: Cached) -> None:
        if _has_failed(new) and (old.uid != new.uid or not _has_failed(old)):
            self._count(new)

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None:
        """A pod that is gone has been counted if it had failed."""

    def _count(self, pod: Cached) -> None:
        owner = pod.meta.controller()
        if owner and owner.kind == self._metrics.framework:
            self._metrics.pod_failed(pod.namespace or "")


def _has_failed(pod: Cached) -> bool:
    if pod.is_deleting:
        return False  # it was told to end, and has not failed
    try:
        return pod.view(PodView).is_failed
    except SchemaError:
        return False  # the job's reconciliation says what is wrong with it
