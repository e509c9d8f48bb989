# SPDX-License-Identifier: Apache-2.0
"""JobReconciler: the thin shell that looks at the cache, asks the plan and carries it out."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Generic

from dglop.common.conditions import Conditions, is_finished
from dglop.common.constants import LABEL_JOB_NAME, POD, SERVICE
from dglop.common.executor import Executor
from dglop.common.memory import Memories
from dglop.common.metrics import FailedPods, JobMetrics
from dglop.common.observed import Observed
from dglop.common.pacing import StatusPace
from dglop.common.plan import fail_plan, plan
from dglop.common.rbac import job_rules
from dglop.common.reasons import Reason
from dglop.common.replica import JobT
from dglop.common.scheduling import Scheduling
from dglop.common.settings import JobSettings
from dglop.common.unreadable import fail_unreadable
from dglop.common.views import PodView, ServiceView
from dglop.common.watching import GROUPS, WORKLOADS, ChildWatcher, ExpectationKey, unsettled_roles, wait_of
from dglop.common.writes import Writes
from dglop.errors import ConfigError, ConflictError, NotFoundError, SchemaError
from dglop.runtime.expectations import Expectations
from dglop.runtime.reconcile import Request, Result
from dglop.runtime.rights import declared_rules
from dglop.runtime.source import Owned

if TYPE_CHECKING:
    from dglop.common.actions import Plan
    from dglop.common.gang.schedulers import GangScheduler
    from dglop.common.kind import JobKind
    from dglop.common.kueue.decide import QueuePlan
    from dglop.common.memory import JobMemory
    from dglop.common.report import Report
    from dglop.runtime.cache import Cached
    from dglop.runtime.context import Context
    from dglop.runtime.controller import Controller
    from dglop.runtime.settings import Settings

__all__ = ("JobReconciler",)

# The write of the status brings the job back by itself; this is for a plan that wrote nothing.
_AT_ONCE: Final = timedelta(milliseconds=1)
_BLOCKED: Final = timedelta(seconds=5)
_CONTESTED: Final = timedelta(seconds=1)
_RECONCILE: Final = timedelta(seconds=120)


class JobReconciler(Generic[JobT]):
    """
    Reconciles the jobs of one kind: `manager.controller(DGLJob, JobReconciler(DGLJobKind()))`.

    Expected flow: plan from the cache; deletes, then creates; the controller writes the status that the plan
    made, once, and sends its events after it.
    With *gang* pods are scheduled in groups, and with *kueue* jobs wait in queues. What is not said here is
    as the JobSettings of the Manager say, flags included; so is how many jobs are reconciled at once. Raises
    ConfigError where a gang scheduler meets a kind that has `phases` and does not say in `pod_groups` which
    of its types run together.
    Its controller is given the rights to all that it does; a kind that has `extra_objects` declares by
    `needs`, on its class, the rights to create these and, but for Secrets, to get them.
    Guarantees: no decision that a crash could lose rests in memory; for a replica type whose last writes the
    cache does not show, nothing is created or deleted.
    """

    def __init__(
        self, kind: JobKind[JobT], *, gang: GangScheduler | None = None, kueue: bool | None = None
    ) -> None:
        self.kind = kind
        self._scheduling = Scheduling(kind, gang, kueue)
        self._memories = Memories()
        self._pace = StatusPace()
        self._expectations: Expectations[ExpectationKey] | None = None
        self._metrics: JobMetrics | None = None
        self._monotonic: Any = None

    def setup(self, controller: Controller[JobT]) -> None:
        """Have pods and Services of jobs watched; the controller calls this once."""
        self._monotonic = controller.clock.monotonic
        self._expectations = Expectations(controller.clock.monotonic)
        self._metrics = JobMetrics(controller.metrics, controller.resource.kind)
        controller.own(Owned(POD, labels=LABEL_JOB_NAME))
        controller.own(Owned(SERVICE, labels=LABEL_JOB_NAME))
        watcher = ChildWatcher(self._expectations)
        controller.observe(POD, watcher)
        controller.observe(POD, FailedPods(self._metrics))
        controller.observe(SERVICE, watcher)
        controller.rules += (*job_rules(controller.resource), *declared_rules(self.kind))
        if "reconcile_timeout" not in controller.given:
            controller.reconcile_timeout = _RECONCILE

    def apply_settings(self, controller: Controller[JobT], settings: Settings) -> None:
        """Have groups and Workloads watched where they are wanted; the Manager calls this.

        Raises ConfigError for a kind that cannot be scheduled in gangs, where they are turned on.
        """
        if isinstance(settings, JobSettings) and "concurrency" not in controller.given:
            controller.concurrency = settings.concurrency
        self._scheduling.apply(controller, settings, ChildWatcher(self._known_expectations()))

    def gone(self, request: Request) -> None:
        """Forget a job that is no more."""
        uid = self._memories.forget(request)
        if uid is None:
            return
        self._pace.forget(uid)
        self._known_expectations().forget_if(lambda key: key[0] == uid)
        if self._metrics:
            self._metrics.deleted(request.namespace)

    async def unreadable(self, cached: Cached, error: SchemaError, ctx: Context) -> None:
        """End a job that does not fit its kind's type; the others go on."""
        await fail_unreadable(cached, error, ctx, managed_by=self.kind.managed_by)

    async def __call__(self, job: JobT, ctx: Context) -> Result | None:
        memory = self._memories.of(ctx.request, job.uid)
        if self._metrics:
            self._metrics.seen(job.namespace)
        roles = self._roles(job)
        observed = await self._observe(job, ctx, roles)
        writes = Writes(ctx.client, job.namespace, self._known_expectations())
        queue = self._scheduling.queue
        queued = await queue.tend(job, observed, ctx, writes) if queue else None
        if queued:
            observed = replace(observed, admission=queued.admission)
        known = self._with_recalled(job)
        made = plan(known, observed, ctx.now(), self.kind)
        if made.delete_job:
            return await self._delete_job(job, ctx)
        if made.warning and ctx.log:
            ctx.log.warning(made.warning)
        report = await self._carry_out(job, made, memory, ctx, writes)
        if report.refused:
            made = fail_plan(known, observed, ctx.now(), self.kind, report.refused)
        self._show_trouble(job, made, memory, ctx)
        self._tell(job, made, report, memory, ctx)
        self._tell_ignored(job, memory, ctx)
        self._tell_queue(job, queued, memory, ctx)
        held = self._pace.wait(job.uid, job.status, made.status, self._monotonic())
        if not held and made.status != job.status:
            ctx.on_written(lambda: self._pace.wrote(job.uid, self._monotonic()))
            job.status = made.status
        waits = [_seconds(held)] if held else []
        if writes.contested:
            waits.append(_CONTESTED)
        turn = self._next(job, made, memory, roles, waits)
        return _sooner(turn, _BLOCKED) if queued and queued.again else turn

    def _with_recalled(self, job: JobT) -> JobT:
        """The job with what was seen of its pods and is not written yet."""
        status = self._pace.recall(job.uid, job.status)
        return job if status is job.status else job.model_copy(update={"status": status})

    def _roles(self, job: JobT) -> list[str]:
        try:
            return [role.lower() for role in self.kind.replicas(job)]
        except SchemaError:
            return []  # the plan says what is wrong

    async def _observe(self, job: JobT, ctx: Context, roles: list[str]) -> Observed:
        known, gang = self._known_expectations(), self._scheduling.gang
        return Observed(
            pods=tuple(each.view(PodView) for each in ctx.owned(POD, job)),
            services=tuple(each.view(ServiceView) for each in ctx.owned(SERVICE, job)),
            unsettled=unsettled_roles(known, job.uid, roles),
            gang=await gang.observe(job, ctx, self.kind, known) if gang else None,
        )

    async def _carry_out(
        self, job: JobT, made: Plan, memory: JobMemory, ctx: Context, writes: Writes
    ) -> Report:
        executor = Executor(ctx, job, writes, memory)
        await executor.delete(made)
        if made.recheck:
            memory.recheck(self._monotonic())
        wants = bool(made.creates or made.services or made.recheck or made.groups)
        if wants and not memory.backoff.left(self._monotonic()):
            await executor.create(made)
            report = executor.report
            self._set_backoff(memory, report)
            said = report.trouble == memory.trouble
            memory.trouble = report.trouble
            if said:
                report.blocked.clear()  # one event is enough until it changes
        elif not wants:
            memory.trouble = None
        return executor.report

    def _set_backoff(self, memory: JobMemory, report: Report) -> None:
        now = self._monotonic()
        if report.denied:
            memory.backoff.failed(now)
            return
        memory.backoff.succeeded()
        if report.asked and report.blocked:
            memory.backoff.hold(now, _BLOCKED.total_seconds())

    def _show_trouble(self, job: JobT, made: Plan, memory: JobMemory, ctx: Context) -> None:
        """Say in the status what keeps children from being created, for as long as it does."""
        if memory.trouble is None or is_finished(made.status):
            return
        reason, message = memory.trouble
        second = ctx.now().replace(microsecond=0)
        Conditions(job.kind, made.status, second).waiting(str(reason), message)

    def _tell(self, job: JobT, made: Plan, report: Report, memory: JobMemory, ctx: Context) -> None:
        """Events go out after the status was written; that pods wait is told once the status says so."""
        for event in made.events:
            if memory.trouble and event.action == "Wait":
                continue
            ctx.event(job, event.reason, event.note, type=event.type, action=event.action)
        if report.denied:
            ctx.event(job, report.denied_as, report.denied, type="Warning", action="Create")
        for blocked in report.blocked:
            ctx.event(job, Reason.RESOURCE_EXISTS, blocked, type="Warning", action="Create")
        for remade in report.remade:
            note = f"{remade} was gone while pods waited for it: it is made again"
            ctx.event(job, Reason.OBJECT_LOST, note, type="Warning", action="Create")
        metrics = self._metrics
        if metrics is None:
            return
        metrics.children(report, job.namespace)
        # A status write that conflicts is planned again, and must not be counted twice.
        ctx.on_written(lambda: metrics.jobs(made.counters, job.namespace))

    def _tell_ignored(self, job: JobT, memory: JobMemory, ctx: Context) -> None:
        untold = memory.ignored.untold()
        for role, fields in untold.items():
            note = (
                f"fields in the template of {role} are ignored, since no pod has such a field: "
                f"{', '.join(fields)}; look for misspelt names"
            )
            ctx.event(job, Reason.TEMPLATE_FIELD_IGNORED, note, type="Warning", action="Create")
        if untold:
            # Not at once: where the status cannot be written, the events are not sent either.
            ctx.on_written(memory.ignored.told)

    def _next(
        self, job: JobT, made: Plan, memory: JobMemory, roles: list[str], waits: list[timedelta]
    ) -> Result | None:
        if made.requeue_after is not None:
            waits.append(max(made.requeue_after, _AT_ONCE))
        backoff = memory.backoff.left(self._monotonic())
        if backoff:
            waits.append(_seconds(backoff))
        if memory.trouble and memory.trouble[0] == Reason.RESOURCE_EXISTS:
            waits.append(_BLOCKED)
        unseen = wait_of(self._known_expectations(), job.uid, [*roles, GROUPS, WORKLOADS])
        if unseen is not None:
            waits.append(_seconds(unseen) + _AT_ONCE)
        return Result(requeue_after=min(waits)) if waits else None

    def _tell_queue(self, job: JobT, queued: QueuePlan | None, memory: JobMemory, ctx: Context) -> None:
        """What was done is told at once, for it is done; a trouble that lasts only once."""
        events = queued.events if queued else ()
        if events != memory.queue_events:
            for event in events:
                ctx.event(job, event.reason, event.note, type=event.type, action="Queue", now=True)
        memory.queue_events = events

    async def _delete_job(self, job: JobT, ctx: Context) -> Result | None:
        try:
            await ctx.client.delete(
                type(job).resource, job.name, job.namespace, uid=job.uid, propagation="Background"
            )
        except NotFoundError:
            return None
        except ConflictError:
            return Result(requeue_after=_CONTESTED)  # made anew, or changed just then
        return None

    def _known_expectations(self) -> Expectations[ExpectationKey]:
        if self._expectations is None:
            raise ConfigError("JobReconciler is not set up: pass it to Manager.controller")
        return self._expectations


def _seconds(wait: float) -> timedelta:
    """The wait as a time that is never nothing: a fraction of a microsecond would be rounded to that."""
    return max(timedelta(seconds=wait), _AT_ONCE)


def _sooner(turn: Result | None, wait: timedelta) -> Result:
    """The turn that comes first: the one that is planned, or one after *wait*."""
    planned = turn.requeue_after if turn else None
    return Result(requeue_after=min(planned, wait) if planned is not None else wait)
