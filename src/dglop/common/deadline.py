# SPDX-License-Identifier: Apache-2.0
"""Deadlines, as functions of spec and status: nothing in memory, so a restart of the operator loses none."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from dglop.common.kind import Gate

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from dglop.common.draft import Draft
    from dglop.common.views import PodView

__all__ = ("active_left", "progress_left", "start_left")

Left = tuple[timedelta, str]
"""The time that is left, none or less where it is over, and the sentence for then."""


def active_left(draft: Draft) -> Left | None:
    """activeDeadlineSeconds, from the start or the last return from suspension."""
    limit, start = draft.policy.active_deadline_seconds, draft.status.start_time
    if limit is None or start is None:
        return None
    message = f"{draft.job.kind} {draft.job.name} was active longer than the deadline of {limit} s"
    return _left(start, limit, draft.now), message


def start_left(draft: Draft) -> Left | None:
    """startDeadlineSeconds, for the pod that has waited longest without running any container."""
    limit = draft.policy.start_deadline_seconds
    waits = [(since, pod) for pod in _current(draft) if (since := _waits_since(pod)) is not None]
    if limit is None or not waits:
        return None
    since, pod = min(waits, key=lambda each: each[0])
    why = _why(pod)
    message = f"{pod.name} has not started within {limit} s" + (f": {why}" if why else "")
    return _left(since, limit, draft.now), message


def progress_left(draft: Draft) -> Left | None:
    """progressDeadlineSeconds, from the latest of the attempt's start and any sign of progress."""
    limit = draft.policy.progress_deadline_seconds
    signs = [draft.status.attempt_start_time, draft.kind.last_progress(draft.job, draft.observed)]
    known = [each for each in signs if each is not None]
    if limit is None or not known:
        return None
    message = f"no start and no progress within {limit} s in attempt {draft.status.attempt}"
    return _left(max(known), limit, draft.now), message


def _left(since: datetime, limit: int, now: datetime) -> timedelta:
    return since + timedelta(seconds=limit) - now


def _current(draft: Draft) -> Iterable[PodView]:
    for role in draft.roles.values():
        if role.gate is Gate.OPEN:
            yield from (pod for pod in draft.current(role) if not pod.is_terminating)


def _waits_since(pod: PodView) -> datetime | None:
    """Since when a pod waits for a container to run; an init container that ran starts the clock anew."""
    if pod.phase != "Pending":
        return None
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    if any(each.state.running for each in statuses):
        return None
    ends = [each.state.terminated.finished_at for each in statuses if each.state.terminated]
    return max([each for each in (pod.metadata.creation_timestamp, *ends) if each], default=None)


def _why(pod: PodView) -> str:
    scheduled = pod.condition("PodScheduled")
    if scheduled and scheduled.status == "False":
        return f"{scheduled.reason or 'Unschedulable'}: {scheduled.message or ''}".strip()
    for each in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        if each.state.waiting and each.state.waiting.reason not in ("", "PodInitializing"):
            return f"{each.state.waiting.reason}: {each.state.waiting.message}".strip(": ")
    return ""
