# SPDX-License-Identifier: Apache-2.0
"""Deadlines, as functions of spec and status: nothing in memory, so a restart of the operator loses none."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from dglop.common.failure import Cause, Failure, never_started, restart_failure
from dglop.common.kind import Gate

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from dglop.common.draft import Draft, Role
    from dglop.common.views import PodView

__all__ = ("Left", "active_left", "progress_left", "start_left")


class Left(NamedTuple):
    """The time that is left, none or less where it is over, and what to say then."""

    time: timedelta
    message: str
    failure: Failure | None = None
    """The pod that is the reason, where one is known."""


def active_left(draft: Draft) -> Left | None:
    """activeDeadlineSeconds, from the start or the last return from suspension."""
    limit, start = draft.policy.active_deadline_seconds, draft.status.start_time
    if limit is None or start is None:
        return None
    message = f"{draft.job.kind} {draft.job.name} was active longer than the deadline of {limit} s"
    return Left(_left(start, limit, draft.now), message, _hindrance(draft))


def start_left(draft: Draft) -> Left | None:
    """startDeadlineSeconds, for the pod that has waited longest without running any container."""
    limit = draft.policy.start_deadline_seconds
    waits = _waits(draft)
    if limit is None or not waits:
        return None
    since, role, pod = min(waits, key=lambda each: each[0])
    found = never_started(pod, role.name, role.policy)
    why = f": {found.reason}: {found.text}".rstrip(": ") if found else ""
    message = f"{pod.name} has not started within {limit} s{why}"
    silent = Failure(role.name, pod.index, pod.name, Cause.NO_START, role.policy)
    return Left(_left(since, limit, draft.now), message, found or silent)


def progress_left(draft: Draft) -> Left | None:
    """progressDeadlineSeconds, from the latest of the attempt's start and any sign of progress."""
    limit = draft.policy.progress_deadline_seconds
    signs = [draft.status.attempt_start_time, draft.kind.last_progress(draft.job, draft.observed)]
    known = [each for each in signs if each is not None]
    if limit is None or not known:
        return None
    message = f"no start and no progress within {limit} s in attempt {draft.status.attempt}"
    return Left(_left(max(known), limit, draft.now), message)


def _left(since: datetime, limit: int, now: datetime) -> timedelta:
    return since + timedelta(seconds=limit) - now


def _hindrance(draft: Draft) -> Failure | None:
    """The pod that kept the job from its end, where one does not start or is restarted again and again."""
    for _, role, pod in sorted(_waits(draft), key=lambda each: each[0]):
        found = never_started(pod, role.name, role.policy)
        if found:
            return found
    pods = [(role, pod) for role, pod in _current(draft) if not pod.is_ready and not pod.is_succeeded]
    if not pods:
        return None
    worst, restarted = max(pods, key=lambda each: each[1].restarts)
    return restart_failure(restarted, worst.name, worst.policy)


def _current(draft: Draft) -> Iterable[tuple[Role, PodView]]:
    for role in draft.roles.values():
        if role.gate is Gate.OPEN:
            yield from ((role, pod) for pod in draft.current(role) if not pod.is_terminating)


def _waits(draft: Draft) -> list[tuple[datetime, Role, PodView]]:
    return [(since, role, pod) for role, pod in _current(draft) if (since := _waits_since(pod)) is not None]


def _waits_since(pod: PodView) -> datetime | None:
    """Since when a pod waits for a container to run; an init container that ran starts the clock anew."""
    if pod.phase != "Pending":
        return None
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    if any(each.state.running for each in statuses):
        return None
    ends = [each.state.terminated.finished_at for each in statuses if each.state.terminated]
    return max([each for each in (pod.metadata.creation_timestamp, *ends) if each], default=None)
