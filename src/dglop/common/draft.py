# SPDX-License-Identifier: Apache-2.0
"""A plan in the making: one job, what is seen of it, and what shall become of both."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from dglop.common.actions import (
    Counter,
    CreatePod,
    DeleteGroup,
    DeletePod,
    DeleteService,
    JobEvent,
    Plan,
    WriteGroup,
)
from dglop.common.conditions import Conditions
from dglop.common.counting import parse_ranges
from dglop.common.kind import Gate, JobKind, RestartScope
from dglop.common.reasons import Reason, kind_reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from dglop.common.gang.group import Group
    from dglop.common.observed import Observed
    from dglop.common.types import JobStatus, ReplicaSpec, RestartPolicy, RunPolicy
    from dglop.common.views import PodView

__all__ = ("AT_ONCE", "Draft", "Role", "controller_name")

AT_ONCE: Final = timedelta(0)


def controller_name(kind: JobKind[Any], job: Any) -> str:
    """The value of the operator-name label."""
    return kind.controller_name or f"{job.kind.lower()}-controller"


@dataclass(slots=True)
class Role:
    """
    One replica type within a plan.

    Attributes
    ----------
        is_kept: outlives a restart of the gang, and its loss counts nowhere.
        pods: all its pods within range, of every attempt.
        completed: indexes whose work is done.
        created: indexes whose pod was seen in the present attempt.
        limit: how many replicas may exist now, from index 0 on.
        outgrown: UIDs of its pods that give their places to others.
    """

    name: str
    spec: ReplicaSpec
    policy: RestartPolicy
    gate: Gate
    is_kept: bool
    is_serving: bool
    is_settled: bool
    pods: tuple[PodView, ...]
    completed: set[int]
    created: set[int]
    limit: int
    outgrown: frozenset[str] = frozenset()

    @property
    def is_limited(self) -> bool:
        return self.limit < self.wanted

    @property
    def remaining(self) -> list[PodView]:
        """Its pods without those that give their places to others."""
        return [pod for pod in self.pods if pod.uid not in self.outgrown]

    @property
    def wanted(self) -> int:
        return self.spec.replicas

    @property
    def slots(self) -> set[int]:
        """The indexes that have a pod, of whatever attempt and state."""
        return {pod.index for pod in self.pods}


@dataclass(slots=True)
class Draft:
    """
    What the steps of a plan read and write.

    `job` is the job as read, with defaults; `status` is the one that will be written.
    """

    job: Any
    observed: Observed
    now: datetime
    kind: JobKind[Any]
    status: JobStatus
    roles: dict[str, Role]
    scope: RestartScope
    conditions: Conditions
    creates: list[CreatePod] = field(default_factory=list)
    objects: list[dict[str, Any]] = field(default_factory=list)
    recheck: bool = False
    services: list[dict[str, Any]] = field(default_factory=list)
    groups_to_write: list[WriteGroup] = field(default_factory=list)
    delete_pods: dict[str, DeletePod] = field(default_factory=dict)
    delete_services: list[DeleteService] = field(default_factory=list)
    delete_groups: list[DeleteGroup] = field(default_factory=list)
    delete_job: bool = False
    events: list[JobEvent] = field(default_factory=list)
    counters: list[Counter] = field(default_factory=list)
    requeue_after: timedelta | None = None
    warning: str = ""
    is_undecided: bool = False
    """A failure is seen, but what follows from it waits for the cache: nothing is made until then."""
    held: set[str] = field(default_factory=set)
    """Roles whose pods wait for their PodGroup."""

    @classmethod
    def of(cls, job: Any, observed: Observed, now: datetime, kind: JobKind[Any]) -> Draft:
        """A draft that changes nothing yet; `job` itself is never changed."""
        copied = _with_defaults(job, kind)
        status = cast("JobStatus", copied.status.model_copy(deep=True))
        second = now.replace(microsecond=0)  # times on the wire have no fraction; compare what is written
        roles = _roles(copied, observed, kind)
        scope = kind.restart_scope(copied)
        conditions = Conditions(copied.kind, status, second)
        return cls(copied, observed, second, kind, status, roles, scope, conditions)

    @property
    def policy(self) -> RunPolicy:
        return cast("RunPolicy", self.job.spec.run_policy)

    @property
    def is_gang(self) -> bool:
        return self.scope is RestartScope.JOB

    @property
    def is_suspended(self) -> bool:
        """Whether no pod may be there: the spec says so, or the queue that the job is in does."""
        admission = self.observed.admission
        return bool(self.policy.suspend) or (admission is not None and not admission.is_admitted)

    def groups(self) -> Sequence[Group]:
        """The groups that the job's pods are scheduled in, whether they are wanted now or not."""
        return self.kind.pod_groups(self.job)

    @property
    def is_settled(self) -> bool:
        return not self.observed.unsettled

    def is_current(self, role: Role, pod: PodView) -> bool:
        """Whether a pod belongs to the present attempt, so that what becomes of it still counts.

        Without a gang, a pod of before goes on unless its own failure was the one that was decided: then
        its index was taken out of `created`.
        """
        if pod.uid in role.outgrown:
            return False
        if role.is_kept or pod.attempt >= self.status.attempt:
            return True
        return not self.is_gang and pod.index in role.created

    def current(self, role: Role) -> list[PodView]:
        return [pod for pod in role.pods if self.is_current(role, pod)]

    def live_restarts(self) -> int:
        """The kubelet's restarts of the present attempt's pods; those of kept roles count nowhere."""
        return sum(
            pod.restarts for role in self.roles.values() if not role.is_kept for pod in self.current(role)
        )

    def completed(self) -> Mapping[str, set[int]]:
        return {name: role.completed for name, role in self.roles.items()}

    def wake(self, after: timedelta) -> None:
        """Ask for another look after this long; the earliest wish wins."""
        after = max(after, timedelta(0))
        if self.requeue_after is None or after < self.requeue_after:
            self.requeue_after = after

    def event(
        self, reason: Reason | str, note: str, *, warning: bool = False, action: str = "Reconcile"
    ) -> None:
        word = kind_reason(self.job.kind, reason) if isinstance(reason, Reason) else reason
        self.events.append(JobEvent(word, note[:1024], "Warning" if warning else "Normal", action))

    def delete(self, pod: PodView, *, grace_seconds: int | None = None) -> None:
        """Delete a pod, unless that is under way or its role is not settled."""
        forced = grace_seconds is not None
        if (pod.is_terminating and not forced) or not self.observed.is_settled(pod.replica_type):
            return
        self.delete_pods[pod.uid] = DeletePod(pod.replica_type, pod.name, pod.uid, grace_seconds)

    def to_plan(self) -> Plan:
        return Plan(
            status=self.status,
            creates=tuple(self.creates),
            objects=tuple(self.objects),
            recheck=self.recheck,
            services=tuple(self.services),
            groups=tuple(self.groups_to_write),
            delete_pods=tuple(self.delete_pods.values()),
            delete_services=tuple(self.delete_services),
            delete_groups=tuple(self.delete_groups),
            delete_job=self.delete_job,
            events=tuple(self.events),
            counters=tuple(self.counters),
            requeue_after=self.requeue_after,
            warning=self.warning,
        )


def _with_defaults(job: Any, kind: JobKind[Any]) -> Any:
    """The job with the kind's defaults; a copy only where there are some, since templates are large."""
    if type(kind).default is JobKind.default:
        return job
    copied = job.model_copy(deep=True)
    kind.default(copied)
    return copied


def _roles(job: Any, observed: Observed, kind: JobKind[Any]) -> dict[str, Role]:
    gates = kind.phases(job, observed)
    kept = set(kind.restart_exempt(job, observed))
    serving = set(kind.serving(job))
    limits, outgrown = kind.limits(job), frozenset(kind.outgrown(job))
    roles: dict[str, Role] = {}
    for name, spec in kind.replicas(job).items():
        before = job.status.replica_statuses.get(name)
        within = tuple(pod for pod in observed.pods_of(name) if 0 <= pod.index < spec.replicas)
        done = before.completed_indexes if before and name not in serving else ""
        seen = before.created_indexes if before else ""
        roles[name] = Role(
            name=name,
            spec=spec,
            policy=spec.restart_policy or kind.restart_policy,
            gate=gates.get(name, Gate.OPEN),
            is_kept=name in kept,
            is_serving=name in serving,
            is_settled=observed.is_settled(name),
            pods=within,
            completed=parse_ranges(done, spec.replicas),
            created=parse_ranges(seen, spec.replicas),
            limit=min(spec.replicas, limits.get(name, spec.replicas)),
            outgrown=outgrown,
        )
    return roles
