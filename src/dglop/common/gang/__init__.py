# SPDX-License-Identifier: Apache-2.0
"""Gang scheduling: PodGroups, so that pods which need each other are scheduled together or not at all."""

from __future__ import annotations

from dglop.common.gang.group import Group
from dglop.common.gang.schedulers import GangScheduler, SchedulerPlugins, Volcano, gang_scheduler
from dglop.common.gang.seen import Gang, GroupView

__all__ = (
    "Gang",
    "GangScheduler",
    "Group",
    "GroupView",
    "SchedulerPlugins",
    "Volcano",
    "gang_scheduler",
)
