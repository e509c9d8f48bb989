# SPDX-License-Identifier: Apache-2.0
"""What a plan asks the shell to do, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from datetime import timedelta

    from dglop.common.types import JobStatus
    from dglop.runtime.api import Resource

__all__ = (
    "Counter",
    "CreatePod",
    "DeleteGroup",
    "DeletePod",
    "DeleteService",
    "JobEvent",
    "Plan",
    "WriteGroup",
)


class Counter(StrEnum):
    """A metric that a plan raises by one, as training_operator_jobs_<value>_total."""

    CREATED = "created"
    SUCCESSFUL = "successful"
    FAILED = "failed"
    RESTARTED = "restarted"


@dataclass(frozen=True, slots=True)
class CreatePod:
    """One pod that is missing."""

    role: str
    index: int
    manifest: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])


@dataclass(frozen=True, slots=True)
class DeletePod:
    """One pod whose time is over; `role` is the label's, in lower case."""

    role: str
    name: str
    uid: str
    grace_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class DeleteService:
    """One Service that goes with its pod, or with the job's suspension."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class WriteGroup:
    """One PodGroup that is missing, or with a uid one whose fields have to follow the job."""

    resource: Resource
    manifest: dict[str, Any]
    uid: str = ""

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])


@dataclass(frozen=True, slots=True)
class DeleteGroup:
    """One PodGroup that nothing is scheduled by any more."""

    resource: Resource
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One event, sent after the status was written.

    The action `Wait` marks what keeps pods from running: only what the status says of that is told.
    """

    reason: str
    note: str
    type: Literal["Normal", "Warning"] = "Normal"
    action: str = "Reconcile"


@dataclass(frozen=True, slots=True)
class Plan:
    """
    All that follows from one look at a job.

    `objects` are manifests that must exist before the pods; they carry the owner reference already. Under
    `recheck` those that were made before are asked for again: a pod has waited for long.
    `requeue_after` is the time until the plan would be another without any event; zero means at once,
    after the status was written. `warning` is for the operator's log: nobody but its owner can mend it.
    """

    status: JobStatus
    creates: tuple[CreatePod, ...] = ()
    objects: tuple[dict[str, Any], ...] = ()
    recheck: bool = False
    services: tuple[dict[str, Any], ...] = ()
    groups: tuple[WriteGroup, ...] = ()
    delete_pods: tuple[DeletePod, ...] = ()
    delete_services: tuple[DeleteService, ...] = ()
    delete_groups: tuple[DeleteGroup, ...] = ()
    delete_job: bool = False
    events: tuple[JobEvent, ...] = ()
    counters: tuple[Counter, ...] = ()
    requeue_after: timedelta | None = None
    warning: str = ""
