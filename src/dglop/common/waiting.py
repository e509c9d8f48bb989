# SPDX-License-Identifier: Apache-2.0
"""Why pods do not run, copied up from them into one reason and one sentence."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from dglop.common.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.common.views import PodView

__all__ = ("waiting_reason",)

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
        "CrashLoopBackOff",
    }
)
_SHOWN: Final = 3


def waiting_reason(job: str, pods: Iterable[PodView]) -> tuple[str, str] | None:
    """The commonest trouble of pods that do not run: reason and message, which names the pods.

    None where nothing but time is missing.
    """
    troubles: dict[tuple[str, str], list[str]] = defaultdict(list)
    for pod in sorted(pods, key=lambda each: (each.replica_type, each.index)):
        trouble = _trouble(pod)
        if trouble:
            troubles[trouble].append(pod.name.removeprefix(f"{job}-"))
    if not troubles:
        return None
    (reason, text), names = max(troubles.items(), key=lambda each: len(each[1]))
    return reason, f"{text} ({_shortened(names)})" if text else _shortened(names)


def _trouble(pod: PodView) -> tuple[str, str] | None:
    if pod.is_terminating or pod.phase not in ("Pending", "Running"):
        return None
    scheduled = pod.condition("PodScheduled")
    if scheduled and scheduled.status == "False":
        return scheduled.reason or str(Reason.UNSCHEDULABLE), scheduled.message or ""
    for each in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        waiting = each.state.waiting
        if waiting and waiting.reason in _WAITING:
            # One trouble comes under two names by turns: the try, and the pause before the next one.
            back_off = "ImagePullBackOff" if waiting.reason == "ErrImagePull" else waiting.reason
            return back_off, waiting.message
    return None


def _shortened(names: list[str]) -> str:
    if len(names) <= _SHOWN:
        return ", ".join(names)
    return f"{names[0]} … {names[-1]}"
