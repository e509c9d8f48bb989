# SPDX-License-Identifier: Apache-2.0
"""Metrics of jobs, their pods and their PodGroups, under the training operator's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.common.actions import Counter
    from dglop.runtime.metrics import Metrics

__all__ = ("JobMetrics",)

_LABELS = ("job_namespace", "framework")


class JobMetrics:
    """Counters of one kind; the labels are the namespace and the kind, never a job's name."""

    def __init__(self, metrics: Metrics, framework: str) -> None:
        self._framework = framework
        self._jobs = {
            word: metrics.counter(f"training_operator_jobs_{word}_total", f"Jobs {word}", *_LABELS)
            for word in ("created", "deleted", "successful", "failed", "restarted")
        }
        self._created_pods = metrics.counter("created_pods_total", "Pods created", *_LABELS)
        self._deleted_pods = metrics.counter("deleted_pods_total", "Pods deleted", *_LABELS)
        self._created_groups = metrics.counter("created_pod_groups_total", "PodGroups created", *_LABELS)
        self._deleted_groups = metrics.counter("deleted_pod_groups_total", "PodGroups deleted", *_LABELS)
        self._refused_pods = metrics.counter("failed_pod_creations_total", "Pods not created", *_LABELS)

    def jobs(self, counters: Iterable[Counter], namespace: str) -> None:
        for counter in counters:
            self._jobs[counter].labels(namespace, self._framework).inc()

    def deleted(self, namespace: str) -> None:
        self._jobs["deleted"].labels(namespace, self._framework).inc()

    def pods(self, namespace: str, *, created: int = 0, deleted: int = 0, refused: int = 0) -> None:
        self._add(namespace, self._created_pods, created)
        self._add(namespace, self._deleted_pods, deleted)
        self._add(namespace, self._refused_pods, refused)

    def pod_groups(self, namespace: str, *, created: int = 0, deleted: int = 0) -> None:
        self._add(namespace, self._created_groups, created)
        self._add(namespace, self._deleted_groups, deleted)

    def _add(self, namespace: str, family: Any, count: int) -> None:
        if count:
            family.labels(namespace, self._framework).inc(count)
