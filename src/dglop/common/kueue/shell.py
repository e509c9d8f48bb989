# SPDX-License-Identifier: Apache-2.0
"""What the shell of a job controller does for a queue: it looks, has it decided, and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dglop.common.actions import JobEvent
from dglop.common.conditions import is_finished
from dglop.common.constants import MANAGED_BY_MULTIKUEUE, PRIORITY_CLASS
from dglop.common.kueue.decide import QueuePlan, QueueSeen, queue_plan
from dglop.common.kueue.manifest import Priority, PriorityRef, prebuilt_name, priority_ref, queue_name
from dglop.common.kueue.names import FLAVOR, WORKLOAD, WORKLOAD_PRIORITY, WorkloadCondition
from dglop.common.kueue.podsetinfo import QueueAdmission
from dglop.common.kueue.views import FlavorView, WorkloadView
from dglop.common.kueue.writer import QueueWriter
from dglop.common.reasons import ConditionType
from dglop.common.starting import is_foreign
from dglop.common.watching import WORKLOADS
from dglop.errors import CacheNotSyncedError, NotFoundError, SchemaError
from dglop.runtime.source import Owned, Watch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.common.kind import JobKind
    from dglop.common.observed import Observed
    from dglop.common.watching import ChildWatcher, ExpectationKey
    from dglop.common.writes import Writes
    from dglop.runtime.context import Context
    from dglop.runtime.controller import Controller
    from dglop.runtime.expectations import Expectations
    from dglop.runtime.predicate import Event
    from dglop.runtime.reconcile import Request

__all__ = ("QueueShell",)

AGAIN_SECONDS: Final = 5.0


class QueueShell:
    """Keeps the Workloads of one kind's jobs."""

    def __init__(self, kind: JobKind[Any]) -> None:
        self._kind = kind

    def setup(self, controller: Controller[Any], watcher: ChildWatcher) -> None:
        """Have Workloads watched by owner, and ResourceFlavors kept, from when the server knows them."""
        controller.own(Owned(WORKLOAD, optional=True))
        controller.watch(Watch(FLAVOR, _nobody, optional=True))
        controller.observe(WORKLOAD, watcher)

    async def tend(self, job: Any, observed: Observed, ctx: Context, writes: Writes) -> QueuePlan:
        """
        Do what the queue needs for *job* through *writes*, and say what it means for the job.

        Raises ApiError where a write fails: then nothing else is done for the job in this turn.
        """
        is_remote = job.spec.run_policy.managed_by == MANAGED_BY_MULTIKUEUE
        if job.is_deleting or (is_foreign(job, self._kind) and not is_remote):
            return QueuePlan()
        try:
            seen = await self._look(job, ctx, writes.expectations)
        except CacheNotSyncedError as problem:
            return _unserved(job, str(problem))
        except _NoClassError as problem:
            admission = QueueAdmission(False, str(problem))
            return QueuePlan(admission, events=(_trouble(str(problem)),), again=True)
        try:
            made = queue_plan(job, seen, observed, ctx.now(), self._kind, is_remote=is_remote)
        except SchemaError:
            return QueuePlan()  # the plan of the job ends it, and says what is wrong
        await QueueWriter(ctx, job, writes).carry_out(made)
        return made

    async def _look(self, job: Any, ctx: Context, expectations: Expectations[ExpectationKey]) -> QueueSeen:
        workloads = {each.uid: each.view(WorkloadView) for each in ctx.owned(WORKLOAD, job)}
        prebuilt = prebuilt_name(job)
        found = ctx.cached(WORKLOAD, prebuilt, job.namespace) if prebuilt else None
        if found is not None:
            workloads[found.uid] = found.view(WorkloadView)
        present = tuple(workloads.values())
        settled = expectations.satisfied((job.uid, WORKLOADS))
        # Nothing is made of a priority before the last writes are seen.
        priority = await self._priority(job, present, ctx) if settled else None
        return QueueSeen(present, _flavors(present, ctx), priority, settled)

    async def _priority(self, job: Any, present: Iterable[WorkloadView], ctx: Context) -> Priority | None:
        """What the job's class is worth: asked for only where a Workload is to say it and does not yet."""
        if not queue_name(job) or prebuilt_name(job) or is_finished(job.status):
            return None
        try:
            wanted = priority_ref(job, self._kind)
        except SchemaError:
            return None
        if any(_is_settled(each, wanted) for each in present if not each.is_terminating):
            return None
        return await _value_of(wanted, ctx)


def _flavors(present: Iterable[WorkloadView], ctx: Context) -> dict[str, FlavorView]:
    """All of them by name, where a Workload may name some."""
    if not any(each.is_true(WorkloadCondition.ADMITTED) for each in present):
        return {}
    views = (each.view(FlavorView) for each in ctx.cache.list(FLAVOR))
    return {each.metadata.name: each for each in views}


def _is_settled(workload: WorkloadView, wanted: PriorityRef) -> bool:
    """Whether its priority stays: it is the wanted one, or quota is reserved by it."""
    ref = workload.spec.priority_class_ref
    if workload.is_true(WorkloadCondition.QUOTA_RESERVED):
        return True
    # Where the job names none, the cluster's default may stand in the Workload.
    return ref.name == wanted.name or (not wanted.name and ref.kind == PRIORITY_CLASS.kind)


class _NoClassError(Exception):
    """The priority class that a job names is not there."""


async def _value_of(wanted: PriorityRef, ctx: Context) -> Priority:
    if not wanted.name:
        return await _default(ctx)
    kind = WORKLOAD_PRIORITY if wanted.is_of_workloads else PRIORITY_CLASS
    try:
        found = await ctx.client.get(kind, wanted.name)
    except NotFoundError:
        raise _NoClassError(f"{kind.kind} {wanted.name} is not there: create it or name another") from None
    return Priority(wanted.name, int(found.get("value", 0)), wanted.is_of_workloads)


async def _default(ctx: Context) -> Priority:
    """The cluster's default PriorityClass, if it has one."""
    every = await ctx.client.list(PRIORITY_CLASS)
    chosen = next((each for each in every if each.get("globalDefault")), None)
    return Priority(chosen["metadata"]["name"], int(chosen.get("value", 0))) if chosen else Priority()


def _unserved(job: Any, problem: str) -> QueuePlan:
    if not queue_name(job):
        return QueuePlan()
    note = f"it names queue {queue_name(job)}, but Kueue is not there: {problem}"
    # What runs was let in once: it goes on, but nothing is made for it.
    runs = job.status.start_time is not None and not job.status.is_true(ConditionType.SUSPENDED)
    return QueuePlan(QueueAdmission(runs, note), events=(_trouble(note),), again=True)


def _trouble(note: str) -> JobEvent:
    return JobEvent("ErrWorkloadCompose", note, "Warning")


def _nobody(event: Event) -> Iterable[Request]:
    del event
    return ()
