# SPDX-License-Identifier: Apache-2.0
"""Has a Manager run the jobs of a kind as its operator is told to."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from dglop.common.gang.schedulers import gang_scheduler
from dglop.common.reconciler import JobReconciler

if TYPE_CHECKING:
    from dglop.common.kind import JobKind
    from dglop.common.settings import JobSettings
    from dglop.runtime.manager import Manager

__all__ = ("add_jobs",)

_RECONCILE: Final = timedelta(seconds=120)


def add_jobs(manager: Manager, resource: type[Any], kind: JobKind[Any], settings: JobSettings) -> None:
    """
    Have the Manager run the jobs of *kind*, in the gangs and queues that *settings* turn on.

    Raises ConfigError for a kind that cannot be scheduled in gangs, where they are turned on.
    """
    gang = gang_scheduler(settings.gang_scheduler, settings.gang_scheduler_name)
    manager.controller(
        resource,
        JobReconciler(kind, gang=gang, kueue=settings.kueue),
        concurrency=settings.concurrency,
        reconcile_timeout=_RECONCILE,
    )
