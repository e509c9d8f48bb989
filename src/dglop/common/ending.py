# SPDX-License-Identifier: Apache-2.0
"""How a job, or an attempt of it, ends: success, failure, a deadline or a restart; all of it status only."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from dglop.common.actions import Counter
from dglop.common.deadline import active_left, progress_left, start_left
from dglop.common.draft import AT_ONCE
from dglop.common.failure import Cause, Failure, failure_of, restart_failure, vanished
from dglop.common.failurerules import first_rule
from dglop.common.kind import Gate
from dglop.common.reasons import Reason
from dglop.common.restart import Fate, Verdict, judge, over_limit
from dglop.common.starting import fail, new_attempt
from dglop.common.types import RestartPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.common.draft import Draft, Role

__all__ = ("conclude", "note_created", "note_done", "tally")


def note_done(draft: Draft) -> None:
    """Take down which replicas are done: those too that end well after their job, as after its leader."""
    for role in draft.roles.values():
        if not role.is_serving:
            role.completed |= {pod.index for pod in draft.current(role) if pod.is_succeeded}


def tally(draft: Draft) -> None:
    """Take down which replicas are done and how often containers were restarted."""
    status = draft.status
    note_done(draft)
    status.restart_count = max(status.restart_count, status.restarts + draft.live_restarts())


def conclude(draft: Draft) -> bool:
    """Whether the job or its attempt has just ended; no child is touched until that is written."""
    if draft.kind.success(draft.job, draft.observed, draft.completed()):
        _succeed(draft)
        return True
    return _judge_failures(draft) or _check_limits(draft) or _check_deadlines(draft)


def note_created(draft: Draft) -> None:
    """Remember which indexes have a pod in this attempt, so that one which vanishes is missed."""
    for role in draft.roles.values():
        seen = {pod.index for pod in draft.current(role)}
        if role.gate is not Gate.OPEN or role.is_kept:
            role.created &= seen  # losing one of these is nothing to remember
        role.created |= seen


def _succeed(draft: Draft) -> None:
    note = f"{draft.job.kind} {draft.job.name} has succeeded"
    draft.conditions.succeeded(note)
    draft.event(Reason.SUCCEEDED, note)
    draft.counters.append(Counter.SUCCESSFUL)


def _failures(draft: Draft) -> Iterator[tuple[Role, Failure]]:
    """The failures of this attempt that were not decided yet, each with the job's rule for it."""
    rules = draft.kind.failure_rules(draft.job)
    for role, found in _seen_failures(draft):
        rule = None
        if found.cause is not Cause.PEER:  # whoever ended because of another is not what a rule is for
            rule = first_rule(rules, role.name, found.exit_code, found.reason)
        yield role, replace(found, rule=rule) if rule else found


def _seen_failures(draft: Draft) -> Iterator[tuple[Role, Failure]]:
    for role in draft.roles.values():
        if role.gate is Gate.CLOSED or role.is_kept:
            continue
        for pod in draft.current(role):
            found = failure_of(pod, role.name, role.policy) if pod.index not in role.completed else None
            if found and (role.gate is Gate.OPEN or not found.is_from_outside):
                yield role, found
        if role.gate is Gate.OPEN and role.is_settled:
            for index in sorted(role.created - role.slots - role.completed):
                node = _named_node(role)
                yield role, vanished(draft.job.name, role.name, index, role.policy, node=node)


def _named_node(role: Role) -> str:
    """The node that the template names itself, past any scheduler; "" in general."""
    spec = role.spec.template.get("spec")
    return str(spec.get("nodeName") or "") if isinstance(spec, dict) else ""


def _judge_failures(draft: Draft) -> bool:
    found = list(_failures(draft))
    if draft.is_gang or not found:
        verdict = judge([each for _, each in found], others_alive=_others_alive(draft), now=draft.now)
        return _carry_out(draft, verdict, found)
    verdicts = [judge([each], others_alive=False, now=draft.now) for _, each in found]
    final = next((each for each in verdicts if each.fate is Fate.FAIL), None)
    if final is not None:
        return _carry_out(draft, final, found)
    counted = [each for each in verdicts if each.counts]
    return _carry_out(draft, counted[0] if counted else verdicts[0], found, verdicts=verdicts)


def _others_alive(draft: Draft) -> bool:
    """Whether a pod of the gang has not ended yet, so that the failure that began it may still be seen."""
    return any(
        not (pod.is_failed or pod.is_succeeded or pod.is_terminating)
        for role in draft.roles.values()
        if not role.is_kept and role.gate is Gate.OPEN
        for pod in draft.current(role)
    )


def _carry_out(
    draft: Draft,
    verdict: Verdict,
    found: list[tuple[Role, Failure]],
    *,
    verdicts: list[Verdict] | None = None,
) -> bool:
    failure = verdict.failure
    if verdict.fate is Fate.GO_ON or failure is None:
        return False
    if verdict.fate is Fate.WAIT:
        draft.wake(verdict.wait or AT_ONCE)
        return False
    if verdict.fate is Fate.FAIL:
        _fail_by(draft, failure)
        return True
    if not draft.is_settled:
        # The cache does not show all of our own writes yet: it will wake us when it does. Until then
        # nothing is made, or the replica that is lost would be made anew without being counted.
        draft.is_undecided = True
        return False
    every = verdicts or [verdict]
    counted = sum(each.counts for each in every)
    _restart(draft, failure, counted=counted, disrupted=len(every) - counted, found=found)
    return True


def _fail_by(draft: Draft, failure: Failure) -> None:
    wire = failure.to_wire()
    draft.status.last_failure = wire
    reason = draft.kind.failure_reason(draft.job, wire)
    fail(draft, reason or Reason.FAILED, failure.message)


def _restart(
    draft: Draft, failure: Failure, *, counted: int, disrupted: int, found: list[tuple[Role, Failure]]
) -> None:
    """One status write: the next plan, which sees it, deletes the old pods, and a later one makes the new."""
    status, policy = draft.status, draft.policy
    status.last_failure = failure.to_wire()
    if counted and over_limit(status.restart_count + counted, policy.backoff_limit):
        fail(
            draft,
            Reason.BACKOFF_LIMIT_EXCEEDED,
            f"backoffLimit {policy.backoff_limit} is reached: {failure.message}",
        )
        return
    if disrupted and over_limit(status.disruption_count + disrupted, policy.disruption_limit):
        fail(
            draft,
            Reason.DISRUPTION_LIMIT_EXCEEDED,
            f"disruptionLimit {policy.disruption_limit} is reached: {failure.message}",
        )
        return
    if draft.is_gang:
        new_attempt(draft)
    else:
        _renew_replicas(draft, found)
    status.restarts += counted
    status.restart_count = max(status.restart_count + counted, status.restarts)
    status.disruption_count += disrupted
    draft.conditions.restarting(Reason.RESTARTING, failure.message)
    draft.event(Reason.RESTARTING, failure.message, warning=True)
    draft.counters.append(Counter.RESTARTED)
    draft.wake(AT_ONCE)


def _renew_replicas(draft: Draft, found: list[tuple[Role, Failure]]) -> None:
    """Without a gang only the failed replicas are made anew; their kubelet's restarts go with their pods.

    What these had is what was counted and no other pod has: an evicted pod no longer says it, nor does one
    that is gone.
    """
    note_created(draft)
    status = draft.status
    for role, failure in found:
        role.created.discard(failure.index)
    status.attempt += 1
    status.attempt_start_time = draft.now
    status.restarts = max(status.restarts, status.restart_count - draft.live_restarts())


def _check_limits(draft: Draft) -> bool:
    """Restarts that the kubelet made count too, and disruptions that the kind took down itself."""
    lost, limit = draft.policy.disruption_limit, draft.policy.backoff_limit
    if over_limit(draft.status.disruption_count, lost):
        count = draft.status.disruption_count
        fail(
            draft,
            Reason.DISRUPTION_LIMIT_EXCEEDED,
            f"disruptionLimit {lost} is reached: {count} disruptions",
        )
        return True
    if not over_limit(draft.status.restart_count, limit):
        return False
    fail(draft, Reason.BACKOFF_LIMIT_EXCEEDED, f"backoffLimit {limit} is reached{_most_restarted(draft)}")
    return True


def _most_restarted(draft: Draft) -> str:
    """What is to be said of the pod that the kubelet restarted most often; it is the last failure too."""
    roles = [role for role in draft.roles.values() if not role.is_kept]
    every = [(role, pod) for role in roles for pod in draft.current(role)]
    if not every:
        return ""
    role, pod = max(every, key=lambda each: each[1].restarts)
    found = restart_failure(pod, role.name, role.policy)
    if found is None:
        return ""
    draft.status.last_failure = found.to_wire()
    return f": {pod.name} was restarted {pod.restarts} times: {found.account}"


def _check_deadlines(draft: Draft) -> bool:
    for reason, left in (
        (Reason.DEADLINE_EXCEEDED, active_left(draft)),
        (Reason.START_DEADLINE_EXCEEDED, start_left(draft)),
    ):
        if left is None:
            continue
        if left.time <= timedelta(0):
            if left.failure:
                draft.status.last_failure = left.failure.to_wire()
            fail(draft, reason, left.message)
            return True
        draft.wake(left.time)
    stalled = progress_left(draft)
    if stalled is None:
        return False
    if stalled.time > timedelta(0):
        draft.wake(stalled.time)
        return False
    return draft.is_settled and _end_stalled(draft, stalled.message)


def _end_stalled(draft: Draft, message: str) -> bool:
    """No progress ends the attempt as a retryable failure of nobody in particular."""
    stalled = Failure(
        role="",
        index=0,
        pod=draft.job.name,
        cause=Cause.OWN,
        policy=RestartPolicy.ON_FAILURE,
        process="attempt",
        reason=str(Reason.NO_PROGRESS),
        text=message,
    )
    policies = {role.policy for role in draft.roles.values() if not role.is_kept}
    if policies == {RestartPolicy.NEVER}:
        draft.status.last_failure = stalled.to_wire()
        fail(draft, Reason.NO_PROGRESS, message)
        return True
    every = [
        (each, Failure(each.name, pod.index, pod.name, Cause.OWN, each.policy))
        for each in draft.roles.values()
        if not each.is_kept
        for pod in draft.current(each)
    ]
    _restart(draft, stalled, counted=1, disrupted=0, found=every)
    return True
