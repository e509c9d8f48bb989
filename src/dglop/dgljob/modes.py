# SPDX-License-Identifier: Apache-2.0
"""What is wrong with how a job wants its parts made: by whom, where, and what they are left on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.templates import own_name_problems, shape_problems
from dglop.dgljob.enums import PartitionMethod, PartitionMode, Placement, Role, StorageType
from dglop.dgljob.pods.main import main_name
from dglop.dgljob.pods.names import OWN_CONTAINERS
from dglop.runtime.api import RawPod

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.dgljob.api import DGLJob
    from dglop.dgljob.shape import Shape

__all__ = ("host_path_problems", "mode_problems")

_METHODS = {
    PartitionMode.SSP: (PartitionMethod.METIS, PartitionMethod.RANDOM),
    PartitionMode.SMP: tuple(PartitionMethod),
    PartitionMode.MSP: (PartitionMethod.PARALLEL, PartitionMethod.RANDOM, PartitionMethod.GIVEN),
}


def mode_problems(job: DGLJob, shape: Shape) -> Iterator[str]:
    """Partition mode and placement beside replica types, data set and storage."""
    spec = job.spec
    partitioner = spec.dgl_replica_specs.get(Role.PARTITIONER)
    if shape.mode in (PartitionMode.MSP, PartitionMode.SKIP) and partitioner and partitioner.replicas:
        why = " the Workers make their parts themselves;" if shape.assembles else ""
        yield f"partitionMode {shape.mode} has no Partitioner:{why} remove dglReplicaSpecs.Partitioner"
    if shape.assembles and not spec.has_dataset:
        yield "partitionMode MSP needs dataset.url or dataset.name: each Worker reads its share of the graph"
    if spec.partition.processes is not None and shape.mode is not PartitionMode.SMP:
        yield f"partition.processes is for partitionMode SMP, not {shape.mode}; leave it out"
    if not shape.launcher_only and spec.num_partitions not in (None, shape.workers):
        yield (
            f"numPartitions {spec.num_partitions} must match dglReplicaSpecs.Worker.replicas "
            f"{shape.workers}: each Worker has one part; leave numPartitions out or write {shape.workers}"
        )
    yield from _method(job, shape)
    if shape.placement is not Placement.POD:
        yield from _placement(job, shape)


def _method(job: DGLJob, shape: Shape) -> Iterator[str]:
    mode, method, ids = job.spec.partition_mode, job.spec.partition.method, job.spec.partition.part_ids
    known = _METHODS.get(shape.mode, ())
    if method is not None and method not in known:
        instead = f"use {', '.join(known)}, or partitionMode SMP" if known else "leave it out"
        yield f"partition.method {method} does not go with partitionMode {mode}: {instead}"
    elif mode is PartitionMode.PARMETIS and method not in (None, PartitionMethod.PARMETIS):
        yield f"partition.method {method} is not that of partitionMode ParMETIS: use SMP, or leave it out"
    if (method is PartitionMethod.GIVEN) != (ids is not None):
        yield (
            "partition.method given and partition.partIds, the file that says which part each node is of, "
            "belong together: state both or neither"
        )


def _placement(job: DGLJob, shape: Shape) -> Iterator[str]:
    placement = shape.placement
    if not shape.partitions:
        yield f"partition.placement {placement} is for partitionMode SSP and SMP, not {shape.mode}"
        return
    if not shape.on_claim:
        yield (
            f"partition.placement {placement} needs storage.type PVC: what partitioned has ended when the "
            "Workers begin, so it cannot serve the parts; name a claim in storage.claimName, or use Pod"
        )
    if placement is Placement.LAUNCHER and not shape.has_launcher:
        yield "partition.placement Launcher needs dglReplicaSpecs.Launcher, in whose pod it partitions"
    stated = job.spec.dgl_replica_specs.get(Role.PARTITIONER)
    if placement is Placement.WORKER and stated:
        yield (
            "partition.placement Worker has no Partitioner: worker-0 runs `dglrun partition` on the job's "
            "dataset, or without one its own command with DGL_OPERATOR_PHASE_ENV=Partitioner; remove "
            "dglReplicaSpecs.Partitioner"
        )
    if placement is Placement.LAUNCHER and stated and stated.template:
        yield from _beside(job, stated.template)


def _beside(job: DGLJob, template: dict[str, object]) -> Iterator[str]:
    """The template of a Partitioner that is no pod of its own, which nobody else looks at."""
    where = "dglReplicaSpecs.Partitioner.template"
    wrong = list(shape_problems(template, where))
    if wrong:
        yield from wrong
        return
    pod = RawPod(template)
    yield from own_name_problems(pod, where, OWN_CONTAINERS)
    others = [each.name for each in pod.containers if each.name != main_name(job.spec.main_container, pod)]
    if others:
        yield (
            f"{where} has the containers {', '.join(others)} beside the main one, but under "
            "partition.placement Launcher it is one init container: move them to the Launcher's template"
        )


def host_path_problems(job: DGLJob, *, allowed: bool) -> Iterator[str]:
    """A folder of the nodes: only where whoever runs the operator lets jobs have one."""
    storage = job.spec.storage
    if storage.type is not StorageType.HOST_PATH:
        if storage.host_path is not None:
            yield f"storage.hostPath needs storage.type HostPath, not {storage.type}"
        return
    if not allowed:
        yield (
            "storage.type HostPath is turned off: use PVC or EmptyDir, or have the operator run with "
            "--allow-host-path"
        )
    if not storage.host_path:
        yield "storage.type HostPath needs storage.hostPath, a folder that is the same on every node"
    elif ".." in storage.host_path.split("/"):
        yield "storage.hostPath may not contain '..'"
