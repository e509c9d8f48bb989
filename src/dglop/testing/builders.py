# SPDX-License-Identifier: Apache-2.0
"""Builders of jobs, pods and Services as a cluster would show them, for tests of plans."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.common.constants import (
    DEFAULT_CONTAINER_ANNOTATION,
    LABEL_ATTEMPT,
    LABEL_JOB_NAME,
    LABEL_REPLICA_INDEX,
    LABEL_REPLICA_TYPE,
)
from dglop.common.views import PodView, ServiceView
from dglop.runtime.api.times import format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ("T0", "at", "container_status", "make_pod", "make_pod_wire", "make_service", "pod_template")

T0 = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
"""The moment at which tests begin."""


def at(seconds: float) -> datetime:
    """So many seconds after T0."""
    return T0 + timedelta(seconds=seconds)


def pod_template(*containers: str, image: str = "example.com/train:1", **spec: Any) -> dict[str, Any]:
    """A pod template with these containers; one named `main` where none is named."""
    listed = [{"name": name, "image": image, "command": ["train"]} for name in containers or ("main",)]
    return {"spec": {"containers": listed, **spec}}


def container_status(
    name: str = "main",
    *,
    exit_code: int | None = None,
    reason: str = "",
    message: str = "",
    finished: datetime | None = None,
    waiting: str = "",
    waiting_message: str = "",
    ready: bool = False,
    restarts: int = 0,
) -> dict[str, Any]:
    """A container's status: terminated if it has an exit code, waiting if it says why, else running."""
    state: dict[str, Any]
    if exit_code is not None:
        said = reason or ("Completed" if exit_code == 0 else "Error")
        state = {"terminated": {"exitCode": exit_code, "reason": said, "message": message}}
        state["terminated"]["finishedAt"] = format_time(finished or at(60))
    elif waiting:
        state = {"waiting": {"reason": waiting, "message": waiting_message}}
    else:
        state = {"running": {"startedAt": format_time(at(1))}}
    return {"name": name, "state": state, "ready": ready, "restartCount": restarts}


def make_pod_wire(
    role: str = "worker",
    index: int = 0,
    *,
    job: str = "g",
    namespace: str = "t",
    phase: str = "Running",
    attempt: int = 1,
    uid: str = "",
    ready: bool | None = None,
    exit_code: int | None = None,
    reason: str = "",
    message: str = "",
    pod_reason: str = "",
    restarts: int = 0,
    waiting: str = "",
    conditions: Sequence[Mapping[str, Any]] = (),
    created: datetime | None = None,
    deleted: datetime | None = None,
    finished: datetime | None = None,
    restart_policy: str = "Never",
    containers: Sequence[dict[str, Any]] | None = None,
    init_containers: Sequence[dict[str, Any]] = (),
    main: str = "",
    labels: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A pod of a job as JSON.

    `phase` and `exit_code` give the main container its status, unless `containers` says all.
    `deleted` is when the deletion was asked for; the grace period is 30 s.
    """
    if containers is None:
        state = {"exit_code": exit_code, "reason": reason, "message": message, "finished": finished}
        containers = _containers(phase, ready, waiting, {**state, "restarts": restarts})
    metadata: dict[str, Any] = {
        "name": f"{job}-{role.lower()}-{index}",
        "namespace": namespace,
        "uid": uid or f"uid-{job}-{role.lower()}-{index}-{attempt}",
        "creationTimestamp": format_time(created or T0),
        "labels": {
            LABEL_JOB_NAME: job,
            LABEL_REPLICA_TYPE: role.lower(),
            LABEL_REPLICA_INDEX: str(index),
            LABEL_ATTEMPT: str(attempt),
            **(labels or {}),
        },
    }
    if main:
        metadata["annotations"] = {DEFAULT_CONTAINER_ANNOTATION: main}
    if deleted is not None:
        metadata["deletionTimestamp"] = format_time(deleted + timedelta(seconds=30))
        metadata["deletionGracePeriodSeconds"] = 30
    status: dict[str, Any] = {"phase": phase, "conditions": list(conditions)}
    status |= {"containerStatuses": list(containers), "initContainerStatuses": list(init_containers)}
    if pod_reason:
        status |= {"reason": pod_reason, "message": message}
    names = [each["name"] for each in containers] or ["main"]
    spec = {"restartPolicy": restart_policy, "containers": [{"name": name} for name in names]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def make_pod(role: str = "worker", index: int = 0, **fields: Any) -> PodView:
    """The view of `make_pod_wire` with the same arguments."""
    return msgspec.convert(make_pod_wire(role, index, **fields), PodView)


def make_service(name: str = "g", *, uid: str = "") -> ServiceView:
    """A Service of a job."""
    return msgspec.convert({"metadata": {"name": name, "uid": uid or f"uid-service-{name}"}}, ServiceView)


def _containers(phase: str, ready: bool | None, waiting: str, state: dict[str, Any]) -> list[dict[str, Any]]:
    if phase == "Failed" and state["exit_code"] is None:
        return []  # evicted before anything ran
    if phase == "Succeeded":
        state["exit_code"] = 0
    if state["exit_code"] is not None:
        return [container_status(**state)]
    if phase == "Pending":
        return [container_status(waiting=waiting or "ContainerCreating", restarts=state["restarts"])]
    is_ready = phase == "Running" and ready is not False and not waiting
    return [container_status(waiting=waiting, ready=is_ready, restarts=state["restarts"])]
