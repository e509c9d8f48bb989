# SPDX-License-Identifier: Apache-2.0
"""What a kubelet would say of a pod in a given phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from dglop.runtime.api import Resource
from dglop.runtime.api.times import format_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

__all__ = ("POD", "PodPhase", "pod_status")

PodPhase = Literal["Pending", "Running", "Succeeded", "Failed"]
"""The phases that a test may put pods in."""

POD = Resource("", "v1", "Pod", "pods")
"""Pods as wire dicts."""


def pod_status(
    pod: Mapping[str, Any], phase: PodPhase, now: datetime, *, exit_code: int | None = None
) -> dict[str, Any]:
    """
    The status of *pod* (JSON) in *phase*, with one for each container.

    Raises ValueError for a phase that there is not, and for an exit code that does not go with the phase.
    """
    if phase not in get_args(PodPhase):
        raise ValueError(f"a pod's phase is one of {', '.join(get_args(PodPhase))}, not {phase!r}")
    if exit_code is not None and phase != ("Failed" if exit_code else "Succeeded"):
        raise ValueError(f"a pod that is {phase} has no container that ended with exit code {exit_code}")
    spec = pod["spec"]
    at = format_time(now)
    ready = phase == "Running"
    state = _state(phase, at, exit_code)
    started = [] if phase == "Pending" else spec.get("initContainers") or []
    return {
        "phase": phase,
        "startTime": (pod.get("status") or {}).get("startTime") or at,
        "conditions": [{"type": "Ready", "status": str(ready), "lastTransitionTime": at}],
        "initContainerStatuses": [_container(each, _state("Succeeded", at, 0)) for each in started],
        "containerStatuses": [_container(each, state, ready=ready) for each in spec["containers"]],
    }


def _container(container: Mapping[str, Any], state: dict[str, Any], *, ready: bool = False) -> dict[str, Any]:
    image = container.get("image", "")
    said = {"name": container["name"], "image": image, "imageID": image, "restartCount": 0}
    return {**said, "ready": ready, "state": state}


def _state(phase: PodPhase, at: str, exit_code: int | None) -> dict[str, Any]:
    if phase == "Pending":
        return {"waiting": {"reason": "ContainerCreating"}}
    if phase == "Running":
        return {"running": {"startedAt": at}}
    code = exit_code if exit_code is not None else int(phase == "Failed")
    reason = "Error" if code else "Completed"
    return {"terminated": {"exitCode": code, "reason": reason, "startedAt": at, "finishedAt": at}}
