# SPDX-License-Identifier: Apache-2.0
"""MPIJob as a kind of the base job controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from dglop.common.gang import Group
from dglop.common.kind import Gate, JobKind
from dglop.common.types import CleanPodPolicy, ReplicaSpec, RestartPolicy
from dglop.mpijob.api import MANAGED_BY, LauncherCreationPolicy, MPIJob, Role
from dglop.mpijob.objects import OBJECT_RULES, job_objects
from dglop.mpijob.pods import build
from dglop.mpijob.validation import problems
from dglop.runtime.rights import needs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dglop.common.observed import Observed
    from dglop.common.replica import Replica
    from dglop.mpijob.options import MPIOptions
    from dglop.runtime.api import RawPod

__all__ = ("MPIJobKind",)

_RESTART = {Role.LAUNCHER: RestartPolicy.ON_FAILURE, Role.WORKER: RestartPolicy.NEVER}


@needs(*OBJECT_RULES)
class MPIJobKind(JobKind[MPIJob]):
    """Workers that listen for ssh, and a Launcher whose end is the job's."""

    leader: ClassVar[str | None] = Role.LAUNCHER
    clean_pod_policy: ClassVar[CleanPodPolicy] = CleanPodPolicy.RUNNING
    controller_name: ClassVar[str] = "mpi-operator"
    managed_by: ClassVar[str] = MANAGED_BY

    def __init__(self, options: MPIOptions) -> None:
        self._options = options

    def replicas(self, job: MPIJob) -> Mapping[str, ReplicaSpec]:
        specs = job.spec.mpi_replica_specs
        found: dict[str, ReplicaSpec] = {}
        for role in (Role.WORKER, Role.LAUNCHER):
            if role in specs:
                policy = specs[role].restart_policy or _RESTART[role]
                found[role] = specs[role].model_copy(update={"restart_policy": policy})
        return found

    def configure(self, pod: RawPod, replica: Replica[MPIJob]) -> None:
        build(pod, replica, self._options)

    def validate(self, job: MPIJob) -> Sequence[str]:
        return problems(job)

    def phases(self, job: MPIJob, observed: Observed) -> Mapping[str, Gate]:
        """Ready Workers are counted against what the spec wants: of none, as after a suspension, none is."""
        if not _launcher_waits(job):
            return {}
        is_ready = observed.is_settled(Role.WORKER) and observed.ready(Role.WORKER) >= job.spec.workers
        return {} if is_ready else {Role.LAUNCHER: Gate.HOLD}

    def pod_groups(self, job: MPIJob) -> Sequence[Group]:
        """All of them; a Launcher that waits for the Workers comes late: the group is whole without it."""
        return (Group(tuple(self.replicas(job)), late=(Role.LAUNCHER,) if _launcher_waits(job) else ()),)

    def extra_objects(self, job: MPIJob) -> Sequence[dict[str, Any]]:
        return job_objects(job, self._options.seed(job.uid))


def _launcher_waits(job: MPIJob) -> bool:
    """Whether there is anybody that it waits for, too: alone it is the whole of its group."""
    waits = job.spec.launcher_creation_policy is LauncherCreationPolicy.WAIT_FOR_WORKERS_READY
    return waits and job.spec.workers > 0
