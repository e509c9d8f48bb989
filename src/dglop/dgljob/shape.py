# SPDX-License-Identifier: Apache-2.0
"""The shape of a job: what follows from its spec alone, every default applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dglop.dgljob.enums import PartitionMode, Placement, Role, StorageType

if TYPE_CHECKING:
    from dglop.dgljob.api import DGLJob

__all__ = ("Shape",)

_ROLES = {
    Placement.POD: Role.PARTITIONER,
    Placement.LAUNCHER: Role.LAUNCHER,
    Placement.WORKER: Role.WORKER,
}


@dataclass(frozen=True, slots=True)
class Shape:
    """The questions that builders and phases ask of a spec, answered once."""

    mode: PartitionMode
    workers: int
    parts: int
    has_launcher: bool
    claim: str
    existing: bool
    placement: Placement = Placement.POD
    host_path: str = ""
    retains: bool = True

    @classmethod
    def of(cls, job: DGLJob) -> Shape:
        spec = job.spec
        workers = spec.replicas_of(Role.WORKER)
        return cls(
            mode=spec.partition_mode.plain,
            workers=workers,
            parts=spec.num_partitions or workers,
            has_launcher=spec.replicas_of(Role.LAUNCHER) > 0,
            claim=_claim(job),
            existing=spec.storage.existing,
            placement=spec.partition.placement,
            host_path=_host_path(job),
            retains=spec.partition.retain_on_restart,
        )

    @property
    def partitions(self) -> bool:
        """Whether one pod makes all parts, before there is any Worker."""
        return self.mode in (PartitionMode.SSP, PartitionMode.SMP)

    @property
    def assembles(self) -> bool:
        """Whether each Worker makes its own part."""
        return self.mode is PartitionMode.MSP

    @property
    def makes_parts(self) -> bool:
        """Whether the job makes its parts itself."""
        return self.partitions or self.assembles

    @property
    def maker(self) -> Role | None:
        """The role whose pods make the parts."""
        if self.assembles:
            return Role.WORKER
        return _ROLES[self.placement] if self.partitions else None

    @property
    def has_partitioner(self) -> bool:
        """Whether there is a pod that does nothing but partition."""
        return self.maker is Role.PARTITIONER

    @property
    def on_claim(self) -> bool:
        """Whether all pods mount the parts from one volume, a claim or a folder of their nodes."""
        return bool(self.claim or self.host_path)

    @property
    def serves(self) -> bool:
        """Whether the Partitioner serves the parts, since nobody else can reach the volume they are on."""
        return self.has_partitioner and not self.on_claim

    @property
    def keeps_parts(self) -> bool:
        """Whether an attempt goes on with the parts of the one before it."""
        return self.retains and not (self.assembles and not self.on_claim)

    @property
    def launcher_only(self) -> bool:
        return self.workers == 0


def _claim(job: DGLJob) -> str:
    storage = job.spec.storage
    if storage.type is not StorageType.PVC:
        return ""
    return storage.claim_name or f"{job.name}-partitions"


def _host_path(job: DGLJob) -> str:
    storage = job.spec.storage
    return (storage.host_path or "") if storage.type is StorageType.HOST_PATH else ""
