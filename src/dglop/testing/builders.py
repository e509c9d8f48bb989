# SPDX-License-Identifier: Apache-2.0
"""Builders of jobs, pods and Services as a cluster would show them, for tests of plans."""

from __future__ import annotations

from dataclasses import dataclass
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

    from dglop.common.replica import JobT

__all__ = (
    "T0",
    "PodFields",
    "at",
    "container_status",
    "make_pod",
    "make_pod_wire",
    "make_service",
    "pod_template",
    "stored",
)

T0 = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
"""The moment at which tests begin."""


def at(seconds: float) -> datetime:
    """So many seconds after T0."""
    return T0 + timedelta(seconds=seconds)


def stored(job: JobT, namespace: str = "default") -> JobT:
    """
    The job as the API server gives it back: namespace, uid and generation are filled in where it has none.

    A plan wants them: what a job owns refers to its uid. The job that is passed in stays as it is.
    """
    wire = job.to_wire()
    given = {"namespace": namespace, "uid": f"uid-{job.name}", "generation": 1}
    return type(job).from_wire({**wire, "metadata": {**given, **wire["metadata"]}})


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
    last: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """
    A container's status: terminated if it has an exit code, waiting if it says why, else running.

    `last` is the one of before its last restart.
    """
    state: dict[str, Any]
    if exit_code is not None:
        said = reason or ("Completed" if exit_code == 0 else "Error")
        state = {"terminated": {"exitCode": exit_code, "reason": said, "message": message}}
        state["terminated"]["finishedAt"] = format_time(finished or at(60))
    elif waiting:
        state = {"waiting": {"reason": waiting, "message": waiting_message}}
    else:
        state = {"running": {"startedAt": format_time(at(1))}}
    shown = {"name": name, "state": state, "ready": ready, "restartCount": restarts}
    return {**shown, "lastState": last["state"]} if last else shown


@dataclass(frozen=True, slots=True, kw_only=True)
class PodFields:
    """
    What tests say of a job's pod.

    `phase` and `exit_code` give the main container its status, unless `containers` says all.
    `deleted` is when the deletion was asked for; the grace period is 30 s.
    """

    role: str
    index: int
    job: str = "g"
    namespace: str = "t"
    phase: str = "Running"
    attempt: int = 1
    uid: str = ""
    ready: bool | None = None
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    pod_reason: str = ""
    restarts: int = 0
    waiting: str = ""
    conditions: Sequence[Mapping[str, Any]] = ()
    created: datetime | None = None
    deleted: datetime | None = None
    finished: datetime | None = None
    restart_policy: str = "Never"
    containers: Sequence[dict[str, Any]] | None = None
    init_containers: Sequence[dict[str, Any]] = ()
    main: str = ""
    labels: Mapping[str, str] | None = None

    def wire(self) -> dict[str, Any]:
        """The pod as JSON."""
        containers = self._container_statuses() if self.containers is None else self.containers
        names = [each["name"] for each in containers] or ["main"]
        spec = {"restartPolicy": self.restart_policy, "containers": [{"name": name} for name in names]}
        status: dict[str, Any] = {"phase": self.phase, "conditions": list(self.conditions)}
        status["containerStatuses"] = list(containers)
        status["initContainerStatuses"] = list(self.init_containers)
        if self.pod_reason:
            status |= {"reason": self.pod_reason, "message": self.message}
        pod = {"apiVersion": "v1", "kind": "Pod"}
        return {**pod, "metadata": self._metadata(), "spec": spec, "status": status}

    def _metadata(self) -> dict[str, Any]:
        role = self.role.lower()
        metadata: dict[str, Any] = {
            "name": f"{self.job}-{role}-{self.index}",
            "namespace": self.namespace,
            "uid": self.uid or f"uid-{self.job}-{role}-{self.index}-{self.attempt}",
            "creationTimestamp": format_time(self.created or T0),
            "labels": {
                LABEL_JOB_NAME: self.job,
                LABEL_REPLICA_TYPE: role,
                LABEL_REPLICA_INDEX: str(self.index),
                LABEL_ATTEMPT: str(self.attempt),
                **(self.labels or {}),
            },
        }
        if self.main:
            metadata["annotations"] = {DEFAULT_CONTAINER_ANNOTATION: self.main}
        if self.deleted is not None:
            metadata["deletionTimestamp"] = format_time(self.deleted + timedelta(seconds=30))
            metadata["deletionGracePeriodSeconds"] = 30
        return metadata

    def _container_statuses(self) -> list[dict[str, Any]]:
        exit_code = 0 if self.phase == "Succeeded" else self.exit_code
        if exit_code is not None:
            return [
                container_status(
                    exit_code=exit_code,
                    reason=self.reason,
                    message=self.message,
                    finished=self.finished,
                    restarts=self.restarts,
                )
            ]
        if self.phase == "Failed":
            return []  # evicted before anything ran
        if self.phase == "Pending":
            waiting = self.waiting or "ContainerCreating"
            return [container_status(waiting=waiting, restarts=self.restarts)]
        is_ready = self.phase == "Running" and self.ready is not False and not self.waiting
        return [container_status(waiting=self.waiting, ready=is_ready, restarts=self.restarts)]


def make_pod_wire(role: str = "worker", index: int = 0, **fields: Any) -> dict[str, Any]:
    """A pod of a job as JSON; `fields` are those of `PodFields`."""
    return PodFields(role=role, index=index, **fields).wire()


def make_pod(role: str = "worker", index: int = 0, **fields: Any) -> PodView:
    """The view of `make_pod_wire` with the same arguments."""
    return msgspec.convert(make_pod_wire(role, index, **fields), PodView)


def make_service(name: str = "g", *, uid: str = "") -> ServiceView:
    """A Service of a job."""
    return msgspec.convert({"metadata": {"name": name, "uid": uid or f"uid-service-{name}"}}, ServiceView)
