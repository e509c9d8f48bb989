# SPDX-License-Identifier: Apache-2.0
"""Whether the jobs of a kind are in gangs and queues: the program says so, or its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.common.gang.schedulers import gang_scheduler
from dglop.common.gang.shell import gang_shell
from dglop.common.kueue.shell import QueueShell
from dglop.common.rbac import scheduling_rules
from dglop.common.settings import JobSettings
from dglop.errors import ConfigError

if TYPE_CHECKING:
    from dglop.common.gang.schedulers import GangScheduler
    from dglop.common.gang.shell import GangShell
    from dglop.common.kind import JobKind
    from dglop.common.watching import ChildWatcher
    from dglop.runtime.controller import Controller
    from dglop.runtime.settings import Settings

__all__ = ("Scheduling",)


class Scheduling:
    """
    The gangs and queues of one kind's jobs.

    What is not said here is as JobSettings say, once they are known; there is neither under other Settings.
    Raises ConfigError where a gang scheduler meets a kind that has `phases` and no `pod_groups`.
    """

    def __init__(self, kind: JobKind[Any], gang: GangScheduler | None, kueue: bool | None) -> None:
        self._kind = kind
        self._stated = gang_shell(kind, gang)
        self._wants_queue = kueue
        self._chosen: tuple[str, bool] | None = None
        self.gang: GangShell | None = None
        self.queue: QueueShell | None = None

    def apply(self, controller: Controller[Any], settings: Settings, watcher: ChildWatcher) -> None:
        """Have groups and Workloads watched where they are wanted, and declare the rights to them.

        Raises ConfigError where it was done before with another result, since watches stay.
        """
        gang, kueue = self._choice(settings)
        chosen = (gang.scheduler.scheduler_name if gang else "", kueue)
        if self._chosen == chosen:
            return
        if self._chosen is not None:
            raise ConfigError(
                f"controller {controller.name} was made ready for other gangs or queues already: ask for the "
                "Manager's rules only when its flags have been read"
            )
        self._chosen, self.gang = chosen, gang
        if gang:
            gang.setup(controller, watcher)
        if kueue:
            self.queue = QueueShell(self._kind)
            self.queue.setup(controller, watcher)
        scheduler = gang.scheduler if gang else None
        controller.rules += scheduling_rules(controller.resource, gang=scheduler, kueue=kueue)

    def _choice(self, settings: Settings) -> tuple[GangShell | None, bool]:
        gang, kueue = self._stated, self._wants_queue
        if isinstance(settings, JobSettings):
            named = gang_scheduler(settings.gang_scheduler, settings.gang_scheduler_name)
            gang = gang or gang_shell(self._kind, named)
            kueue = settings.kueue if kueue is None else kueue
        return gang, bool(kueue)
