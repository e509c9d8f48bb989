# SPDX-License-Identifier: Apache-2.0
"""The few fields of Workloads and ResourceFlavors that are read."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - msgspec reads the annotations
from typing import Any

import msgspec

__all__ = ("Admission", "Assignment", "FlavorView", "Labelled", "WorkloadMeta", "WorkloadView")


class Labelled(msgspec.Struct, frozen=True):
    """A reference or an entry by its name."""

    name: str = ""


class ClassRef(msgspec.Struct, frozen=True):
    """The class that a Workload's priority comes from."""

    name: str = ""
    kind: str = ""


class WorkloadMeta(msgspec.Struct, frozen=True, rename="camel"):
    """The part of the metadata that is read."""

    name: str
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    annotations: dict[str, str] = {}
    deletion_timestamp: datetime | None = None
    owner_references: tuple[dict[str, Any], ...] = ()


class WorkloadSpec(msgspec.Struct, frozen=True, rename="camel"):
    """The part of the spec that is read."""

    queue_name: str = ""
    priority_class_ref: ClassRef = ClassRef()
    pod_sets: tuple[Labelled, ...] = ()


class Assignment(msgspec.Struct, frozen=True, rename="camel"):
    """Which flavors a pod set was given, by resource."""

    name: str = "main"
    flavors: dict[str, str] = {}
    topology_assignment: dict[str, Any] | None = None


class Admission(msgspec.Struct, frozen=True, rename="camel"):
    """By which ClusterQueue a Workload was let in, and with what."""

    cluster_queue: str = ""
    pod_set_assignments: tuple[Assignment, ...] = ()


class PodSetUpdate(msgspec.Struct, frozen=True, rename="camel"):
    """What an admission check adds to the pods of a pod set."""

    name: str
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    node_selector: dict[str, str] = {}
    tolerations: tuple[dict[str, Any], ...] = ()


class AdmissionCheck(msgspec.Struct, frozen=True, rename="camel"):
    """One admission check's state."""

    name: str
    state: str = ""
    message: str = ""
    pod_set_updates: tuple[PodSetUpdate, ...] = ()


class ReclaimablePods(msgspec.Struct, frozen=True):
    """How many pods of a pod set need no quota any more."""

    name: str
    count: int


class WorkloadStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The part of the status that is read; conditions are kept whole, since the list is written back."""

    conditions: tuple[dict[str, Any], ...] = ()
    admission: Admission | None = None
    admission_checks: tuple[AdmissionCheck, ...] = ()
    reclaimable_pods: tuple[ReclaimablePods, ...] = ()
    accumulated_past_execution_time_seconds: int = 0


class WorkloadView(msgspec.Struct, frozen=True):
    """A Workload as the decision sees it."""

    metadata: WorkloadMeta
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def is_terminating(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    def condition(self, type_: str) -> dict[str, Any] | None:
        return next((each for each in self.status.conditions if each.get("type") == type_), None)

    def is_true(self, type_: str) -> bool:
        found = self.condition(type_)
        return found is not None and found.get("status") == "True"

    def message(self, type_: str) -> str:
        """What a condition says; "" where there is none."""
        return str((self.condition(type_) or {}).get("message", ""))

    def controlled_by(self, uid: str) -> bool:
        return any(
            each.get("controller") and each.get("uid") == uid for each in self.metadata.owner_references
        )

    @property
    def is_controlled(self) -> bool:
        return any(each.get("controller") for each in self.metadata.owner_references)


class FlavorSpec(msgspec.Struct, frozen=True, rename="camel"):
    """What a flavor says of its nodes."""

    node_labels: dict[str, str] = {}
    tolerations: tuple[dict[str, Any], ...] = ()


class FlavorView(msgspec.Struct, frozen=True):
    """A ResourceFlavor."""

    metadata: Labelled
    spec: FlavorSpec = FlavorSpec()
