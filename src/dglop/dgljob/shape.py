# SPDX-License-Identifier: Apache-2.0
"""The shape of a job: what follows from its spec alone, every default applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dglop.dgljob.enums import PartitionMode, Role, StorageType

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


def _claim(job: DGLJob) -> str:
    storage = job.spec.storage
    if storage.type is not StorageType.PVC:
        return ""
    return storage.claim_name or f"{job.name}-partitions"
