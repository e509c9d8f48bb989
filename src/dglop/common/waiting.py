# SPDX-License-Identifier: Apache-2.0
"""Why pods do not run, copied up from them into one reason and one sentence."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from dglop.common.reasons import Reason
from dglop.common.stalls import Trouble, crash_loop, stall

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from dglop.common.views import PodView

__all__ = ("Waits", "waiting_reason")

_WAITING: Final = frozenset(
    {
        "ImagePullBackOff",
        "ErrImagePull",
        "ErrImageNeverPull",
        "InvalidImageName",
        "ImageInspectError",
        "RegistryUnavailable",
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
    }
)
_SHOWN: Final = 3
_GATED: Final = "SchedulingGated"
_SCHEDULING: Final = timedelta(seconds=5)
"""How long a pod may have no node: its claim may be in the making, the pods before it on their way out."""


@dataclass(frozen=True, slots=True)
class Waits:
    """
    What pods wait for.

    Attributes
    ----------
        trouble: reason and message, which names the pods; None where nothing but time is missing.
        again: after how long time alone may give another answer.
        warns: whether the trouble is one that a person should hear of.
    """

    trouble: tuple[str, str] | None
    again: timedelta | None
    warns: bool = False


def waiting_reason(job: str, pods: Iterable[PodView], now: datetime) -> Waits:
    """The commonest trouble of pods that do not run, and of these one that is sure before a mere delay."""
    troubles: dict[tuple[bool, str, str], list[tuple[PodView, Trouble]]] = defaultdict(list)
    turns: list[datetime] = []
    for pod in sorted(pods, key=lambda each: (each.replica_type, each.index)):
        trouble = _trouble(pod, now)
        if trouble is None:
            continue
        turns += [turn for turn in (trouble.begins, trouble.ends) if turn and turn > now]
        if trouble.begins is None or trouble.begins <= now:
            troubles[trouble.is_sure, trouble.reason, trouble.text].append((pod, trouble))
    again = min(turns) - now if turns else None
    if not troubles:
        return Waits(None, again)
    found = max(troubles.items(), key=lambda each: (each[0][0], len(each[1])))[1]
    first = found[0][1]
    return Waits((first.reason, _sentence(job, found)), again, first.warns)


def _trouble(pod: PodView, now: datetime) -> Trouble | None:
    if pod.is_terminating or pod.is_succeeded or pod.phase not in ("Pending", "Running"):
        return None
    scheduled = pod.condition("PodScheduled")
    if scheduled and scheduled.status == "False":
        reason, since = scheduled.reason or str(Reason.UNSCHEDULABLE), scheduled.last_transition_time
        begins = since + _SCHEDULING if since and reason != _GATED else None
        return Trouble(reason, scheduled.message or "", begins=begins, warns=reason != _GATED)
    for each in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        waiting = each.state.waiting
        if waiting and waiting.reason in _WAITING:
            # One trouble comes under two names by turns: the try, and the pause before the next one.
            back_off = "ImagePullBackOff" if waiting.reason == "ErrImagePull" else waiting.reason
            return Trouble(back_off, waiting.message)
    return crash_loop(pod, now) or stall(pod)


def _sentence(job: str, found: Sequence[tuple[PodView, Trouble]]) -> str:
    names = _shortened([pod.name.removeprefix(f"{job}-") for pod, _ in found])
    text, hint = found[0][1].text, found[0][1].hint
    said = f"{text} ({names})" if text else names
    return f"{said}: {hint}" if hint else said


def _shortened(names: list[str]) -> str:
    if len(names) <= _SHOWN:
        return ", ".join(names)
    return f"{names[0]} … {names[-1]}"
