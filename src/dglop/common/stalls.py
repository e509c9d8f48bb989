# SPDX-License-Identifier: Apache-2.0
"""Pods that make no headway although nobody says why: what is seen of them, since when, and where to look."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from dglop.common.reasons import Reason
from dglop.runtime.api.times import format_time

if TYPE_CHECKING:
    from datetime import datetime

    from dglop.common.views import ContainerStatus, PodView

__all__ = ("PATIENCE", "Trouble", "crash_loop", "stall")

PATIENCE: Final = timedelta(seconds=30)
"""How long a step may take before it is told, and a container must run before its restart is forgotten."""

_CRASH_LOOP: Final = "CrashLoopBackOff"
_STARTING: Final = ("ContainerCreating", "PodInitializing")


@dataclass(frozen=True, slots=True)
class Trouble:
    """
    What keeps one pod from running.

    Attributes
    ----------
        text: the same for all pods that are alike.
        hint: since when it is so, and the command that tells more of this pod.
        begins, ends: from when and until when it is worth telling, where time alone decides that.
        is_sure: somebody says that it is so; else it is known from the mere delay.
        warns: it keeps pods from running until a person does something; else it may be as it should.
    """

    reason: str
    text: str
    hint: str = ""
    begins: datetime | None = None
    ends: datetime | None = None
    is_sure: bool = True
    warns: bool = True


def crash_loop(pod: PodView, now: datetime) -> Trouble | None:
    """The first container, a sidecar or init container too, that ends and is restarted."""
    specs = (*pod.spec.init_containers, *pod.spec.containers)
    sidecars = {each.name for each in specs if each.restart_policy == "Always"}
    for each in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        waiting, running = each.state.waiting, each.state.running
        ends = running.started_at + PATIENCE if running and running.started_at else None
        # A sidecar that is to be restarted is shown as ended, where the rest of the pod never restarts.
        paused = (waiting and waiting.reason == _CRASH_LOOP) or (
            each.state.terminated and each.name in sidecars
        )
        if not paused and not (each.restart_count and ends and ends > now):
            continue
        last = each.state.terminated or each.last_state.terminated
        said = f"exited with code {last.exit_code}" if last else "ends again and again"
        logs = f"kubectl logs -n {pod.metadata.namespace} {pod.name} -c {each.name} --previous"
        return Trouble(
            _CRASH_LOOP, f"container {each.name} {said} and is restarted", f"see {logs}", ends=ends
        )
    return None


def stall(pod: PodView) -> Trouble | None:
    """The step that a pod is at, if it is one that should be short; told once it has taken too long."""
    if pod.phase == "Pending" and not (pod.status.init_container_statuses or pod.status.container_statuses):
        return _unattended(pod)
    sidecars = {each.name for each in pod.spec.init_containers if each.restart_policy == "Always"}
    for each in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        if _is_starting(each):
            return _creating(pod, each)
        if each.state.running and each in pod.status.init_container_statuses and each.name not in sidecars:
            text = f"init container {each.name} runs, and the others wait for its end"
            logs = f"kubectl logs -n {pod.metadata.namespace} {pod.name} -c {each.name}"
            return _late("PodInitializing", text, each.state.running.started_at, logs, warns=False)
    return None


def _unattended(pod: PodView) -> Trouble | None:
    """Neither a scheduler nor a kubelet has said anything of it."""
    node, scheduled = pod.spec.node_name, pod.condition("PodScheduled")
    if node:
        since = scheduled.last_transition_time if scheduled else None
        text = f"node {node} has said nothing of the pod"
        return _late(Reason.NODE_SILENT, text, since or _created(pod), f"kubectl get node {node}")
    if scheduled is not None:
        return None
    text = f"scheduler {pod.spec.scheduler_name or 'default-scheduler'} has said nothing of the pod"
    return _late(Reason.NOT_SCHEDULED, text, _created(pod), _events(pod))


def _is_starting(container: ContainerStatus) -> bool:
    return container.state.waiting is not None and container.state.waiting.reason in _STARTING


def _creating(pod: PodView, container: ContainerStatus) -> Trouble | None:
    """Its step began when the one before it ended: the last init container's, or the scheduling."""
    scheduled = pod.condition("PodScheduled")
    times = [_created(pod), scheduled.last_transition_time if scheduled else None]
    for each in pod.status.init_container_statuses:
        times.append(each.state.terminated.finished_at if each.state.terminated else None)
        times.append(each.state.running.started_at if each.state.running else None)
    since = max((each for each in times if each), default=None)
    reason = container.state.waiting.reason if container.state.waiting else ""
    # What takes long once the sandbox stands is the image; before that a volume or the network is missing.
    missing = pod.condition_is("PodReadyToStartContainers", "False")
    text = f"container {container.name} waits to be created"
    return _late(reason, text, since, _events(pod), warns=missing)


def _late(
    reason: str, text: str, since: datetime | None, command: str, *, warns: bool = True
) -> Trouble | None:
    if since is None:
        return None
    hint = f"since {format_time(since)}, see {command}"
    return Trouble(str(reason), text, hint, begins=since + PATIENCE, is_sure=False, warns=warns)


def _created(pod: PodView) -> datetime | None:
    return pod.metadata.creation_timestamp


def _events(pod: PodView) -> str:
    return f"kubectl events -n {pod.metadata.namespace} --for pod/{pod.name}"
