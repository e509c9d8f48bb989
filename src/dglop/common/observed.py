# SPDX-License-Identifier: Apache-2.0
"""What the cache shows of one job's children, as a plain value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.common.gang.seen import Gang
    from dglop.common.kueue.podsetinfo import QueueAdmission
    from dglop.common.views import PodView, ServiceView

__all__ = ("Observed",)


@dataclass(frozen=True, slots=True)
class Observed:
    """
    The children of one job, all attempts, those on their way out included.

    Attributes
    ----------
        pods: every pod that the job controls.
        services: every Service that the job controls.
        unsettled: replica types (lower case) whose last creates or deletes the cache does not show yet;
            nothing is created or deleted for them, and no restart is decided, until it does.
        gang: gang scheduling, where the operator has it turned on.
        admission: what the queue says of a job that is in one.
    """

    pods: tuple[PodView, ...] = ()
    services: tuple[ServiceView, ...] = ()
    unsettled: frozenset[str] = frozenset()
    gang: Gang | None = None
    admission: QueueAdmission | None = None

    def pods_of(self, role: str) -> Iterator[PodView]:
        """The pods of a replica type; upper and lower case are one."""
        wanted = role.lower()
        return (pod for pod in self.pods if pod.replica_type == wanted)

    def pod(self, role: str, index: int = 0) -> PodView | None:
        """The pod in a slot, of whatever attempt and state."""
        return next((pod for pod in self.pods_of(role) if pod.index == index), None)

    def ready(self, role: str, attempt: int | None = None) -> int:
        """How many pods of a role (of one attempt) are ready."""
        return sum(pod.is_ready and attempt in (None, pod.attempt) for pod in self.pods_of(role))

    def active(self, role: str, attempt: int | None = None) -> int:
        """How many pods of a role (of one attempt) run."""
        return sum(pod.is_active and attempt in (None, pod.attempt) for pod in self.pods_of(role))

    def is_settled(self, role: str) -> bool:
        return role.lower() not in self.unsettled
