# SPDX-License-Identifier: Apache-2.0
"""The two schedulers that know groups: how each wants its PodGroup and its pods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final

from dglop.errors import ConfigError
from dglop.runtime.api.resource import Resource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.common.gang.seen import GroupView
    from dglop.common.types import SchedulingPolicy
    from dglop.runtime.api.rawpod import RawPod

__all__ = ("GangScheduler", "SchedulerPlugins", "Volcano", "gang_scheduler")

NONE: Final = "none"
QUEUE_ANNOTATION: Final = "scheduling.volcano.sh/queue-name"


class GangScheduler(ABC):
    """
    What differs between the schedulers.

    Attributes
    ----------
        resource: the kind of its groups.
        scheduler_name: what pods name as their scheduler, unless their template names another.
        queues: whether a group has to be taken up before its pods are made.
    """

    resource: ClassVar[Resource]
    default_name: ClassVar[str]
    queues: ClassVar[bool]

    def __init__(self, scheduler_name: str = "") -> None:
        self.scheduler_name: str = scheduler_name or self.default_name

    def mark(self, pod: RawPod, group: str, role: str) -> None:
        """Put a pod into a group; a scheduler that the template names stays."""
        if not pod.spec.get("schedulerName"):
            pod.spec["schedulerName"] = self.scheduler_name
        self._mark(pod, group, role)

    @abstractmethod
    def _mark(self, pod: RawPod, group: str, role: str) -> None:
        """Name the group in the pod's metadata."""

    @abstractmethod
    def spec(
        self, policy: SchedulingPolicy, *, least: int, resources: Mapping[str, str], priority_class: str
    ) -> dict[str, Any]:
        """The fields of the group's spec that may change; null for one that must not be there."""

    def first_spec(self, policy: SchedulingPolicy, annotations: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """Those that are only stated when the group is made."""
        return {}

    @abstractmethod
    def admits(self, group: GroupView) -> bool:
        """Whether the pods of the group may be made."""


class Volcano(GangScheduler):
    """Volcano. A group waits in its queue first; its pods are made when the queue has room for them."""

    resource: ClassVar[Resource] = Resource("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups")
    default_name: ClassVar[str] = "volcano"
    queues: ClassVar[bool] = True

    def _mark(self, pod: RawPod, group: str, role: str) -> None:
        pod.annotations["scheduling.k8s.io/group-name"] = group
        pod.annotations["volcano.sh/task-spec"] = role.lower()

    def spec(
        self, policy: SchedulingPolicy, *, least: int, resources: Mapping[str, str], priority_class: str
    ) -> dict[str, Any]:
        del policy
        return {
            "minMember": least,
            "minResources": dict(resources) or None,
            "priorityClassName": priority_class or None,
        }

    def first_spec(self, policy: SchedulingPolicy, annotations: Mapping[str, str]) -> dict[str, Any]:
        """The queue: Volcano may move a group to another one, so it is not stated again."""
        return {"queue": policy.queue or annotations.get(QUEUE_ANNOTATION) or "default"}

    def admits(self, group: GroupView) -> bool:
        return group.status.phase not in ("", "Pending")


class SchedulerPlugins(GangScheduler):
    """The coscheduling plugin of scheduler-plugins; it looks at the pods themselves, so they come at once."""

    resource: ClassVar[Resource] = Resource("scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups")
    default_name: ClassVar[str] = "scheduler-plugins-scheduler"
    queues: ClassVar[bool] = False

    def _mark(self, pod: RawPod, group: str, role: str) -> None:
        del role
        pod.labels["scheduling.x-k8s.io/pod-group"] = group

    def spec(
        self, policy: SchedulingPolicy, *, least: int, resources: Mapping[str, str], priority_class: str
    ) -> dict[str, Any]:
        del priority_class
        return {
            "minMember": least,
            "minResources": dict(resources) or None,
            "scheduleTimeoutSeconds": policy.schedule_timeout_seconds,
        }

    def admits(self, group: GroupView) -> bool:
        del group
        return True


_BY_NAME: Final = {"volcano": Volcano, "scheduler-plugins": SchedulerPlugins}


def gang_scheduler(name: str, scheduler_name: str = "") -> GangScheduler | None:
    """The scheduler that a flag names; None for `none`. Raises ConfigError for a name there is none of."""
    if name in ("", NONE):
        return None
    made = _BY_NAME.get(name)
    if made is None:
        raise ConfigError(f"no gang scheduler is named {name!r}: give one of {', '.join((NONE, *_BY_NAME))}")
    return made(scheduler_name)
