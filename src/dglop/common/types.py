# SPDX-License-Identifier: Apache-2.0
"""What every job kind has on the wire: RunPolicy, ReplicaSpec and JobStatus."""

from enum import StrEnum
from typing import Self

from pydantic import Field

from dglop.runtime.api.markers import CEL, Quantity, Raw
from dglop.runtime.api.spec import Spec, Status
from dglop.runtime.api.times import Time

__all__ = (
    "CleanPodPolicy",
    "JobSpec",
    "JobStatus",
    "LastFailure",
    "ReplicaSpec",
    "ReplicaStatus",
    "RestartPolicy",
    "RunPolicy",
    "SchedulingPolicy",
)


_DNS = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"


class CleanPodPolicy(StrEnum):
    """Which pods go when the job is over."""

    ALL = "All"
    RUNNING = "Running"
    NONE = "None"


class RestartPolicy(StrEnum):
    """What follows a failure of a replica."""

    ALWAYS = "Always"
    ON_FAILURE = "OnFailure"
    NEVER = "Never"
    EXIT_CODE = "ExitCode"


class SchedulingPolicy(Spec):
    """How the pods of a job are scheduled together."""

    min_available: int | None = Field(default=None, ge=1)
    """How many pods must fit at once; all by default."""
    queue: str | None = Field(default=None, max_length=253, pattern=_DNS)
    """The queue of the gang scheduler, where it has queues. Immutable."""
    min_resources: dict[str, Quantity] | None = Field(default=None, max_length=64)
    """What must be free at once; the pods' requests by default."""
    priority_class: str | None = Field(default=None, max_length=253, pattern=_DNS)
    """The PriorityClass of the group."""
    schedule_timeout_seconds: int | None = Field(default=None, ge=0, le=2**31 - 1)
    """How long the group may wait to be scheduled."""


def _queue(policy: str) -> str:
    """In a rule: the queue that this runPolicy names, or none; the parts on the way to it may be absent."""
    stated = f"has({policy}.schedulingPolicy) && has({policy}.schedulingPolicy.queue)"
    return f"({stated} ? {policy}.schedulingPolicy.queue : '')"


class RunPolicy(
    Spec,
    rules=(
        CEL(
            "has(self.managedBy) == has(oldSelf.managedBy) && "
            "(!has(self.managedBy) || self.managedBy == oldSelf.managedBy)",
            "managedBy cannot be changed",
        ),
        CEL(f"{_queue('self')} == {_queue('oldSelf')}", "schedulingPolicy.queue cannot be changed"),
        CEL(
            "self.suspend || oldSelf.suspend || !has(self.activeDeadlineSeconds) || "
            "(has(oldSelf.activeDeadlineSeconds) && "
            "self.activeDeadlineSeconds >= oldSelf.activeDeadlineSeconds)",
            "activeDeadlineSeconds can only be raised or taken away, unless the job is suspended",
        ),
    ),
):
    """How a job runs, restarts and ends."""

    clean_pod_policy: CleanPodPolicy | None = None
    """Which pods are deleted when the job is over: All, Running (Pending too) or None."""
    ttl_seconds_after_finished: int | None = Field(default=None, ge=0, le=2**31 - 1)
    """The job is deleted so long after its end; never by default."""
    active_deadline_seconds: int | None = Field(default=None, ge=1)
    """The job fails when it has been active for longer; a resumed job starts to count anew. While the job
    runs, it can only be raised or taken away."""
    backoff_limit: int | None = Field(default=None, ge=0, le=2**31 - 1)
    """How many restarts are allowed: with 2, the third failure fails the job."""
    suspend: bool = False
    """A suspended job has no pods."""
    managed_by: str | None = Field(default=None, max_length=63)
    """Who runs the job; this operator where nothing is said. Immutable."""
    scheduling_policy: SchedulingPolicy | None = None
    """Gang scheduling."""
    start_deadline_seconds: int | None = Field(default=None, ge=1)
    """The job fails when a pod has not started any container for so long."""
    progress_deadline_seconds: int | None = Field(default=None, ge=1)
    """The attempt ends as retryable when it neither starts nor reports progress for so long."""
    pod_force_delete_after_seconds: int | None = Field(default=None, ge=0)
    """A pod that is still there so long after its grace period is deleted by force, as when its node is
    lost. Two pods may then run for a while as one replica; unset, nothing is forced."""
    disruption_limit: int | None = Field(default=None, ge=0)
    """How many disruptions (eviction, preemption) are allowed; any number by default."""


class ReplicaSpec(Spec):
    """One type of replica: how many pods, made from which template."""

    replicas: int = Field(default=1, ge=0, le=1000)
    """How many pods."""
    restart_policy: RestartPolicy | None = None
    """What follows a failure; under ExitCode 1-127 is final and from 128 on is tried again."""
    template: Raw = Field(default_factory=dict)
    """The pod template, kept as written."""


class JobSpec(Spec):
    """The base of a job kind's spec."""

    run_policy: RunPolicy = Field(default_factory=RunPolicy, json_schema_extra={"default": {}})
    """How the job runs, restarts and ends."""


class ReplicaStatus(Spec):
    """Counts of one replica type; its size does not grow with the number of pods."""

    active: int = 0
    """Pods that run."""
    succeeded: int = 0
    """Replicas that have finished their work, also after the job's end; a pod that serves on is one."""
    failed: int = 0
    """Pods that failed."""
    pending: int = 0
    """Pods that do not run yet."""
    terminating: int = 0
    """Pods that are being deleted: neither active nor failed."""
    ready: str = ""
    """How many are ready or done, of how many: 1/2."""
    selector: str = ""
    """The label selector of the pods."""
    completed_indexes: str = ""
    """Indexes whose work is done, as ranges: 0-2,5."""
    created_indexes: str = ""
    """Indexes whose pod was seen in the present attempt, as ranges; one that is missing was deleted."""


class LastFailure(Spec):
    """The failure that the last restart, or the job's end, came from."""

    pod_name: str = ""
    replica_type: str = ""
    index: int | None = None
    process: str = ""
    """The process or container that failed."""
    exit_code: int | None = None
    signal: int | None = None
    reason: str = ""
    message: str = Field(default="", max_length=1024)
    """What it said last."""
    time: Time | None = None


class JobStatus(Status):
    """The base of a job kind's status."""

    reason: str = ""
    """Why the job does not run, as ImagePullBackOff, or why it has failed; empty while all goes well."""
    replica_statuses: dict[str, ReplicaStatus] = Field(default_factory=dict)
    """Counts by replica type."""
    start_time: Time | None = None
    """When the job was first, or last resumed, to run."""
    completion_time: Time | None = None
    """When it ended, for whatever reason."""
    attempt: int = 0
    """The present life of the gang, from 1; pods carry it as a label."""
    attempt_start_time: Time | None = None
    """When the present attempt was decided."""
    observed_spec_hash: str = Field(default="", max_length=16)
    """Hash of the spec, without runPolicy, that was last looked at: a later change is told in an event."""
    restarts: int = 0
    """Restarts up to the present attempt."""
    restart_count: int = 0
    """`restarts` and those that the kubelet made since; this is held against backoffLimit."""
    disruption_count: int = 0
    """Restarts that were not the job's fault; backoffLimit does not count them."""
    last_failure: LastFailure | None = None
    """The failure that the last restart, or the job's end, came from; it stays when the job succeeds."""

    def without_counts(self) -> Self:
        """A copy that lacks what only counts pods, and the words of conditions, which name them.

        Which replicas are done and which pods were seen are no counts: a pod may be gone before they are
        written. Once the job is over nothing is decided by them any more.
        """
        none = {"active": 0, "succeeded": 0, "failed": 0, "pending": 0, "terminating": 0, "ready": ""}
        if self.is_true("Succeeded") or self.is_true("Failed"):
            none |= {"completed_indexes": "", "created_indexes": ""}
        counts = {role: each.model_copy(update=none) for role, each in self.replica_statuses.items()}
        mute = [each.model_copy(update={"message": ""}) for each in self.conditions]
        return self.model_copy(update={"replica_statuses": counts, "conditions": mute})

    def without_progress(self) -> Self:
        """The same without which replicas are done and which pods were seen.

        Two that are alike tell of the same state: no condition, phase, attempt or failure is another.
        """
        found = self.without_counts()
        none = {"completed_indexes": "", "created_indexes": ""}
        counts = {role: each.model_copy(update=none) for role, each in found.replica_statuses.items()}
        return found.model_copy(update={"replica_statuses": counts})

    def replica(self, role: str) -> ReplicaStatus:
        """The counts of `role`, made where there are none."""
        return self.replica_statuses.setdefault(role, ReplicaStatus())
