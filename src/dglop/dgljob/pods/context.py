# SPDX-License-Identifier: Apache-2.0
"""What every pod builder is given: the job, its shape, the replica, and the operator's settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dglop.dgljob.enums import Role
from dglop.dgljob.latch import fits
from dglop.dgljob.placement import is_first_worker_partitioning
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
    is_beside: bool = False
    """Whether this is about the container that partitions in another role's pod, not about its main one."""

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
    def partitions(self) -> bool:
        """Whether what is built makes all the parts."""
        return self.is_beside or self.role is Role.PARTITIONER or self.is_first_worker

    @property
    def is_first_worker(self) -> bool:
        """Whether this is worker-0, which partitions before it is made as a Worker."""
        partition = self.job.status.partition
        return self.role is Role.WORKER and is_first_worker_partitioning(partition, self.shape)

    @property
    def launcher_partitions(self) -> bool:
        """Whether the Launcher's pod makes the parts now; where they are there already it makes none."""
        is_its = self.shape.maker is Role.LAUNCHER and self.role is Role.LAUNCHER
        return is_its and not fits(self.job.status.partition, self.shape)

    @property
    def partitioner_host(self) -> str:
        return self.replica.host_of(Role.PARTITIONER)

    @property
    def first_worker_host(self) -> str:
        return self.replica.host_of(Role.WORKER)

    @property
    def manifest_hash(self) -> str:
        """The hash latched in the status, "" before and for parts of the user's own."""
        partition = self.job.status.partition
        return (partition.manifest_hash or "") if partition and partition.is_latched else ""
