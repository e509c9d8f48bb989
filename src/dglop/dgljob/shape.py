# SPDX-License-Identifier: Apache-2.0
"""The shape of a job: what follows from its spec alone, every default applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dglop.dgljob.enums import DispatchMode, LaunchMode, PartitionMode, Role, StorageType

if TYPE_CHECKING:
    from dglop.dgljob.api import DGLJob

__all__ = ("Shape",)


@dataclass(frozen=True, slots=True)
class Shape:
    """The questions that builders and phases ask of a spec, answered once."""

    mode: PartitionMode
    workers: int
    parts: int
    has_launcher: bool
    claim: str
    existing: bool
    execs: bool = False
    """Whether a Launcher starts what runs in the Workers; of a Launcher alone there is nobody to start."""
    dispatch: DispatchMode = DispatchMode.PULL
    """How a part comes to its Worker; without parts of the job's own it says nothing."""
    launcher_partitions: bool = False
    """Whether the Partitioner runs the Launcher's command, as nothing else says how to partition."""

    @classmethod
    def of(cls, job: DGLJob) -> Shape:
        spec = job.spec
        workers = spec.replicas_of(Role.WORKER)
        execs = spec.launch_mode is LaunchMode.EXEC and workers > 0
        return cls(
            mode=spec.partition_mode.plain,
            workers=workers,
            parts=spec.num_partitions or workers,
            has_launcher=spec.replicas_of(Role.LAUNCHER) > 0,
            claim=_claim(job),
            existing=spec.storage.existing,
            execs=execs,
            dispatch=_dispatch(job, execs=execs),
            launcher_partitions=execs and not _says_how(job),
        )

    @property
    def partitions(self) -> bool:
        """Whether the job makes its parts itself, in a Partitioner."""
        return self.mode in (PartitionMode.SSP, PartitionMode.SMP)

    @property
    def on_claim(self) -> bool:
        """Whether all pods mount the parts from one claim; else the Partitioner serves them."""
        return bool(self.claim)

    @property
    def serves(self) -> bool:
        return self.partitions and not self.on_claim

    @property
    def launcher_only(self) -> bool:
        return self.workers == 0


def _dispatch(job: DGLJob, *, execs: bool) -> DispatchMode:
    if job.spec.storage.type is StorageType.PVC:
        return DispatchMode.VOLUME
    return job.spec.dispatch.mode or (DispatchMode.EXEC if execs else DispatchMode.PULL)


def _says_how(job: DGLJob) -> bool:
    """Whether the Partitioner's own template or the dataset says how to partition."""
    dataset = job.spec.dataset
    return bool(job.spec.template_of(Role.PARTITIONER) or (dataset and (dataset.name or dataset.url)))


def _claim(job: DGLJob) -> str:
    storage = job.spec.storage
    if storage.type is not StorageType.PVC:
        return ""
    return storage.claim_name or f"{job.name}-partitions"
