# SPDX-License-Identifier: Apache-2.0
"""What a job's controller writes into the status of its Workload, as merge patches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.common.kueue.names import WorkloadCondition
from dglop.common.reasons import ConditionType
from dglop.runtime.api.times import format_time, parse_time

if TYPE_CHECKING:
    from datetime import datetime

    from dglop.common.draft import Draft, Role
    from dglop.common.kueue.views import WorkloadView

__all__ = ("finish", "progress_of", "reclaimable", "released")

_LONGEST = 32768
_WAIT_FOR_START = (False, "WaitForStart", "Not all pods are ready or succeeded")
_AGAIN_AT_ONCE = ("Preempted", "NodeFailures")
"""Evictions after which a Workload may be let in again as soon as there is room."""


def finish(workload: WorkloadView, reason: str, message: str, now: datetime) -> dict[str, Any]:
    """The job is over: its quota is free, whatever becomes of its pods."""
    conditions = _Conditions(workload, now)
    conditions.set(WorkloadCondition.FINISHED, True, reason, message)
    return {"conditions": conditions.listed}


def released(workload: WorkloadView, now: datetime) -> dict[str, Any] | None:
    """The quota of an evicted Workload is given back, now that no pod uses it; None where it was before."""
    if not workload.is_true(WorkloadCondition.QUOTA_RESERVED) and workload.status.admission is None:
        return None
    evicted = workload.condition(WorkloadCondition.EVICTED) or {}
    reason, message = str(evicted.get("reason", "Evicted")), str(evicted.get("message", ""))
    conditions = _Conditions(workload, now)
    conditions.set(WorkloadCondition.REQUEUED, reason in _AGAIN_AT_ONCE, reason, message)
    conditions.set(WorkloadCondition.QUOTA_RESERVED, False, "Pending", message)
    patch: dict[str, Any] = {"conditions": conditions.listed, "admission": None}
    admitted = workload.condition(WorkloadCondition.ADMITTED)
    if admitted and admitted.get("status") == "True":
        unready = any(each.state != "Ready" for each in workload.status.admission_checks)
        why = "NoReservationUnsatisfiedChecks" if unready else "NoReservation"
        said = "The workload has no reservation" + (" and not all checks ready" if unready else "")
        conditions.set(WorkloadCondition.ADMITTED, False, why, said)
        since = parse_time(str(admitted["lastTransitionTime"]))
        past = workload.status.accumulated_past_execution_time_seconds
        patch["accumulatedPastExecutionTimeSeconds"] = past + max(0, int((now - since).total_seconds()))
    if workload.is_true(WorkloadCondition.PODS_READY):
        conditions.set(WorkloadCondition.PODS_READY, *_WAIT_FOR_START)
    return patch


def progress_of(
    draft: Draft, workload: WorkloadView, *, is_admitted: bool, is_remote: bool = False
) -> dict[str, Any] | None:
    """Whether the pods run and which of them need no quota any more; None where that is written."""
    patch: dict[str, Any] = {}
    wanted = _pods_ready(draft, workload, is_admitted=is_admitted)
    seen = workload.condition(WorkloadCondition.PODS_READY) or {}
    if wanted and (seen.get("status"), seen.get("reason")) != (_word(wanted[0]), wanted[1]):
        conditions = _Conditions(workload, draft.now)
        conditions.set(WorkloadCondition.PODS_READY, *wanted)
        patch["conditions"] = conditions.listed
    if not is_remote:
        free = reclaimable(draft, workload)
        if free != {each.name: each.count for each in workload.status.reclaimable_pods}:
            patch["reclaimablePods"] = [{"name": name, "count": count} for name, count in free.items()]
    return patch or None


def reclaimable(draft: Draft, workload: WorkloadView) -> dict[str, int]:
    """
    How many pods of each pod set have done their work for good.

    In a gang only roles that outlive its restarts have: all others would need their quota again. While quota
    is reserved a number never falls, as Kueue demands.
    """
    free = {name.lower(): len(_done(draft, role)) for name, role in draft.roles.items()}
    if workload.is_true(WorkloadCondition.QUOTA_RESERVED):
        for each in workload.status.reclaimable_pods:
            free[each.name] = max(free.get(each.name, 0), each.count)
    known = {each.name for each in workload.spec.pod_sets}
    return {name: count for name, count in free.items() if count and name in known}


def _done(draft: Draft, role: Role) -> set[int]:
    if draft.is_gang and not role.is_kept:
        return set()
    return role.completed


def _pods_ready(draft: Draft, workload: WorkloadView, *, is_admitted: bool) -> tuple[bool, str, str] | None:
    """The condition PodsReady: status, reason, message; None where there is none to write yet."""
    seen = workload.condition(WorkloadCondition.PODS_READY)
    if not is_admitted:
        return _WAIT_FOR_START if seen else None
    recovers = seen is not None and seen.get("reason") in ("WaitForRecovery", "Recovered")
    if draft.job.status.is_true(ConditionType.RUNNING):
        text = "All pods reached readiness and the workload is running"
        return True, "Recovered" if recovers else "Started", text
    was_ready = seen is not None and seen.get("status") == "True"
    if was_ready or (seen is not None and seen.get("reason") == "WaitForRecovery"):
        return False, "WaitForRecovery", "At least one pod has failed, waiting for recovery"
    return _WAIT_FOR_START


def _word(value: bool) -> str:
    return "True" if value else "False"


class _Conditions:
    """The conditions of a Workload, to be changed and written back as a whole."""

    def __init__(self, workload: WorkloadView, now: datetime) -> None:
        self.listed = [dict(each) for each in workload.status.conditions]
        self._generation = workload.metadata.generation
        self._now = now

    def set(self, type_: WorkloadCondition, value: bool, reason: str, message: str) -> None:
        """Set one condition; its time changes with its status only."""
        found = next((each for each in self.listed if each.get("type") == type_), None)
        if found is None:
            found = {"type": str(type_)}
            self.listed.append(found)
        if found.get("status") != _word(value):
            found["lastTransitionTime"] = format_time(self._now)
        found["status"], found["reason"], found["message"] = _word(value), reason, message[:_LONGEST]
        found["observedGeneration"] = self._generation
