# SPDX-License-Identifier: Apache-2.0
"""What the plan knows of PodGroups: the scheduler, the groups in the cache, the values of classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from dglop.common.views import PodMeta  # noqa: TC001 - msgspec reads the annotations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.common.gang.schedulers import GangScheduler

__all__ = ("Gang", "GroupCondition", "GroupStatus", "GroupView")


class GroupCondition(msgspec.Struct, frozen=True):
    """Why a group is not scheduled."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""


class GroupStatus(msgspec.Struct, frozen=True):
    """The part of the status that is read."""

    phase: str = ""
    conditions: tuple[GroupCondition, ...] = ()


class GroupView(msgspec.Struct, frozen=True):
    """A PodGroup of either scheduler."""

    metadata: PodMeta
    status: GroupStatus = GroupStatus()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @property
    def is_terminating(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    @property
    def trouble(self) -> str:
        """What the scheduler says of a group that does not fit; "" where it says nothing."""
        found = (each for each in self.status.conditions if each.status == "True")
        return next((each.message for each in found if each.type == "Unschedulable"), "")


@dataclass(frozen=True, slots=True)
class Gang:
    """
    Gang scheduling as it is for one job now.

    Attributes
    ----------
        groups: the PodGroups that the job controls.
        is_watched: whether groups would be seen at all; not before the server knows the kind.
        is_settled: whether the cache shows the job's own last writes of groups.
        priorities: the values of the PriorityClasses that `priority_classes` names.
    """

    scheduler: GangScheduler
    groups: tuple[GroupView, ...] = ()
    is_watched: bool = True
    is_settled: bool = True
    priorities: Mapping[str, int] = field(default_factory=dict)

    def group(self, name: str) -> GroupView | None:
        """The group of this name, unless it is on its way out."""
        return next((each for each in self.groups if each.name == name and not each.is_terminating), None)
