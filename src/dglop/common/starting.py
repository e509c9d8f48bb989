# SPDX-License-Identifier: Apache-2.0
"""How a job begins: its first sync, its start, its suspension and its return."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from dglop.common.actions import Counter, DeleteService
from dglop.common.conditions import is_finished
from dglop.common.draft import AT_ONCE
from dglop.common.gang.settle import drop_groups
from dglop.common.reasons import ConditionType, Reason
from dglop.common.validation import other_schedulers, problems_of, restart_policy_overrides

if TYPE_CHECKING:
    from dglop.common.draft import Draft
    from dglop.common.kind import JobKind

__all__ = ("begin", "fail", "hold_unadmitted", "is_foreign", "new_attempt", "note_change", "start", "suspend")


def is_foreign(job: Any, kind: JobKind[Any]) -> bool:
    """Whether another controller runs the job, as under MultiKueue: then nothing of it is touched."""
    return job.spec.run_policy.managed_by not in (None, "", kind.managed_by)


def begin(draft: Draft) -> None:
    """What holds from the first sync on: the Created condition and attempt 1."""
    status = draft.status
    status.observed_generation = draft.job.generation or status.observed_generation
    status.attempt = status.attempt or 1
    if status.get(ConditionType.CREATED) is None:
        note = f"{draft.job.kind} {draft.job.name} is created"
        draft.conditions.created(note)
        draft.event(Reason.CREATED, note)
        draft.counters.append(Counter.CREATED)


def fail(draft: Draft, reason: Reason | str, message: str) -> None:
    """End the job as failed; its pods are cleaned by the plan that sees this written."""
    if is_finished(draft.status):
        return
    draft.conditions.failed(reason, message)
    draft.event(reason, message, warning=True)
    draft.counters.append(Counter.FAILED)


def start(draft: Draft) -> bool:
    """Start or resume the job; False where its spec cannot be run, which has then ended it."""
    status, job = draft.status, draft.job
    resumed = status.is_true(ConditionType.SUSPENDED)
    if status.start_time is not None and not resumed:
        return True
    problems = problems_of(draft)
    if problems:
        fail(draft, Reason.INVALID_SPEC, "; ".join(problems))
        return False
    if resumed:
        note = f"{job.kind} {job.name} is resumed"
        draft.conditions.resumed(note)
        draft.event(Reason.RESUMED, note)
    if status.start_time is None:
        _warn(draft)
    status.start_time = draft.now
    status.attempt_start_time = draft.now
    status.observed_spec_hash = _spec_hash(job)
    return True


def _warn(draft: Draft) -> None:
    """Tell what of the spec does not mean what it seems to."""
    overridden = restart_policy_overrides(draft)
    if overridden:
        draft.event(
            Reason.POD_RESTART_POLICY,
            f"restartPolicy in the template of {', '.join(overridden)} is replaced by the replica spec's",
            warning=True,
        )
    elsewhere = other_schedulers(draft)
    if elsewhere:
        draft.event(
            Reason.POD_SCHEDULER_NAME,
            f"the template of {', '.join(elsewhere)} names a scheduler of its own: its pods are in a group "
            "that this one does not know",
            warning=True,
        )
    if draft.policy.scheduling_policy and not (draft.observed.gang or draft.observed.admission):
        draft.event(
            Reason.SCHEDULING_POLICY_IGNORED,
            "runPolicy.schedulingPolicy changes nothing: the operator runs without --gang-scheduler",
            warning=True,
        )


def note_change(draft: Draft) -> None:
    """Tell, once a change, that the spec of a running job was changed: its pods stay as they are."""
    job, status = draft.job, draft.status
    if job.generation == job.status.observed_generation or not status.observed_spec_hash:
        return
    present = _spec_hash(job)
    if present != status.observed_spec_hash:
        status.observed_spec_hash = present
        draft.event(
            Reason.SPEC_CHANGE_IGNORED,
            "the spec was changed while the job runs: its pods stay as they are, and only those of a later "
            "attempt are made from it; suspend and resume the job to have it now",
            warning=True,
        )


def _spec_hash(job: Any) -> str:
    """Hash of what pods are made from: runPolicy is followed at any time and is no part of it."""
    spec = {key: value for key, value in job.to_wire()["spec"].items() if key != "runPolicy"}
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]


def suspend(draft: Draft) -> None:
    """Write down the suspension first; then delete all pods and Services, whatever cleanPodPolicy says."""
    status, job = draft.status, draft.job
    admission = draft.observed.admission
    why = f": {admission.note}" if admission and admission.note else ""
    note = f"{job.kind} {job.name} is suspended{why}"
    if why or not status.is_true(ConditionType.SUSPENDED):
        draft.conditions.suspended(note)  # again, since a queue may say something else by now
    if not draft.job.status.is_true(ConditionType.SUSPENDED):
        draft.event(Reason.SUSPENDED, note)
        if status.start_time is not None:
            new_attempt(draft)
        for role in draft.roles.values():
            role.created.clear()  # all pods go, those of kept roles too, and none of them is missed
        gang = draft.observed.gang
        if draft.observed.pods or draft.observed.services or (gang and gang.groups):
            draft.wake(AT_ONCE)
        return
    for pod in draft.observed.pods:
        draft.delete(pod)
    for service in draft.observed.services:
        draft.delete_services.append(DeleteService(service.name, service.uid))
    drop_groups(draft)


def hold_unadmitted(draft: Draft) -> None:
    """Make no pods of replica types that the queue has not let in, such as one that was added since."""
    admission = draft.observed.admission
    if admission is not None:
        draft.held.update(name for name in draft.roles if name.lower() not in admission.pod_sets)


def new_attempt(draft: Draft) -> None:
    """Turn to the next attempt: what the pods of this one still do no longer counts.

    The kubelet's restarts of their containers are kept in `restarts`, since they go with the pods.
    """
    status = draft.status
    status.restart_count = max(status.restart_count, status.restarts + draft.live_restarts())
    status.restarts = status.restart_count
    status.attempt += 1
    status.attempt_start_time = draft.now
    for role in draft.roles.values():
        if role.is_kept:
            continue
        role.created.clear()
        if draft.is_gang:
            role.completed.clear()
