# SPDX-License-Identifier: Apache-2.0
"""What follows from a job in a queue and its Workload: no I/O and no clock."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from dglop.common.actions import JobEvent
from dglop.common.conditions import is_finished
from dglop.common.draft import Draft
from dglop.common.kueue.manifest import changed_spec, prebuilt_name, queue_name, workload_manifest
from dglop.common.kueue.names import ANNOTATION_POD_SETS, WorkloadCondition
from dglop.common.kueue.podsetinfo import QueueAdmission, pod_set_infos
from dglop.common.kueue.podsets import pod_sets_hash
from dglop.common.kueue.status import finish, progress_of, released
from dglop.common.pods import pod_manifest
from dglop.common.reasons import ConditionType
from dglop.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from dglop.common.kind import JobKind
    from dglop.common.kueue.manifest import Priority
    from dglop.common.kueue.views import FlavorView, WorkloadView
    from dglop.common.observed import Observed

__all__ = ("QueuePlan", "QueueSeen", "queue_plan")

FAILED_TO_START: Final = "FailedToStart"


@dataclass(frozen=True, slots=True)
class QueueSeen:
    """
    What the cache shows of a job's place in the queue.

    Attributes
    ----------
        workloads: those that the job controls, and the one that its label names.
        flavors: every ResourceFlavor, by name; none where no Workload is admitted.
        priority: what the job's priority class is worth, where a Workload has to say it.
        is_settled: whether the cache shows the job's own last writes of Workloads.
    """

    workloads: tuple[WorkloadView, ...] = ()
    flavors: Mapping[str, FlavorView] = field(default_factory=dict)
    priority: Priority | None = None
    is_settled: bool = True


@dataclass(frozen=True, slots=True)
class QueuePlan:
    """
    What to do; at most one of the writes of a Workload is there.

    Attributes
    ----------
        admission: what the plan of the job's children has to know; None for a job that is in no queue.
        suspend: what runPolicy.suspend has to become; None where it is right.
        create: the Workload that is missing.
        delete: Workloads that the job has no use for.
        workload: the one that the two patches are for, at the version that they were decided on.
        again: whether only time helps, as when a flavor is not there.
    """

    admission: QueueAdmission | None = None
    suspend: bool | None = None
    create: dict[str, Any] | None = None
    delete: tuple[WorkloadView, ...] = ()
    workload: WorkloadView | None = None
    patch: dict[str, Any] | None = None
    status_patch: dict[str, Any] | None = None
    events: tuple[JobEvent, ...] = ()
    again: bool = False


def queue_plan(
    job: Any,
    seen: QueueSeen,
    observed: Observed,
    now: datetime,
    kind: JobKind[Any],
    *,
    is_remote: bool = False,
) -> QueuePlan:
    """
    What to do about the queue that *job* is in; the job itself is not changed.

    Guarantees: no quota is given back while a pod that uses it may run, and none is used before it was
    given. *is_remote* is a job that another cluster runs, of which only status and quota are here.
    Raises SchemaError for a spec that no pod can be built from: such a job never enters a queue.
    """
    present = [each for each in seen.workloads if not each.is_terminating]
    reserved = [each for each in present if _has_quota(each) and not _is_over(each)]
    if not queue_name(job) and not reserved:
        return QueuePlan(delete=tuple(each for each in present if not _is_over(each)))
    if is_finished(job.status):
        return _finished(job, present, now)
    draft = Draft.of(job, observed, now, kind)
    turn = _Turn(draft, seen, is_idle=_is_idle(job, observed, is_remote=is_remote), is_remote=is_remote)
    return turn.decide(present)


def _has_quota(workload: WorkloadView) -> bool:
    return workload.is_true(WorkloadCondition.QUOTA_RESERVED)


def _is_over(workload: WorkloadView) -> bool:
    return workload.is_true(WorkloadCondition.FINISHED)


def _finished(job: Any, present: list[WorkloadView], now: datetime) -> QueuePlan:
    admission = QueueAdmission(is_admitted=True)  # a job that is over is not suspended
    open_ = next((each for each in present if not _is_over(each)), None)
    if open_ is None:
        return QueuePlan(admission)
    success = job.status.is_true(ConditionType.SUCCEEDED)
    end = job.status.get(ConditionType.SUCCEEDED if success else ConditionType.FAILED)
    patch = finish(open_, "Succeeded" if success else "Failed", end.message, now)
    event = JobEvent("FinishedWorkload", f"Workload {open_.name} is declared finished")
    return QueuePlan(admission, workload=open_, status_patch=patch, events=(event,))


def _is_idle(job: Any, observed: Observed, *, is_remote: bool) -> bool:
    """Whether no pod uses the job's quota, and that is written down where it once ran."""
    if is_remote:
        return True
    gone = not observed.unsettled and all(pod.is_over for pod in observed.pods)
    return gone and (job.status.start_time is None or job.status.is_true(ConditionType.SUSPENDED))


@dataclass(slots=True)
class _Turn:
    """One decision about a job that is in a queue and not over."""

    draft: Draft
    seen: QueueSeen
    is_idle: bool
    is_remote: bool

    def decide(self, present: list[WorkloadView]) -> QueuePlan:
        wanted, match = pod_sets_hash(self.draft), prebuilt_name(self.draft.job)
        fits = [
            each
            for each in present
            if (each.name == match if match else each.metadata.annotations.get(ANNOTATION_POD_SETS) == wanted)
        ]
        if fits:
            others = tuple(each for each in present if each is not fits[0])
            return replace(self._with(fits[0]), delete=others)
        stale = next((each for each in present if not _has_quota(each) and not _is_over(each)), None)
        if stale is not None and self.seen.is_settled and not match:
            note = f"it waits in queue {queue_name(self.draft.job)} with other pods than before"
            event = JobEvent(
                "UpdatedWorkload", f"Updated Workload {stale.name}: the job's pods are others now"
            )
            patch = changed_spec(self.draft, self.seen.priority, pods=True)
            return replace(self._stopped(note), workload=stale, patch=patch, events=(event,))
        return self._without(present, prebuilt=match)

    def _stopped(self, note: str, *, told: str = "") -> QueuePlan:
        """The job is to be suspended; *told* is the event's text where it runs."""
        open_, status = not self.draft.policy.suspend, self.draft.job.status
        runs = open_ and status.start_time is not None and not status.is_true(ConditionType.SUSPENDED)
        events = (JobEvent("Stopped", told),) if runs and told else ()
        return QueuePlan(QueueAdmission(False, note), suspend=True if open_ else None, events=events)

    def _without(self, present: list[WorkloadView], *, prebuilt: str) -> QueuePlan:
        """No Workload fits: the job stops, and is queued as it is now when its last pod is gone."""
        queue = queue_name(self.draft.job)
        stopped = self._stopped(
            f"it waits in queue {queue}", told="No Workload fits the job: it is queued anew"
        )
        if not self.is_idle or not self.seen.is_settled:
            return stopped
        if present:
            return replace(stopped, delete=tuple(present))
        if prebuilt:
            return replace(stopped, again=True)
        made = workload_manifest(self.draft, self.seen.priority)
        created = JobEvent("CreatedWorkload", f"Created Workload {made['metadata']['name']}")
        return replace(stopped, create=made, events=(*stopped.events, created))

    def _with(self, workload: WorkloadView) -> QueuePlan:
        if not workload.controlled_by(self.draft.job.uid):
            return self._adopt(workload)
        if _is_over(workload):
            said = workload.message(WorkloadCondition.FINISHED)
            return self._stopped(f"Workload {workload.name} is over: {said}", told=said)
        if workload.is_true(WorkloadCondition.EVICTED):
            return self._evicted(workload)
        if workload.is_true(WorkloadCondition.ADMITTED):
            return self._admitted(workload)
        return self._pending(workload)

    def _adopt(self, workload: WorkloadView) -> QueuePlan:
        """One that was made beforehand, as MultiKueue does, becomes the job's own."""
        stopped = self._stopped(f"it waits for Workload {workload.name}")
        if workload.is_controlled:
            return replace(stopped, again=True)
        owner = workload_manifest(self.draft, None)["metadata"]["ownerReferences"]
        body = {"metadata": {"ownerReferences": [*workload.metadata.owner_references, *owner]}}
        return replace(stopped, workload=workload, patch=body)

    def _evicted(self, workload: WorkloadView) -> QueuePlan:
        said = workload.message(WorkloadCondition.EVICTED)
        stopped = self._stopped(f"Workload {workload.name} was evicted: {said}", told=said)
        if not self.is_idle:
            return stopped
        return replace(stopped, workload=workload, status_patch=released(workload, self.draft.now))

    def _pending(self, workload: WorkloadView) -> QueuePlan:
        queue = workload.spec.queue_name
        why = workload.message(WorkloadCondition.QUOTA_RESERVED)
        note = f"it waits in queue {queue} as Workload {workload.name}{': ' if why else ''}{why}"
        stopped = self._stopped(note, told=f"Not admitted by queue {queue}")
        patch = None if prebuilt_name(self.draft.job) else self._follow(workload)
        progress = progress_of(self.draft, workload, is_admitted=False)
        return replace(stopped, workload=workload, patch=patch, status_patch=None if patch else progress)

    def _follow(self, workload: WorkloadView) -> dict[str, Any] | None:
        """Queue and priority as the job says now, while nothing is reserved."""
        priority = self.seen.priority
        moved = workload.spec.queue_name != queue_name(self.draft.job)
        changed = priority is not None and priority.name != workload.spec.priority_class_ref.name
        if _has_quota(workload) or not (moved or changed):
            return None
        return changed_spec(self.draft, priority, pods=False)

    def _admitted(self, workload: WorkloadView) -> QueuePlan:
        try:
            infos = pod_set_infos(workload, self.seen.flavors)
            admission = QueueAdmission(is_admitted=True, pod_sets=infos)
            if self.draft.policy.suspend:
                self._check(admission)
        except KeyError as missing:
            note = f"ResourceFlavor {missing.args[0]} is not there"
            if self.draft.policy.suspend:
                return replace(self._stopped(note), again=True)
            return QueuePlan(QueueAdmission(is_admitted=True, note=note), again=True)
        except SchemaError as problem:
            stopped = self._stopped(f"it cannot be started: {problem}", told=str(problem))
            patch = finish(workload, FAILED_TO_START, str(problem), self.draft.now)
            return replace(stopped, workload=workload, status_patch=patch) if self.is_idle else stopped
        progress = progress_of(self.draft, workload, is_admitted=True, is_remote=self.is_remote)
        plan = QueuePlan(admission, workload=workload, status_patch=progress)
        if not self.draft.policy.suspend:
            return plan
        queue = workload.status.admission.cluster_queue if workload.status.admission else ""
        event = JobEvent("Started", f"Admitted by clusterQueue {queue}")
        return replace(plan, suspend=False, events=(event,))

    def _check(self, admission: QueueAdmission) -> None:
        """Whether the pods can be built with what the queue adds."""
        for role in self.draft.roles.values():
            if role.wanted and not self.is_remote:
                observed = replace(self.draft.observed, admission=admission)
                pod_manifest(replace(self.draft, observed=observed), role, 0)
