# SPDX-License-Identifier: Apache-2.0
"""The plan: what follows from a job, what is seen of it and the time; no I/O and no clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.common.actions import Counter, JobEvent, Plan
from dglop.common.children import settle_children
from dglop.common.cleanup import clean_up, force_lost
from dglop.common.conditions import Conditions, is_finished
from dglop.common.counting import replica_status
from dglop.common.draft import AT_ONCE, Draft, controller_name
from dglop.common.ending import conclude, note_created, note_done, tally
from dglop.common.gang.settle import drop_groups, settle_groups
from dglop.common.kind import Gate
from dglop.common.names import role_selector
from dglop.common.reasons import ConditionType, Reason, is_own
from dglop.common.starting import begin, fail, hold_unadmitted, is_foreign, note_change, start, suspend
from dglop.common.waiting import waiting_reason
from dglop.errors import SchemaError

if TYPE_CHECKING:
    from datetime import datetime

    from dglop.common.draft import Role
    from dglop.common.kind import JobKind
    from dglop.common.observed import Observed

__all__ = ("Plan", "fail_plan", "plan")


def plan(job: Any, observed: Observed, now: datetime, kind: JobKind[Any]) -> Plan:
    """What to do about *job* now; the job itself is not changed.

    Guarantees: what ends an attempt or the job is status only, so that it is written before any pod is
    deleted for it. Terminal states are absorbing. The same arguments give the same plan.
    """
    if job.is_deleting or is_foreign(job, kind):
        return Plan(status=job.status)
    try:
        draft = Draft.of(job, observed, now, kind)
    except SchemaError as problem:
        return _without_roles(job, now, str(problem))
    begin(draft)
    try:
        _step(draft)
    except SchemaError as problem:
        _forget_children(draft)
        fail(draft, Reason.INVALID_SPEC, str(problem))
    return _finish(draft)


def fail_plan(job: Any, observed: Observed, now: datetime, kind: JobKind[Any], message: str) -> Plan:
    """The plan after the API server refused a child: the job ends as InvalidSpec in the server's words."""
    draft = Draft.of(job, observed, now, kind)
    begin(draft)
    if not draft.status.start_time:
        draft.status.start_time = draft.now
    fail(draft, Reason.INVALID_SPEC, message)
    return _finish(draft)


def _without_roles(job: Any, now: datetime, message: str) -> Plan:
    """The end of a job whose spec does not even tell its replicas."""
    status = job.status.model_copy(deep=True)
    if is_finished(status):
        return Plan(status=job.status)
    Conditions(job.kind, status, now.replace(microsecond=0)).failed(Reason.INVALID_SPEC, message)
    event = JobEvent(str(Reason.INVALID_SPEC), message[:1024], "Warning")
    return Plan(status=status, events=(event,), counters=(Counter.FAILED,))


def _step(draft: Draft) -> None:
    force_lost(draft)
    if is_finished(draft.status):
        note_done(draft)
        clean_up(draft)
        drop_groups(draft)
        return
    if draft.is_suspended:
        suspend(draft)
        return
    if not start(draft):
        return
    note_change(draft)
    tally(draft)
    if conclude(draft):
        return
    note_created(draft)
    _show_running(draft)
    if not draft.is_undecided:
        hold_unadmitted(draft)
        settle_groups(draft)
        settle_children(draft)


def _show_running(draft: Draft) -> None:
    deciding = [draft.roles[name] for name in draft.kind.deciding_roles(draft.job) if name in draft.roles]
    if _all_ready(draft, deciding) and _is_remade(draft):
        already = draft.status.is_true(ConditionType.RUNNING)
        note = f"{draft.job.kind} {draft.job.name} is running"
        if not already:
            draft.conditions.running(note)
            draft.event(Reason.RUNNING, note)
        return
    if draft.status.is_true(ConditionType.RUNNING):
        return
    pods = [pod for role in draft.roles.values() for pod in draft.current(role)]
    waits = waiting_reason(draft.job.name, pods, draft.now)
    if waits.again is not None:
        draft.wake(waits.again)
    running = draft.status.get(ConditionType.RUNNING)
    if waits.trouble:
        if waits.warns and draft.status.reason != waits.trouble[0]:
            draft.event(*waits.trouble, warning=True, action="Wait")  # once, however its words change
        draft.conditions.waiting(*waits.trouble)
    elif running is not None and not is_own(draft.job.kind, running.reason):
        draft.conditions.waiting(str(Reason.WAITING), "pods are on their way")


def _all_ready(draft: Draft, deciding: list[Role]) -> bool:
    wanted = sum(role.wanted for role in deciding)
    ready = sum(
        len({pod.index for pod in draft.current(role) if pod.is_ready} | role.completed) for role in deciding
    )
    return 0 < wanted <= ready


def _is_remade(draft: Draft) -> bool:
    """Whether each replica that was to be made anew is ready or done: it need not be one that decides."""
    restarting = draft.status.get(ConditionType.RESTARTING)
    if restarting is None or restarting.status != "True":
        return True
    since = restarting.last_transition_time
    for role in draft.roles.values():
        if role.is_kept or role.gate is not Gate.OPEN:
            continue
        pods = {pod.index: pod for pod in draft.current(role)}
        for index in set(range(role.wanted)) - role.completed:
            pod = pods.get(index)
            if pod is None:
                return False
            born = pod.metadata.creation_timestamp
            is_new = pod.attempt == draft.status.attempt or (born and since and born >= since)
            if is_new and not pod.is_ready and not pod.is_succeeded:
                return False
    return True


def _finish(draft: Draft) -> Plan:
    over = is_finished(draft.status)
    for name, role in draft.roles.items():
        before = draft.job.status.replica_statuses.get(name)
        draft.status.replica_statuses[name] = replica_status(
            role.remaining,
            wanted=role.wanted,
            completed=role.completed,
            created=role.created,
            selector=role_selector(controller_name(draft.kind, draft.job), draft.job.name, name),
            before=before if over else None,
            attempt=None if role.is_kept or not draft.is_gang else draft.status.attempt,
            leaving_is_active=draft.is_suspended and not over,
        )
    changed = draft.job.model_copy(update={"status": draft.status})
    extra = draft.kind.status_extra(changed, draft.observed, draft.now)
    if extra is not None:
        draft.events.extend(extra.events)
        if extra.lagging:
            draft.wake(AT_ONCE)
    draft.status = changed.status
    return draft.to_plan()


def _forget_children(draft: Draft) -> None:
    draft.creates.clear()
    draft.objects.clear()
    draft.recheck = False
    draft.services.clear()
    draft.groups_to_write.clear()
    draft.delete_groups.clear()
    draft.delete_pods.clear()
    draft.delete_services.clear()
