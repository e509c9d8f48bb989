# SPDX-License-Identifier: Apache-2.0
"""What is left of a finished job: which pods go, and when the job itself does."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from dglop.common.actions import DeletePod, DeleteService
from dglop.common.names import pod_name
from dglop.common.reasons import Reason
from dglop.common.types import CleanPodPolicy
from dglop.runtime.api.times import format_time

if TYPE_CHECKING:
    from dglop.common.draft import Draft
    from dglop.common.views import PodView

__all__ = ("clean_up", "force_lost", "is_cleaned")


def is_cleaned(policy: CleanPodPolicy, pod: PodView, *, is_serving: bool) -> bool:
    """Whether a finished job's pod goes: a Pending one could still start; a server is never kept."""
    is_alive = pod.phase in ("Running", "Pending") and not pod.is_over
    if is_serving and is_alive:
        return True
    if policy is CleanPodPolicy.ALL:
        return True
    return policy is CleanPodPolicy.RUNNING and is_alive


def clean_up(draft: Draft) -> None:
    """Delete what cleanPodPolicy says, and the job when its time is over."""
    policy = draft.policy.clean_pod_policy or draft.kind.clean_pod_policy
    serving = {name.lower() for name, role in draft.roles.items() if role.is_serving}
    kept = set()
    for pod in draft.observed.pods:
        if is_cleaned(policy, pod, is_serving=pod.replica_type in serving):
            draft.delete(pod)
        elif not pod.is_terminating:
            kept.add(pod.name)
    _clean_services(draft, policy, kept)
    _expire(draft)


def force_lost(draft: Draft) -> None:
    """Delete by force, once, the pods that do not go, where podForceDeleteAfterSeconds says when."""
    after = draft.policy.pod_force_delete_after_seconds
    if after is None:
        return
    for pod in draft.observed.pods:
        left = _force_left(draft, pod, after)
        if left is None or not draft.observed.is_settled(pod.replica_type):
            continue
        if left > timedelta(0):
            draft.wake(left)
            continue
        draft.delete_pods[pod.uid] = DeletePod(pod.replica_type, pod.name, pod.uid, grace_seconds=0)
        note = f"pod {pod.name} is deleted by force: it was still there {after} s after its grace period"
        draft.event(Reason.FORCED_DELETE_POD, note, warning=True)


def _force_left(draft: Draft, pod: PodView, after: int) -> timedelta | None:
    """How long a pod on its way out has still got; None for one without a grace period.

    That one was deleted by force already, and something other than its node keeps it: its finalizers.
    """
    end = pod.metadata.deletion_timestamp
    if pod.metadata.deletion_grace_period_seconds == 0:
        return None
    return end + timedelta(seconds=after) - draft.now if end else None


def _clean_services(draft: Draft, policy: CleanPodPolicy, kept: set[str]) -> None:
    """A pod's own Service goes with it; under All every Service goes."""
    roles = draft.roles.values()
    own = {pod_name(draft.job.name, role.name, index) for role in roles for index in range(role.wanted)}
    for service in draft.observed.services:
        orphan = policy is not CleanPodPolicy.NONE and service.name in own - kept
        if policy is CleanPodPolicy.ALL or orphan:
            draft.delete_services.append(DeleteService(service.name, service.uid))


def _expire(draft: Draft) -> None:
    ttl = draft.policy.ttl_seconds_after_finished
    if draft.status.completion_time is None:
        draft.status.completion_time = (
            draft.now
        )  # a person took it away: count from now, do not fail for ever
    if ttl is None:
        return
    ended = draft.status.completion_time
    if ended > draft.now:
        draft.warning = (
            f"completionTime {format_time(ended)} lies in the future: clocks differ, or it was edited"
        )
    left = ended + timedelta(seconds=ttl) - draft.now
    if left <= timedelta(0):
        draft.delete_job = True
    else:
        draft.wake(left)
