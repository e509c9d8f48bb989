# SPDX-License-Identifier: Apache-2.0
"""TestJob: the smallest kind on the base job controller, for tests of what all kinds share."""

from typing import Any

from pydantic import Field

from dglop.common.kind import JobKind, RestartScope
from dglop.common.observed import Observed
from dglop.common.replica import Replica
from dglop.common.services import replica_services
from dglop.common.types import JobSpec, JobStatus, ReplicaSpec
from dglop.runtime.api.custom import CustomResource
from dglop.runtime.api.rawpod import RawPod

__all__ = ("ToyJob", "ToyJobKind", "ToyJobSpec")


class ToyJobSpec(JobSpec):
    """Any replica types, by name."""

    replica_specs: dict[str, ReplicaSpec] = Field(default_factory=dict)
    """The replica types, such as worker."""
    leader: str = ""
    """The replica type whose success is the job's; all where none is named."""
    gang: bool = False
    """One failure restarts all."""


class ToyJob(
    CustomResource[ToyJobSpec, JobStatus],
    group="example.dev",
    version="v1",
    kind="TestJob",
    plural="testjobs",
):
    """A job that does nothing in particular."""


class ToyJobKind(JobKind[ToyJob]):
    """The kind with one Service a replica, and hooks that tests may replace by subclasses."""

    def replicas(self, job: ToyJob) -> dict[str, ReplicaSpec]:
        return job.spec.replica_specs

    def configure(self, pod: RawPod, replica: Replica[ToyJob]) -> None:
        pod.annotations["example.dev/meets-at"] = replica.dns

    def services(self, job: ToyJob) -> list[dict[str, Any]]:
        return replica_services(self, job)

    def deciding_roles(self, job: ToyJob) -> list[str]:
        return [job.spec.leader] if job.spec.leader else list(job.spec.replica_specs)

    def restart_scope(self, job: ToyJob) -> RestartScope:
        return RestartScope.JOB if job.spec.gang else RestartScope.REPLICA

    def serving(self, job: ToyJob) -> list[str]:  # noqa: ARG002
        return []

    def restart_exempt(self, job: ToyJob, observed: Observed) -> list[str]:  # noqa: ARG002
        return []
