# SPDX-License-Identifier: Apache-2.0
"""What the shell of a job controller adds for gang scheduling: watches, and what the plan has to know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.common.constants import PRIORITY_CLASS
from dglop.common.gang.seen import Gang, GroupView
from dglop.common.gang.settle import priority_classes
from dglop.common.kind import JobKind
from dglop.common.watching import GROUPS
from dglop.errors import CacheNotSyncedError, ConfigError, NotFoundError, SchemaError
from dglop.runtime.source import Owned

if TYPE_CHECKING:
    from dglop.common.gang.schedulers import GangScheduler
    from dglop.common.watching import ChildWatcher, ExpectationKey
    from dglop.runtime.context import Context
    from dglop.runtime.controller import Controller
    from dglop.runtime.expectations import Expectations

__all__ = ("GangShell", "gang_shell")


def gang_shell(kind: JobKind[Any], scheduler: GangScheduler | None) -> GangShell | None:
    """The shell for a scheduler, if there is one. Raises ConfigError for a kind that has no groups."""
    own = type(kind)
    if scheduler and own.phases is not JobKind.phases and own.pod_groups is JobKind.pod_groups:
        raise ConfigError(
            f"{own.__name__} has phases, so a group of all its replica types would wait for ever: "
            "say in its pod_groups which of them run at the same time"
        )
    return GangShell(scheduler) if scheduler else None


class GangShell:
    """Looks at the groups of jobs for one scheduler."""

    def __init__(self, scheduler: GangScheduler) -> None:
        self.scheduler = scheduler
        self._values: dict[str, int] = {}

    def setup(self, controller: Controller[Any], watcher: ChildWatcher) -> None:
        """Have the groups watched, by owner and whatever their labels, from when the server knows them."""
        controller.own(Owned(self.scheduler.resource, optional=True))
        controller.observe(self.scheduler.resource, watcher)

    async def observe(
        self, job: Any, ctx: Context, kind: JobKind[Any], expectations: Expectations[ExpectationKey]
    ) -> Gang:
        try:
            groups = tuple(each.view(GroupView) for each in ctx.owned(self.scheduler.resource, job))
        except CacheNotSyncedError:
            return Gang(self.scheduler, is_watched=False)
        settled = expectations.satisfied((job.uid, GROUPS))
        return Gang(
            self.scheduler, groups, is_settled=settled, priorities=await self._priorities(job, ctx, kind)
        )

    async def _priorities(self, job: Any, ctx: Context, kind: JobKind[Any]) -> dict[str, int]:
        """The values of the classes that matter; a class's value never changes, so it is asked for once."""
        try:
            names = priority_classes(job.spec.run_policy, kind.replicas(job).values())
        except SchemaError:
            return {}  # the plan says what is wrong
        for name in names - self._values.keys():
            try:
                found = await ctx.client.get(PRIORITY_CLASS, name)
            except NotFoundError:
                continue  # the pods will be refused in the server's own words
            self._values[name] = int(found.get("value", 0))
        return {name: self._values[name] for name in names & self._values.keys()}
