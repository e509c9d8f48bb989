# SPDX-License-Identifier: Apache-2.0
"""The few fields of pods and services that the base job controller reads."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from dglop.common.constants import (
    DEFAULT_CONTAINER_ANNOTATION,
    LABEL_ATTEMPT,
    LABEL_REPLICA_INDEX,
    LABEL_REPLICA_TYPE,
)

__all__ = (
    "ContainerState",
    "ContainerStatus",
    "ContainerView",
    "PodCondition",
    "PodMeta",
    "PodSpecView",
    "PodStatusView",
    "PodView",
    "Running",
    "ServiceView",
    "Terminated",
    "Waiting",
)


class Waiting(msgspec.Struct, frozen=True):
    """Why a container does not run yet."""

    reason: str = ""
    message: str = ""


class Running(msgspec.Struct, frozen=True, rename="camel"):
    """Since when a container runs."""

    started_at: datetime | None = None


class Terminated(msgspec.Struct, frozen=True, rename="camel"):
    """How a container ended."""

    exit_code: int = 0
    signal: int | None = None
    reason: str = ""
    message: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None


class ContainerState(msgspec.Struct, frozen=True):
    """One of the three, or none."""

    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(msgspec.Struct, frozen=True, rename="camel"):
    """What the kubelet says of one container."""

    name: str
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class PodCondition(msgspec.Struct, frozen=True, rename="camel"):
    """One condition of a pod."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    last_transition_time: datetime | None = None


class ContainerView(msgspec.Struct, frozen=True, rename="camel"):
    """A container of the pod's spec; with a restart policy of its own it is a sidecar."""

    name: str
    restart_policy: str | None = None


class PodMeta(msgspec.Struct, frozen=True, rename="camel"):
    """The part of the metadata that is read."""

    name: str
    uid: str = ""
    namespace: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None


class PodSpecView(msgspec.Struct, frozen=True, rename="camel"):
    """The part of the spec that is read."""

    containers: tuple[ContainerView, ...] = ()
    init_containers: tuple[ContainerView, ...] = ()
    restart_policy: str = "Always"
    node_name: str | None = None
    scheduler_name: str = ""


class PodStatusView(msgspec.Struct, frozen=True, rename="camel"):
    """The part of the status that is read."""

    phase: str = "Pending"
    reason: str | None = None
    message: str | None = None
    pod_ip: str | None = msgspec.field(default=None, name="podIP")
    conditions: tuple[PodCondition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class PodView(msgspec.Struct, frozen=True):
    """A pod as the plan sees it.

    Decoded from the cache's bytes; never written back.
    """

    metadata: PodMeta
    spec: PodSpecView = PodSpecView()
    status: PodStatusView = PodStatusView()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @property
    def replica_type(self) -> str:
        """The role in lower case, as the label has it; "" where there is none."""
        return self.metadata.labels.get(LABEL_REPLICA_TYPE, "")

    @property
    def index(self) -> int:
        """The replica index; -1 where the label is no number."""
        return _number(self.metadata.labels.get(LABEL_REPLICA_INDEX), -1)

    @property
    def attempt(self) -> int:
        """The attempt that the pod was made for; 0 where the label is no number."""
        return _number(self.metadata.labels.get(LABEL_ATTEMPT), 0)

    @property
    def phase(self) -> str:
        return self.status.phase

    @property
    def is_terminating(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    @property
    def deletion_asked_at(self) -> datetime | None:
        """When the deletion was asked for: deletionTimestamp lies a grace period after it."""
        end = self.metadata.deletion_timestamp
        return end - timedelta(seconds=self.metadata.deletion_grace_period_seconds or 0) if end else None

    @property
    def main_name(self) -> str:
        """The container that decides: the default container, else the first one."""
        named = self.metadata.annotations.get(DEFAULT_CONTAINER_ANNOTATION, "")
        names = [each.name for each in self.spec.containers]
        return named if named in names or not names else names[0]

    @property
    def main(self) -> ContainerStatus | None:
        """The main container's status, once the kubelet has written one."""
        return self.container(self.main_name)

    @property
    def restarts(self) -> int:
        """How often the kubelet restarted containers, those of `restarted`."""
        return sum(each.restart_count for each in self.restarted)

    @property
    def restarted(self) -> tuple[ContainerStatus, ...]:
        """The containers whose restarts count; native sidecars restart as they like.

        So do containers beside the main one that state a restart policy of their own. Under Never nothing is
        started again, yet the kubelet counts one for each container that it lost (ContainerStatusUnknown).
        """
        specs = (*self.spec.init_containers, *self.spec.containers)
        own = {each.name: each.restart_policy for each in specs if each.restart_policy}
        main = own.pop(self.main_name, self.spec.restart_policy)
        every = (*self.status.init_container_statuses, *self.status.container_statuses)
        return tuple(
            each
            for each in every
            if each.restart_count
            and each.name not in own
            and (main if each.name == self.main_name else self.spec.restart_policy) != "Never"
        )

    @property
    def is_succeeded(self) -> bool:
        """The main container ended with 0 and is not started again, whatever a sidecar does."""
        if self.phase == "Succeeded":
            return True
        ended = self.main_terminated
        return ended is not None and ended.exit_code == 0 and self.spec.restart_policy != "Always"

    @property
    def is_failed(self) -> bool:
        """The pod, or its main container for good, ended in another way than with 0."""
        if self.is_succeeded:
            return False
        if self.phase == "Failed":
            return True
        ended = self.main_terminated
        return ended is not None and ended.exit_code != 0 and self.spec.restart_policy == "Never"

    @property
    def is_active(self) -> bool:
        """Running, not on its way out, and its main container not ended."""
        over = self.is_terminating or self.is_succeeded or self.is_failed
        return self.phase == "Running" and not over

    @property
    def is_over(self) -> bool:
        """Nothing runs in it any more, and nothing will.

        The kubelet writes a final phase only when the pod is torn down, so until then the containers tell.
        """
        if self.phase in ("Succeeded", "Failed"):
            return True
        if self.phase != "Running" or self.spec.restart_policy == "Always":
            return False
        ends = [self.container(each.name) for each in self.spec.containers]
        codes = [each.state.terminated.exit_code if each and each.state.terminated else None for each in ends]
        if None in codes or not codes:
            return False
        return self.spec.restart_policy == "Never" or not any(codes)

    @property
    def is_ready(self) -> bool:
        """Active, with a main container that is ready; a sidecar that is not ready does not matter."""
        if not self.is_active:
            return False
        main = self.main
        return main.ready if main else self.condition_is("Ready", "True")

    @property
    def main_terminated(self) -> Terminated | None:
        main = self.main
        return main.state.terminated if main else None

    def container(self, name: str) -> ContainerStatus | None:
        """The status of a container or init container."""
        every = (*self.status.container_statuses, *self.status.init_container_statuses)
        return next((each for each in every if each.name == name), None)

    def condition(self, type_: str) -> PodCondition | None:
        return next((each for each in self.status.conditions if each.type == type_), None)

    def condition_is(self, type_: str, status: str) -> bool:
        found = self.condition(type_)
        return found is not None and found.status == status


class ServiceView(msgspec.Struct, frozen=True):
    """A Service of the job, by its metadata."""

    metadata: PodMeta

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def uid(self) -> str:
        return self.metadata.uid


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else default
