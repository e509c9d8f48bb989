# SPDX-License-Identifier: Apache-2.0
"""DGLJob as a kind of the base job controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from dglop.common.gang.group import Group
from dglop.common.kind import Gate, JobKind, RestartScope, StatusExtra
from dglop.common.templates import shape_problems
from dglop.common.types import CleanPodPolicy, ReplicaSpec, RestartPolicy
from dglop.dgljob import partition, placement
from dglop.dgljob.api import DGLJob
from dglop.dgljob.enums import LauncherCreationPolicy, Phase, Role
from dglop.dgljob.latch import fits
from dglop.dgljob.objects import CONTROLLER_NAME, headless_service, job_objects
from dglop.dgljob.pods.build import build
from dglop.dgljob.pods.context import PodContext
from dglop.dgljob.pods.main import main_name
from dglop.dgljob.pods.template import partitioner_template
from dglop.dgljob.progressing import progress
from dglop.dgljob.rbac import OBJECT_RULES
from dglop.dgljob.reasons import Reason
from dglop.dgljob.shape import Shape
from dglop.dgljob.spec import MANAGED_BY
from dglop.dgljob.validation import problems
from dglop.errors import SchemaError
from dglop.runtime.rights import needs

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from dglop.common.failurerules import FailureRule
    from dglop.common.observed import Observed
    from dglop.common.replica import Replica
    from dglop.common.types import LastFailure
    from dglop.dgljob.options import KindOptions
    from dglop.runtime.api import RawPod

__all__ = ("DGLJobKind",)

PARTITION: Final = "partition"
"""What the PodGroup of the Partitioner has after the job's name."""

_RESTART = {
    Role.PARTITIONER: RestartPolicy.ON_FAILURE,
    Role.WORKER: RestartPolicy.EXIT_CODE,
    Role.LAUNCHER: RestartPolicy.ON_FAILURE,
}


@needs(*OBJECT_RULES)
class DGLJobKind(JobKind[DGLJob]):
    """Partition, dispatch, train: which pods a DGLJob has when, and what is in them."""

    clean_pod_policy: ClassVar[CleanPodPolicy] = CleanPodPolicy.RUNNING
    controller_name: ClassVar[str] = CONTROLLER_NAME
    managed_by: ClassVar[str] = MANAGED_BY

    def __init__(self, options: KindOptions) -> None:
        self._options = options

    def replicas(self, job: DGLJob) -> Mapping[str, ReplicaSpec]:
        shape = Shape.of(job)
        found: dict[str, ReplicaSpec] = {}
        if shape.has_partitioner:
            found[Role.PARTITIONER] = _partitioner(job)
        for role in (Role.WORKER, Role.LAUNCHER):
            if job.spec.replicas_of(role):
                found[role] = _replica_spec(job, role)
        return found

    def configure(self, pod: RawPod, replica: Replica[DGLJob]) -> None:
        build(pod, PodContext(replica, self._options))

    def main_container(self, job: DGLJob, role: str, pod: RawPod) -> str | None:  # noqa: ARG002
        return main_name(job.spec.main_container, pod) or None

    def validate(self, job: DGLJob) -> Sequence[str]:
        return problems(job, allow_host_path=self._options.allow_host_path)

    def phases(self, job: DGLJob, observed: Observed) -> Mapping[str, Gate]:
        shape, status = Shape.of(job), job.status
        gates: dict[str, Gate] = {}
        ready = fits(status.partition, shape)
        if shape.has_partitioner:
            gates[Role.PARTITIONER] = partition.gate(status.partition, observed.pod(Role.PARTITIONER))
            ready = ready and not partition.must_wait(status, observed, shape)
        if shape.maker in (Role.PARTITIONER, Role.LAUNCHER):
            gates[Role.WORKER] = Gate.OPEN if ready else Gate.HOLD
        is_maker = shape.maker is Role.LAUNCHER and not ready
        if _launcher_waits(job) and status.phase is not Phase.TRAINING and not is_maker:
            gates[Role.LAUNCHER] = Gate.HOLD
        return gates

    def limits(self, job: DGLJob) -> Mapping[str, int]:
        """Worker-0 alone, while it partitions."""
        return placement.limits(job.status.partition, Shape.of(job))

    def outgrown(self, job: DGLJob) -> Collection[str]:
        return placement.outgrown(job.status, Shape.of(job))

    def pod_groups(self, job: DGLJob) -> Sequence[Group]:
        """The Partitioner's and the Workers': one that wanted both would never be complete."""
        shape = Shape.of(job)
        if shape.maker is Role.LAUNCHER:
            return (Group((Role.LAUNCHER,), suffix=PARTITION), Group((Role.WORKER,)))
        late = (Role.LAUNCHER,) if shape.has_partitioner or _launcher_waits(job) else ()
        training = Group((Role.WORKER, Role.LAUNCHER), late)
        return (
            (Group((Role.PARTITIONER,), suffix=PARTITION), training) if shape.has_partitioner else (training,)
        )

    def serving(self, job: DGLJob) -> Collection[str]:
        """The Partitioner; and worker-0 while it partitions: with that, no Worker's work is done."""
        shape = Shape.of(job)
        if placement.is_first_worker_partitioning(job.status.partition, shape):
            return (Role.WORKER,)
        return (Role.PARTITIONER,) if shape.serves else ()

    def deciding_roles(self, job: DGLJob) -> Sequence[str]:
        return [Role.LAUNCHER if Shape.of(job).launcher_only else Role.WORKER]

    def success(self, job: DGLJob, observed: Observed, completed: Mapping[str, Collection[int]]) -> bool:
        """Success waits for the phase, so that each phase is seen however fast the pods were."""
        return job.status.phase is Phase.TRAINING and super().success(job, observed, completed)

    def restart_scope(self, job: DGLJob) -> RestartScope:  # noqa: ARG002
        """One failed Worker restarts all: DGL knows its peers by their addresses."""
        return RestartScope.JOB

    def restart_exempt(self, job: DGLJob, observed: Observed) -> Collection[str]:
        pod = observed.pod(Role.PARTITIONER)
        return (Role.PARTITIONER,) if partition.is_exempt(job.status.partition, pod) else ()

    def services(self, job: DGLJob) -> Sequence[dict[str, Any]] | None:
        return [headless_service(job)]

    def extra_objects(self, job: DGLJob) -> Sequence[dict[str, Any]]:
        return job_objects(job, self._options.tokens)

    def last_progress(self, job: DGLJob, observed: Observed) -> datetime | None:  # noqa: ARG002
        """The trainer's last report, or the last stage that was reached on the way to it."""
        status = job.status
        stages = [
            status.get(reason) for reason in (Reason.PARTITIONED, Reason.DISPATCHED, Reason.WORKERS_READY)
        ]
        times = [each.last_transition_time for each in stages if each]
        if status.partition:
            times += [status.partition.start_time, status.partition.completion_time]
        if status.trainer:
            times.append(status.trainer.last_updated_time)
        return max((each for each in times if each), default=None)

    def failure_rules(self, job: DGLJob) -> Sequence[FailureRule]:
        return job.spec.failure_rules

    def failure_reason(self, job: DGLJob, failure: LastFailure) -> str | None:
        """All that fails in a Partitioner is its partition; elsewhere, what does before there are parts."""
        partitions = failure.replica_type == Shape.of(job).maker and not job.status.is_latched
        is_partitioners = failure.replica_type == Role.PARTITIONER
        return Reason.PARTITION_FAILED if partitions or is_partitioners else None

    def status_extra(self, job: DGLJob, observed: Observed, now: datetime) -> StatusExtra | None:
        return progress(job, observed, now)


def _launcher_waits(job: DGLJob) -> bool:
    policy = job.spec.launcher_creation_policy
    return policy is LauncherCreationPolicy.WAIT_FOR_WORKERS_READY and not Shape.of(job).launcher_only


def _replica_spec(job: DGLJob, role: Role) -> ReplicaSpec:
    stated = job.spec.dgl_replica_specs[role]
    return ReplicaSpec(
        replicas=stated.replicas,
        restart_policy=stated.restart_policy or _RESTART[role],
        template=stated.template or {},
    )


def _partitioner(job: DGLJob) -> ReplicaSpec:
    stated = job.spec.dgl_replica_specs.get(Role.PARTITIONER)
    template = stated.template if stated and stated.template else _derived(job)
    policy = stated.restart_policy if stated else None
    return ReplicaSpec(replicas=1, restart_policy=policy or _RESTART[Role.PARTITIONER], template=template)


def _derived(job: DGLJob) -> dict[str, Any]:
    """A template from the Worker's; empty where that is malformed, of which validation tells."""
    worker = job.spec.template_of(Role.WORKER) or {}
    if any(shape_problems(worker, "")):
        return {}
    try:
        return partitioner_template(worker, job.spec.main_container)
    except SchemaError:
        return {}
