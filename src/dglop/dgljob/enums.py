# SPDX-License-Identifier: Apache-2.0
"""The words of the DGLJob API: replica types, modes and phases."""

from __future__ import annotations

from enum import StrEnum

__all__ = (
    "DispatchMode",
    "LaunchMode",
    "LauncherCreationPolicy",
    "NetworkPolicyMode",
    "PartitionMethod",
    "PartitionMode",
    "PartitionState",
    "Phase",
    "Placement",
    "Role",
    "StorageType",
    "TrainingLayout",
)


class Role(StrEnum):
    """A replica type."""

    LAUNCHER = "Launcher"
    WORKER = "Worker"
    PARTITIONER = "Partitioner"
    SERVER = "Server"
    SAMPLER = "Sampler"
    TRAINER = "Trainer"


class PartitionMode(StrEnum):
    """Who partitions the graph, and how."""

    SSP = "SSP"
    SMP = "SMP"
    MSP = "MSP"
    SKIP = "Skip"
    DGL_API = "DGL-API"
    PARMETIS = "ParMETIS"

    @property
    def plain(self) -> PartitionMode:
        """The mode without its older name: DGL-API is SSP, ParMETIS is SMP."""
        aliases = {PartitionMode.DGL_API: PartitionMode.SSP, PartitionMode.PARMETIS: PartitionMode.SMP}
        return aliases.get(self, self)


class Placement(StrEnum):
    """Whose pod it is that partitions in the modes SSP and SMP."""

    POD = "Pod"
    """One of its own, the Partitioner."""
    LAUNCHER = "Launcher"
    """The Launcher's, in an init container."""
    WORKER = "Worker"
    """Worker-0's, which is ended when the parts are written and then made as a Worker."""


class PartitionMethod(StrEnum):
    """How nodes are divided among the parts."""

    METIS = "metis"
    """Few edges between parts, and parts alike."""
    RANDOM = "random"
    """By lot: for graphs too large for METIS, and for comparison."""
    GIVEN = "given"
    """As the files say that partition.partIds names."""
    PTSCOTCH = "ptscotch"
    """By PT-Scotch's dgpart under mpirun, where the image has both."""
    PARALLEL = "parallel"
    """By dglrun itself, in all processes at once."""
    PARMETIS = "parmetis"
    """By pm_dglpart where the image brings it, else as parallel."""


class LaunchMode(StrEnum):
    """How servers and trainers are started."""

    DIRECT = "Direct"
    EXEC = "Exec"
    MPI = "MPI"


class TrainingLayout(StrEnum):
    """Whether servers, samplers and trainers share a pod."""

    FUSED = "Fused"
    TRI_WORKLOAD = "TriWorkload"


class LauncherCreationPolicy(StrEnum):
    """When a Launcher beside Workers is made."""

    AT_STARTUP = "AtStartup"
    WAIT_FOR_WORKERS_READY = "WaitForWorkersReady"


class NetworkPolicyMode(StrEnum):
    """Whether a NetworkPolicy is made for the job's pods."""

    NONE = "None"
    JOB_ONLY = "JobOnly"


class StorageType(StrEnum):
    """Where the parts live."""

    EMPTY_DIR = "EmptyDir"
    PVC = "PVC"
    HOST_PATH = "HostPath"


class DispatchMode(StrEnum):
    """How a part comes to its Worker."""

    VOLUME = "Volume"
    PULL = "Pull"
    EXEC = "Exec"


class Phase(StrEnum):
    """How far a job is, in one word; see phases.py for what each needs."""

    PENDING = "Pending"
    PARTITIONING = "Partitioning"
    PARTITIONED = "Partitioned"
    DISPATCHING = "Dispatching"
    STARTING = "Starting"
    TRAINING = "Training"
    RESTARTING = "Restarting"
    SUSPENDED = "Suspended"
    COMPLETED = "Completed"
    FAILED = "Failed"


class PartitionState(StrEnum):
    """What became of the partition."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    SKIPPED = "Skipped"
    REUSED = "Reused"
