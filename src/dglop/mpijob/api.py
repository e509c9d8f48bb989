# SPDX-License-Identifier: Apache-2.0
"""MPIJob, `kubeflow.org/v2beta1`: mpirun over several pods."""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from dglop.common.hostfile import MPIImplementation
from dglop.common.rules import exactly_one, fixed_fields, fixed_replicas, managed_by, name_rules, only_roles
from dglop.common.state import StatedJobStatus
from dglop.common.types import CleanPodPolicy, JobSpec, ReplicaSpec, RestartPolicy, RunPolicy
from dglop.runtime.api import CEL, Column, CustomResource

__all__ = ("MANAGED_BY", "LauncherCreationPolicy", "MPIJob", "MPIJobSpec", "Role")

MANAGED_BY: Final = "kubeflow.org/mpi-operator"
_SPECS: Final = "mpiReplicaSpecs"


class Role(StrEnum):
    """A replica type."""

    LAUNCHER = "Launcher"
    WORKER = "Worker"


class LauncherCreationPolicy(StrEnum):
    """When the Launcher is made."""

    AT_STARTUP = "AtStartup"
    WAIT_FOR_WORKERS_READY = "WaitForWorkersReady"


class MPIRunPolicy(RunPolicy, rules=(managed_by(MANAGED_BY),)):
    """How the job runs, restarts and ends; with the defaults of MPIJob."""

    clean_pod_policy: CleanPodPolicy | None = CleanPodPolicy.RUNNING
    """Which pods are deleted when the job is over: All, Running (Pending too) or None."""
    backoff_limit: int | None = Field(default=6, ge=0, le=2**31 - 1)
    """How many restarts are allowed: with 2, the third failure fails the job."""


class MPIReplicaSpec(ReplicaSpec):
    """One type of replica: how many pods, made from which template."""

    restart_policy: Annotated[
        RestartPolicy | None,
        CEL("self in ['Never', 'OnFailure']", "restartPolicy of an MPIJob is Never or OnFailure"),
    ] = None
    """Never or OnFailure; by default OnFailure for the Launcher and Never for the Workers."""


class MPIJobSpec(
    JobSpec,
    rules=(
        only_roles(_SPECS, *Role),
        exactly_one(_SPECS, Role.LAUNCHER),
        CEL(
            f"!('Worker' in self.{_SPECS}) || self.{_SPECS}['Worker'].replicas >= 1",
            f"{_SPECS}.Worker.replicas must be 1 or more; leave Worker out where none is needed",
        ),
        fixed_replicas(_SPECS),
        fixed_fields("slotsPerWorker", "runLauncherAsWorker", "sshAuthMountPath", "mpiImplementation"),
    ),
):
    """What mpirun runs, over how many Workers."""

    run_policy: MPIRunPolicy = Field(default_factory=MPIRunPolicy, json_schema_extra={"default": {}})
    """How the job runs, restarts and ends."""
    slots_per_worker: int = Field(default=1, ge=1, le=1024)
    """Processes that each host may run, for the host file."""
    run_launcher_as_worker: bool = False
    """The Launcher is the first of the hosts."""
    mpi_replica_specs: dict[str, MPIReplicaSpec] = Field(max_length=2)
    """The replica types: Launcher and Worker."""
    ssh_auth_mount_path: str = Field(default="/root/.ssh", max_length=1024, pattern=r"^/[^\x00]+$")
    """Where the keys of the job are mounted: the .ssh of the user that runs in the pods."""
    launcher_creation_policy: LauncherCreationPolicy = LauncherCreationPolicy.AT_STARTUP
    """AtStartup: with the Workers. WaitForWorkersReady: when all of them are ready."""
    mpi_implementation: MPIImplementation = MPIImplementation.OPEN_MPI
    """OpenMPI, Intel or MPICH: how the host file is written and found."""

    @property
    def workers(self) -> int:
        found = self.mpi_replica_specs.get(Role.WORKER)
        return found.replicas if found else 0


class MPIJob(
    CustomResource[MPIJobSpec, StatedJobStatus],
    group="kubeflow.org",
    version="v2beta1",
    categories=("all", "kubeflow"),
    columns={
        "State": Column(".status.state"),
        "Launcher": Column(".status.replicaStatuses.Launcher.ready"),
        "Workers": Column(".status.replicaStatuses.Worker.ready"),
        "Restarts": Column(".status.restartCount", "integer"),
        "Reason": Column(".status.reason"),
        "Last Failure": Column(".status.lastFailure.reason", priority=1),
        "Age": Column(".metadata.creationTimestamp", "date"),
    },
    rules=name_rules("-launcher-0"),
):
    """Runs an MPI program: a Launcher starts it on the Workers by ssh."""
