# SPDX-License-Identifier: Apache-2.0
"""PyTorchJob, `kubeflow.org/v1`: distributed training with PyTorch, of a fixed size."""

from enum import StrEnum
from typing import Final

from pydantic import Field

from dglop.common.rules import exactly_one, fixed_replicas, managed_by, name_rules, only_roles
from dglop.common.state import StatedJobStatus
from dglop.common.types import CleanPodPolicy, JobSpec, ReplicaSpec, RunPolicy
from dglop.runtime.api import CEL, Column, CustomResource, Raw

__all__ = ("ELASTIC", "MANAGED_BY", "PyTorchJob", "PyTorchJobSpec", "Role")

MANAGED_BY: Final = "kubeflow.org/training-operator"
ELASTIC: Final = (
    "elasticPolicy is not supported: this operator runs PyTorchJobs of a fixed size; remove it and state as "
    "many replicas as you want"
)
_SPECS: Final = "pytorchReplicaSpecs"


class Role(StrEnum):
    """A replica type."""

    MASTER = "Master"
    WORKER = "Worker"


class PyTorchRunPolicy(RunPolicy, rules=(managed_by(MANAGED_BY),)):
    """How the job runs, restarts and ends; with the defaults of PyTorchJob."""

    clean_pod_policy: CleanPodPolicy | None = CleanPodPolicy.NONE
    """Which pods are deleted when the job is over: All, Running (Pending too) or None."""


class PyTorchJobSpec(
    JobSpec,
    rules=(
        CEL("!has(self.elasticPolicy)", ELASTIC),
        only_roles(_SPECS, *Role),
        CEL(f"size(self.{_SPECS}) > 0", f"{_SPECS} needs a Master, Workers, or both"),
        exactly_one(_SPECS, Role.MASTER, optional=True),
        fixed_replicas(_SPECS),
    ),
):
    """What is trained, on how many pods."""

    run_policy: PyTorchRunPolicy = Field(default_factory=PyTorchRunPolicy, json_schema_extra={"default": {}})
    """How the job runs, restarts and ends."""
    pytorch_replica_specs: dict[str, ReplicaSpec] = Field(max_length=2)
    """The replica types: Master and Worker; without a Master the first Worker is where the others meet."""
    nproc_per_node: str = Field(default="auto", max_length=16, pattern=r"^(auto|cpu|gpu|[1-9][0-9]*)$")
    """Processes that torchrun starts in each pod: auto, cpu, gpu or a number in quotes."""
    elastic_policy: Raw | None = None
    """Not supported: it must be left out."""

    @property
    def total(self) -> int:
        """How many pods the job has."""
        return sum(each.replicas for each in self.pytorch_replica_specs.values())


class PyTorchJob(
    CustomResource[PyTorchJobSpec, StatedJobStatus],
    group="kubeflow.org",
    version="v1",
    categories=("all", "kubeflow"),
    columns={
        "State": Column(".status.state"),
        "Master": Column(".status.replicaStatuses.Master.ready"),
        "Workers": Column(".status.replicaStatuses.Worker.ready"),
        "Restarts": Column(".status.restartCount", "integer"),
        "Reason": Column(".status.reason"),
        "Last Failure": Column(".status.lastFailure.reason", priority=1),
        "Age": Column(".metadata.creationTimestamp", "date"),
    },
    rules=name_rules("-worker-0"),
):
    """Trains with PyTorch in a Master and Workers that meet by torch.distributed."""
