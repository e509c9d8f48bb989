# SPDX-License-Identifier: Apache-2.0
"""What the operator must be allowed for gang scheduling, beside what it may without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dglop.common.constants import PRIORITY_CLASS
from dglop.common.gang.schedulers import SchedulerPlugins, Volcano
from dglop.runtime.api import Rule

if TYPE_CHECKING:
    from dglop.common.gang.schedulers import GangScheduler

__all__ = ("GANG_CLUSTER_RULES", "GANG_RULES", "gang_rules")

_VERBS = ("create", "delete", "get", "list", "patch", "watch")


def gang_rules(scheduler: type[GangScheduler]) -> tuple[Rule, ...]:
    """The rights to one scheduler's groups, in the namespaces of the jobs."""
    return (Rule.of(scheduler.resource, *_VERBS),)


GANG_RULES: Final = {
    "volcano": gang_rules(Volcano),
    "scheduler-plugins": gang_rules(SchedulerPlugins),
}
"""By the name that the operator's flag gives a scheduler."""

GANG_CLUSTER_RULES: Final = (Rule.of(PRIORITY_CLASS, "get"),)
"""To look up what a PriorityClass is worth, which is in no namespace."""
