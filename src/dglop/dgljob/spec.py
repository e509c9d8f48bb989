# SPDX-License-Identifier: Apache-2.0
"""The spec of a DGLJob, with the rules that the API server checks."""

from typing import Annotated

from pydantic import Field
from pydantic.config import JsonDict

from dglop.common.constants import MANAGED_BY_MULTIKUEUE
from dglop.common.failurerules import FailureRule
from dglop.common.types import CleanPodPolicy, JobSpec, ReplicaSpec, RunPolicy
from dglop.dgljob.enums import (
    LauncherCreationPolicy,
    LaunchMode,
    PartitionMode,
    Role,
    TrainingLayout,
)
from dglop.dgljob.rules import FAILURE_RULES, REPLICA_RULES, SPEC_RULES
from dglop.dgljob.storage import (
    IMMUTABLE,
    Dataset,
    Dispatch,
    Network,
    Output,
    Partition,
    Storage,
)
from dglop.runtime.api import CEL, ListMap, Quantity, Raw

__all__ = ("MANAGED_BY", "DGLJobSpec", "DGLReplicaSpec", "DGLRunPolicy", "RestartScopeName")

RestartScopeName = Annotated[str, Field(pattern="^(Job|Replica)$")]

MANAGED_BY = "kubeflow.org/dgljob-controller"

# The API server checks the rules of an object on its default before it fills in the defaults within.
_NETWORK: JsonDict = {"portBase": 30050, "portCount": 20, "masterPort": 29500}
_STORAGE: JsonDict = {"type": "EmptyDir"}
_PARTITION: JsonDict = {"placement": "Pod"}


class DGLRunPolicy(
    RunPolicy,
    rules=(
        CEL(
            f"!has(self.managedBy) || self.managedBy in ['{MANAGED_BY}', '{MANAGED_BY_MULTIKUEUE}']",
            f"managedBy may be {MANAGED_BY} or {MANAGED_BY_MULTIKUEUE}",
        ),
    ),
):
    """How the job runs, restarts and ends; with the defaults of DGLJob."""

    clean_pod_policy: CleanPodPolicy | None = CleanPodPolicy.RUNNING
    """Which pods are deleted when the job is over: All, Running (Pending too) or None."""
    backoff_limit: int | None = Field(default=3, ge=0, le=2**31 - 1)
    """How many restarts are allowed: with 2, the third failure fails the job."""


class DGLReplicaSpec(ReplicaSpec):
    """One type of replica: how many pods, made from which template."""

    template: Raw | None = None  # type: ignore[assignment]
    """The pod template, kept as written; the Partitioner's may be left out."""


class DGLJobSpec(JobSpec, rules=SPEC_RULES):
    """What is to be trained, on how many Workers."""

    run_policy: DGLRunPolicy = Field(default_factory=DGLRunPolicy, json_schema_extra={"default": {}})
    """How the job runs, restarts and ends."""
    partition_mode: Annotated[PartitionMode, IMMUTABLE] = PartitionMode.SSP
    """SSP: one process partitions. SMP, MSP: in parallel, in one pod or in the Workers. Skip: none does."""
    dgl_replica_specs: Annotated[dict[str, DGLReplicaSpec], *REPLICA_RULES] = Field(max_length=6)
    """The replica types of the job: Launcher, Worker, Partitioner."""
    slots_per_worker: int = Field(default=1, ge=1, le=1024)
    """Trainers in each Worker."""
    num_servers: int = Field(default=1, ge=1, le=100)
    """Servers in each Worker."""
    num_samplers: int = Field(default=0, ge=0, le=1024)
    """Sampler processes of each trainer; 0: the trainer samples itself."""
    num_partitions: int | None = Field(default=None, ge=1, le=1000)
    """Parts of the graph: as many as there are Workers."""
    main_container: str = Field(default="", max_length=63)
    """The container whose command is run and whose exit code counts; "": `dgl` if present, else the first."""
    training_layout: Annotated[TrainingLayout, IMMUTABLE] = TrainingLayout.FUSED
    """Fused: servers, samplers and trainers in each Worker. TriWorkload: as pods of their own."""
    launcher_creation_policy: LauncherCreationPolicy = LauncherCreationPolicy.WAIT_FOR_WORKERS_READY
    """When a Launcher beside Workers is made."""
    launch_mode: Annotated[LaunchMode, IMMUTABLE] = LaunchMode.DIRECT
    """Direct: each Worker starts its own servers and trainers. Exec, MPI: a Launcher does."""
    restart_scope: Annotated[RestartScopeName, IMMUTABLE] = "Job"
    """Job: one failed Worker restarts all, since DGL knows its peers by their addresses."""
    network: Network = Field(default_factory=Network, json_schema_extra={"default": _NETWORK})
    """Ports, names and rules of the job's network."""
    dataset: Dataset | None = None
    """The graph, where no Partitioner says a command of its own; under MSP always."""
    storage: Annotated[Storage, IMMUTABLE] = Field(
        default_factory=Storage, json_schema_extra={"default": _STORAGE}
    )
    """Where the parts of the graph live."""
    output: Output = Field(default_factory=Output, json_schema_extra={"default": {}})
    """Where trained files go: /dgl_workspace/output, DGLJOB_OUTPUT_DIR."""
    python: str = Field(default="python3", min_length=1, max_length=1024)
    """The interpreter that starts dglrun in the image, Python 3.8 or newer."""
    dispatch: Dispatch = Field(default_factory=Dispatch, json_schema_extra={"default": {}})
    """How the parts come to the Workers."""
    partition: Partition = Field(default_factory=Partition, json_schema_extra={"default": _PARTITION})
    """How the partition is treated."""
    shm_size: Quantity | None = None
    """Size of /dev/shm; nil: half of the memory limit, 1Gi without one; 0: none."""
    workspace: str = Field(default="/dgl_workspace", max_length=1024, pattern=r"^/.*$")
    """Working folder, as DGLJOB_WORKSPACE."""
    elastic_policy: Annotated[Raw, CEL("false", "elasticPolicy is reserved and must be unset")] | None = None
    """Reserved."""
    failure_rules: Annotated[list[FailureRule], ListMap("name"), *FAILURE_RULES] = Field(
        default_factory=list, max_length=20
    )
    """What follows from a failure, by exit code, reason and replica type; the first that matches goes before
    restartPolicy."""

    @property
    def has_dataset(self) -> bool:
        """Whether the job says what to partition, so that dglrun can."""
        return bool(self.dataset and (self.dataset.name or self.dataset.url))

    def replicas_of(self, role: Role) -> int:
        found = self.dgl_replica_specs.get(role)
        return found.replicas if found else 0

    def template_of(self, role: Role) -> dict[str, object] | None:
        """The template that the user wrote for `role`, if any."""
        found = self.dgl_replica_specs.get(role)
        return found.template if found else None
