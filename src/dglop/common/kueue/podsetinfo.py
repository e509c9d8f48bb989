# SPDX-License-Identifier: Apache-2.0
"""What an admission adds to pods: the labels and tolerations of its flavors, and what its checks say."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dglop.common.constants import MAX_NAME
from dglop.common.kueue.names import GATE_TOPOLOGY
from dglop.errors import SchemaError
from dglop.runtime.api.rawvalues import set_default

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.common.kueue.views import Assignment, FlavorView, WorkloadView
    from dglop.runtime.api.rawpod import RawPod

__all__ = ("PodSetInfo", "QueueAdmission", "pod_set_infos")

_UNCONSTRAINED = "kueue.x-k8s.io/podset-unconstrained-topology"
_TOPOLOGY_WISHES = (
    _UNCONSTRAINED,
    "kueue.x-k8s.io/podset-required-topology",
    "kueue.x-k8s.io/podset-preferred-topology",
)


@dataclass(frozen=True, slots=True)
class PodSetInfo:
    """What is merged into the pods of one replica type."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Mapping[str, Any], ...] = ()
    scheduling_gates: tuple[Mapping[str, Any], ...] = ()

    def merge_into(self, pod: RawPod) -> None:
        """Add all of it to the pod. Raises SchemaError where the pod says otherwise already."""
        selector = set_default(pod.spec, "nodeSelector", dict, "spec.nodeSelector")
        _merge(pod.labels, self.labels, "label")
        _merge(pod.annotations, self.annotations, "annotation")
        _merge(selector, self.node_selector, "nodeSelector")
        if self.scheduling_gates and not any(key in pod.annotations for key in _TOPOLOGY_WISHES):
            pod.annotations[_UNCONSTRAINED] = "true"  # what Kueue takes a pod for that says nothing
        _append(pod.spec, "tolerations", self.tolerations)
        _append(pod.spec, "schedulingGates", self.scheduling_gates)
        if not selector:
            del pod.spec["nodeSelector"]


@dataclass(frozen=True, slots=True)
class QueueAdmission:
    """
    What the queue says of a job.

    Attributes
    ----------
        is_admitted: whether its pods may run; while not, the job is suspended whatever its spec says.
        note: why not, in a few words.
        pod_sets: what is merged into the pods, by replica type in lower case. One that is not named was not
            admitted: its pods are not made.
    """

    is_admitted: bool
    note: str = ""
    pod_sets: Mapping[str, PodSetInfo] = field(default_factory=dict)


def pod_set_infos(workload: WorkloadView, flavors: Mapping[str, FlavorView]) -> dict[str, PodSetInfo]:
    """
    By pod set, what the admitted *workload* adds to pods.

    Raises SchemaError where flavors and checks contradict each other, and KeyError for a flavor that is not
    there.
    """
    admission = workload.status.admission
    if admission is None:
        return {}
    labels = {"kueue.x-k8s.io/local-queue-name": workload.spec.queue_name}
    if len(admission.cluster_queue) <= MAX_NAME:  # no longer one can be a label's value
        labels["kueue.x-k8s.io/cluster-queue-name"] = admission.cluster_queue
    return {each.name: _info(workload, each, flavors, labels) for each in admission.pod_set_assignments}


def _info(
    workload: WorkloadView,
    assignment: Assignment,
    flavors: Mapping[str, FlavorView],
    queue_labels: Mapping[str, str],
) -> PodSetInfo:
    labels = {**queue_labels, "kueue.x-k8s.io/podset": assignment.name}
    annotations = {"kueue.x-k8s.io/workload": workload.name}
    selector: dict[str, str] = {}
    tolerations: list[Mapping[str, Any]] = []
    for name in dict.fromkeys(assignment.flavors.values()):
        spec = flavors[name].spec
        selector.update(spec.node_labels)
        tolerations += [each for each in spec.tolerations if each not in tolerations]
    for check in workload.status.admission_checks:
        for update in check.pod_set_updates:
            if update.name == assignment.name:
                _merge(labels, update.labels, "label")
                _merge(annotations, update.annotations, "annotation")
                _merge(selector, update.node_selector, "nodeSelector")
                tolerations += [each for each in update.tolerations if each not in tolerations]
    gates = ({"name": GATE_TOPOLOGY},) if assignment.topology_assignment is not None else ()
    return PodSetInfo(labels, annotations, selector, tuple(tolerations), gates)


def _merge(into: dict[str, Any], more: Mapping[str, str], what: str) -> None:
    for key, value in more.items():
        if into.setdefault(key, value) != value:
            raise SchemaError(f"{what} {key} is {into[key]!r} and cannot be {value!r}, as the queue wants")


def _append(spec: dict[str, Any], key: str, more: tuple[Mapping[str, Any], ...]) -> None:
    if not more:
        return
    listed = set_default(spec, key, list, f"spec.{key}")
    listed += [copy.deepcopy(dict(each)) for each in more if each not in listed]
