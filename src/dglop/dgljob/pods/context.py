# SPDX-License-Identifier: Apache-2.0
"""What every pod builder is given: the job, its shape, the replica, and the operator's settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dglop.dgljob.enums import Role
from dglop.dgljob.shape import Shape

if TYPE_CHECKING:
    from dglop.common.replica import Replica
    from dglop.dgljob.api import DGLJob
    from dglop.dgljob.options import KindOptions
    from dglop.dgljob.spec import DGLJobSpec

__all__ = ("PodContext",)


@dataclass(frozen=True)
class PodContext:
    """One replica to be built."""

    replica: Replica[DGLJob]
    options: KindOptions

    @property
    def job(self) -> DGLJob:
        return self.replica.job

    @property
    def spec(self) -> DGLJobSpec:
        return self.job.spec

    @property
    def role(self) -> Role:
        return Role(self.replica.role)

    @cached_property
    def shape(self) -> Shape:
        return Shape.of(self.job)

    @property
    def partitioner_host(self) -> str:
        return self.replica.host_of(Role.PARTITIONER)

    @property
    def leader_host(self) -> str:
        """Where the crew meets."""
        return self.replica.host_of(self.shape.leader)

    @property
    def in_crew(self) -> bool:
        return self.role in dict(self.shape.crew)

    @property
    def manifest_hash(self) -> str:
        """The hash latched in the status, "" before and for parts of the user's own."""
        partition = self.job.status.partition
        return (partition.manifest_hash or "") if partition and partition.is_latched else ""
