# SPDX-License-Identifier: Apache-2.0
"""Which roles a job must have and may have, by its trainingLayout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.dgljob.enums import PartitionMode, Role, TrainingLayout
from dglop.dgljob.shape import APART

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.dgljob.api import DGLJob
    from dglop.dgljob.shape import Shape

__all__ = ("layout_problems",)


def layout_problems(job: DGLJob, shape: Shape) -> Iterator[str]:
    """Roles of the other layout, and what is missing of this one."""
    return _apart(job, shape) if shape.apart else _fused(job)


def _fused(job: DGLJob) -> Iterator[str]:
    for role in APART:
        if role in job.spec.dgl_replica_specs:
            yield f"dglReplicaSpecs.{role} needs trainingLayout TriWorkload"


def _apart(job: DGLJob, shape: Shape) -> Iterator[str]:
    spec = job.spec
    if Role.WORKER in spec.dgl_replica_specs:
        yield (
            "dglReplicaSpecs.Worker does not go with trainingLayout TriWorkload, whose pods are Servers, Samplers "
            f"and Trainers; remove it, or use trainingLayout {TrainingLayout.FUSED}"
        )
    for role in (Role.SERVER, Role.TRAINER):
        if not spec.replicas_of(role):
            yield f"trainingLayout TriWorkload needs dglReplicaSpecs.{role} with at least one replica"
    if shape.mode is PartitionMode.MSP:
        yield "partitionMode MSP partitions in the Workers, of which TriWorkload has none; use SSP or SMP"
    if spec.sampler_processes > spec.network.port_count:
        yield (
            f"numSamplers {spec.num_samplers} is larger than network.portCount {spec.network.port_count}: "
            "each sampler of a pod listens on a port of its own"
        )
