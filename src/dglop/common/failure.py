# SPDX-License-Identifier: Apache-2.0
"""Why a pod ended: one failed, deleted or evicted pod as a Failure, and a Failure in words."""

from __future__ import annotations

import re
import signal as signals
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from dglop.common.constants import MAX_MESSAGE
from dglop.common.exitcodes import is_retryable, signal_of
from dglop.common.failurerules import FailureAction
from dglop.common.lastwords import LastWords, read_last_words
from dglop.common.names import pod_name
from dglop.common.types import LastFailure, RestartPolicy

if TYPE_CHECKING:
    from dglop.common.failurerules import FailureRule
    from dglop.common.views import PodView, Terminated

__all__ = ("Cause", "Failure", "failure_of", "never_started", "restart_failure", "vanished")

_DISRUPTION_REASONS: Final = frozenset(
    {"Evicted", "Preempted", "Preempting", "NodeLost", "NodeShutdown", "Shutdown", "Terminated"}
)
# The kubelet's words where it evicts a pod for what the pod itself used up, not for what the node lacks.
_OWN_LIMIT: Final = re.compile(
    r"exceeds the (total )?limit|exceeded its local ephemeral storage limit|Usage of EmptyDir volume"
)
_COLLECTED: Final = "DeletionByPodGC"
_NO_NODE: Final = "NodeNotFound"
MAX_TEXT: Final = 600
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


class Cause(StrEnum):
    """Whose doing it was that a pod ended."""

    OWN = "own"
    """A program of the pod ended with an error."""
    PEER = "peer"
    """It ended because another pod did."""
    LOST = "lost"
    """It was deleted, or told to stop, by nobody of the job's."""
    DISRUPTION = "disruption"
    """Eviction, preemption, shutdown of the node."""
    NO_START = "no start"
    """It never began to run."""


@dataclass(frozen=True, slots=True)
class Failure:
    """
    One pod's failure, or that of the attempt as a whole: then `role` is "" and `pod` is the job's name.

    Attributes
    ----------
        peer: the pod because of which this one ended, "" where that is not known.
        time: None where nobody wrote it down.
        rule: the job's own rule that says what follows.
    """

    role: str
    index: int
    pod: str
    cause: Cause
    policy: RestartPolicy
    process: str = ""
    exit_code: int | None = None
    signal: int | None = None
    reason: str = ""
    text: str = ""
    time: datetime | None = None
    peer: str = ""
    rule: FailureRule | None = None

    @property
    def is_retryable(self) -> bool:
        if self.rule is not None:
            return self.rule.action is not FailureAction.FAIL
        if self.cause is Cause.OWN:
            return is_retryable(self.policy, self.exit_code)
        return self.policy is not RestartPolicy.NEVER

    @property
    def counts(self) -> bool:
        """Whether a restart because of it is held against backoffLimit."""
        if self.rule is not None:
            return self.rule.action is not FailureAction.RESTART_JOB_IGNORE_LIMIT
        return self.cause is not Cause.DISRUPTION

    @property
    def is_from_outside(self) -> bool:
        return self.cause in (Cause.LOST, Cause.DISRUPTION)

    @property
    def order(self) -> tuple[datetime, bool]:
        """The earliest first; at equal times the final one before those that may be tried again."""
        return self.time or _LONG_AGO, self.is_retryable

    @property
    def message(self) -> str:
        """What happened, in a sentence: pod, process, exit code, reason and last words."""
        whole = f"{self.pod if self.role else f'job {self.pod}'}: {self.account}"
        return whole if len(whole) <= MAX_MESSAGE else whole[: MAX_MESSAGE - 1] + "…"

    @property
    def account(self) -> str:
        """The same without the pod."""
        what = self._what() + (f", failure rule {self.rule.name}" if self.rule else "")
        return f"{what}: {self.text}" if self.text else what

    def to_wire(self) -> LastFailure:
        return LastFailure(
            pod_name=self.pod if self.role else "",
            replica_type=self.role,
            index=self.index,
            process=self.process,
            exit_code=self.exit_code,
            signal=self.signal,
            reason=self.reason,
            message=self.message,
            time=self.time,
        )

    def _what(self) -> str:
        process = self.process or "pod"
        extra = f" ({self.reason})" if self.reason and self.reason != "Error" else ""
        if self.cause is Cause.PEER:
            whose = self.peer or "another pod"
            return f"ended because of {whose if process == 'pod' else f'{process} of {whose}'}{extra}"
        if not self.role:
            return f"{process} failed{extra}"
        if self.cause is Cause.NO_START:
            return f"{process} has not started{extra}"
        if self.exit_code is None:
            word = "was disrupted" if self.cause is Cause.DISRUPTION else "failed"
            return f"pod was deleted{extra}" if self.cause is Cause.LOST else f"pod {word}{extra}"
        code = f"exited with code {self.exit_code}"
        if self.signal is not None:
            code += f", {_signal_name(self.signal)}"
        return f"{process} {code}{extra}"


def failure_of(pod: PodView, role: str, policy: RestartPolicy) -> Failure | None:
    """The failure of a pod that ended badly or is being deleted; None for any other pod."""
    if pod.is_succeeded or not (pod.is_failed or pod.is_terminating):
        return None
    container, ended = _decisive(pod)
    disruption = _disruption(pod)
    if disruption == _COLLECTED and _is_pinned_to_nothing(pod):
        node = f"node {pod.spec.node_name}, which the pod template names, does not exist"
        lost = _from_outside(pod, role, policy, Cause.LOST, _NO_NODE)
        return replace(lost, text=node)
    if disruption:
        return _from_outside(pod, role, policy, Cause.DISRUPTION, disruption)
    if pod.is_terminating and not _ended_before_deletion(pod, ended):
        return _from_outside(pod, role, policy, Cause.LOST, "Deleted")
    return _ended(pod, role, policy, container, ended)


def restart_failure(pod: PodView, role: str, policy: RestartPolicy) -> Failure | None:
    """How the container ended that the kubelet has restarted most often; None where it restarted none."""
    worst = max(pod.restarted, key=lambda each: each.restart_count, default=None)
    if worst is None:
        return None
    ended = worst.state.terminated or worst.last_state.terminated
    if ended is not None and ended.exit_code:
        return _ended(pod, role, policy, worst.name, ended)
    reason = worst.state.waiting.reason if worst.state.waiting else "Completed" if ended else ""
    return Failure(role, pod.index, pod.name, Cause.OWN, policy, process=worst.name, reason=reason)


def never_started(pod: PodView, role: str, policy: RestartPolicy) -> Failure | None:
    """What keeps a pod from its start, where anybody has said so."""
    scheduled = pod.condition("PodScheduled")
    if scheduled and scheduled.status == "False":
        reason, text = scheduled.reason or "Unschedulable", scheduled.message or ""
        return Failure(role, pod.index, pod.name, Cause.NO_START, policy, reason=reason, text=text[:MAX_TEXT])
    for each in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        if each.state.waiting and each.state.waiting.reason not in ("", "PodInitializing"):
            reason, text = each.state.waiting.reason, each.state.waiting.message[:MAX_TEXT]
            found = Failure(role, pod.index, pod.name, Cause.NO_START, policy, reason=reason, text=text)
            return replace(found, process=each.name)
    return None


def _ended(
    pod: PodView, role: str, policy: RestartPolicy, container: str, ended: Terminated | None
) -> Failure:
    words = read_last_words(ended.message) if ended else LastWords(text=pod.status.message or "")
    code = ended.exit_code if ended and ended.exit_code != 0 else None
    # The exit codes of a supervisor's own verdicts stand for no signal.
    derived = None if words.is_verdict else signal_of(code)
    return Failure(
        role=role,
        index=pod.index,
        pod=pod.name,
        cause=_cause(words),
        policy=policy,
        process=words.process or container,
        exit_code=code,
        signal=words.signal or (ended.signal if ended else None) or derived,
        reason=words.reason or (ended.reason if ended and code else "") or pod.status.reason or "",
        text=words.text,
        time=ended.finished_at if ended else None,
        peer=words.pod if words.pod != pod.name else "",
    )


def vanished(job: str, role: str, index: int, policy: RestartPolicy, *, node: str = "") -> Failure:
    """The failure of a pod that was there and is gone without a trace; `node` is named by its template."""
    name = pod_name(job, role, index)
    text = f"if nobody did: node {node}, which the pod template names, may not exist" if node else ""
    return Failure(role, index, name, Cause.LOST, policy, reason="Deleted", text=text)


def _from_outside(pod: PodView, role: str, policy: RestartPolicy, cause: Cause, reason: str) -> Failure:
    target = pod.condition("DisruptionTarget")
    times = [pod.deletion_asked_at, target.last_transition_time if target else None]
    text = (target.message if target else None) or pod.status.message or ""
    known = [each for each in times if each]
    return Failure(
        role,
        pod.index,
        pod.name,
        cause,
        policy,
        reason=reason,
        text=text[:MAX_TEXT],
        time=min(known, default=None),
    )


def _is_pinned_to_nothing(pod: PodView) -> bool:
    """Whether the pod was made for a node that was not there, rather than lost with one.

    A scheduler's choice leaves a condition, and so does the first word of a node's kubelet. Without either
    the template named the node, and each pod made from it ends like this one: that is no disruption.
    """
    said = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    return bool(pod.spec.node_name) and pod.condition("PodScheduled") is None and not said


def _disruption(pod: PodView) -> str:
    target = pod.condition("DisruptionTarget")
    if target is not None and target.status == "True":
        return pod.status.reason or target.reason or "DisruptionTarget"
    reason = pod.status.reason or ""
    if reason == "Evicted" and _OWN_LIMIT.search(pod.status.message or ""):
        return ""
    return reason if reason in _DISRUPTION_REASONS else ""


def _decisive(pod: PodView) -> tuple[str, Terminated | None]:
    """The container whose end decides: the main one, else the first init container that failed."""
    ended = pod.main_terminated
    if ended is not None:
        return pod.main_name, ended
    for each in pod.status.init_container_statuses:
        if each.state.terminated and each.state.terminated.exit_code != 0:
            return each.name, each.state.terminated
    return "", None


def _ended_before_deletion(pod: PodView, ended: Terminated | None) -> bool:
    """Whether the failure came first and the deletion, as by a person who tidies up, only after it."""
    asked = pod.deletion_asked_at
    if ended is None or ended.exit_code == 0 or asked is None or ended.finished_at is None:
        return False
    return ended.finished_at < asked


def _cause(words: LastWords) -> Cause:
    return {"peer": Cause.PEER, "stop": Cause.LOST}.get(words.cause, Cause.OWN)


def _signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"
