# SPDX-License-Identifier: Apache-2.0
"""The shape of a job: what follows from its spec alone, every default applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dglop.dgljob.enums import PartitionMode, Role, StorageType, TrainingLayout

if TYPE_CHECKING:
    from dglop.dgljob.api import DGLJob
    from dglop.dgljob.spec import DGLJobSpec

__all__ = ("APART", "Shape")

APART = (Role.SERVER, Role.SAMPLER, Role.TRAINER)
"""The roles that share a Worker, or have pods of their own with trainingLayout TriWorkload."""


@dataclass(frozen=True, slots=True)
class Shape:
    """
    The questions that builders and phases ask of a spec, answered once.

    Attributes
    ----------
        crew: the roles whose pods meet and train together, and how many pods each has; none has no pods.
        apart: whether those are Servers, Samplers and Trainers.
    """

    mode: PartitionMode
    crew: tuple[tuple[Role, int], ...]
    apart: bool
    parts: int
    has_launcher: bool
    claim: str
    existing: bool

    @classmethod
    def of(cls, job: DGLJob) -> Shape:
        spec = job.spec
        apart = spec.training_layout is TrainingLayout.TRI_WORKLOAD
        return cls(
            mode=spec.partition_mode.plain,
            crew=_crew(spec, APART if apart else (Role.WORKER,)),
            apart=apart,
            parts=spec.num_partitions or spec.replicas_of(_holder(apart)),
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
        return not self.crew

    @property
    def holder(self) -> Role:
        """Whose pods have a part each."""
        return _holder(self.apart)

    @property
    def leader(self) -> Role:
        """The role whose success is the job's, and whose first pod is where all meet and progress is told."""
        return Role.TRAINER if self.apart else Role.WORKER

    @property
    def holders(self) -> int:
        """How many pods have a part each."""
        return dict(self.crew).get(self.holder, 0)

    @property
    def crew_size(self) -> int:
        return sum(count for _, count in self.crew)

    @property
    def crew_name(self) -> str:
        """What messages call the pods of the crew."""
        return "Servers, Samplers and Trainers" if self.apart else "Workers"


def _holder(apart: bool) -> Role:
    return Role.SERVER if apart else Role.WORKER


def _crew(spec: DGLJobSpec, roles: tuple[Role, ...]) -> tuple[tuple[Role, int], ...]:
    return tuple((role, spec.replicas_of(role)) for role in roles if spec.replicas_of(role))


def _claim(job: DGLJob) -> str:
    storage = job.spec.storage
    if storage.type is not StorageType.PVC:
        return ""
    return storage.claim_name or f"{job.name}-partitions"
