# SPDX-License-Identifier: Apache-2.0
"""The one pod that partitions under SSP and SMP: Partitioner, Launcher, or worker-0 before it trains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.dgljob.enums import Role
from dglop.dgljob.latch import fits, partition_of
from dglop.dgljob.pods.names import PARTITION

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from dglop.common.observed import Observed
    from dglop.common.views import ContainerStatus, PodView
    from dglop.dgljob.shape import Shape
    from dglop.dgljob.status import DGLJobStatus, PartitionStatus

__all__ = ("hand_over", "is_first_worker_partitioning", "limits", "maker_pod", "making", "outgrown")


def maker_pod(observed: Observed, shape: Shape) -> PodView | None:
    """The pod that partitions, or did; worker-0's may be that of a Worker by now."""
    return observed.pod(shape.maker) if shape.partitions and shape.maker else None


def making(pod: PodView, shape: Shape) -> ContainerStatus | None:
    """The container that partitions, once the kubelet has said something of it."""
    return pod.container(PARTITION) if shape.maker is Role.LAUNCHER else pod.main


def is_first_worker_partitioning(partition: PartitionStatus | None, shape: Shape) -> bool:
    """Whether worker-0 is to partition now; it is made as a Worker when the parts are there."""
    return shape.partitions and shape.maker is Role.WORKER and not fits(partition, shape)


def limits(partition: PartitionStatus | None, shape: Shape) -> Mapping[str, int]:
    """While worker-0 partitions there is no other Worker."""
    return {Role.WORKER: 1} if is_first_worker_partitioning(partition, shape) else {}


def outgrown(status: DGLJobStatus, shape: Shape) -> Collection[str]:
    """The pod of worker-0 that has partitioned: it gives its place to a Worker."""
    partition = status.partition
    if not (shape.partitions and shape.maker is Role.WORKER and partition and partition.is_latched):
        return ()
    return (partition.partitioner_uid,) if partition.partitioner_uid else ()


def hand_over(status: DGLJobStatus, shape: Shape) -> None:
    """What worker-0 did until now was no Worker's work, and its end is nothing that is missed; in place."""
    if shape.maker is not Role.WORKER or not partition_of(status).is_latched:
        return
    counts = status.replica_statuses.get(Role.WORKER)
    if counts is not None:
        counts.created_indexes = ""
        counts.completed_indexes = ""
        counts.succeeded = 0
        counts.ready = f"0/{shape.workers}"
