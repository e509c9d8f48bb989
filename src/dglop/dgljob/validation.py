# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a DGLJob's spec, in sentences that say what to write instead."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from dglop.common.failurerules import rule_problems
from dglop.dgljob.enums import (
    DispatchMode,
    LaunchMode,
    PartitionMode,
    Role,
    StorageType,
    TrainingLayout,
)
from dglop.dgljob.modes import host_path_problems, mode_problems
from dglop.dgljob.pods.names import OWN_PATHS
from dglop.dgljob.shape import Shape
from dglop.dgljob.templates import template_problems
from dglop.dglrun import contract
from dglop.runtime.api import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.dgljob.api import DGLJob

__all__ = ("problems",)

_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_OWN_PORTS: Final = {
    contract.RENDEZVOUS_PORT: "the port where the Workers meet",
    contract.PARTS_PORT: "the port of the parts server",
    contract.ASSEMBLE_PORT: "the port where Workers meet to make their parts",
    contract.ASSEMBLE_DATA_PORT: "the port at which Workers exchange what their parts are made of",
}
_OBJECT_NAME: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*")


def problems(job: DGLJob, *, allow_host_path: bool = False) -> list[str]:
    """Every mistake that can be seen in the spec alone; empty for a job that can run.

    The CRD's own rules say most of this earlier; here it also holds where they are not installed.
    """
    shape = Shape.of(job)
    found = [
        *_not_built(job),
        *_replicas(job, shape),
        *mode_problems(job, shape),
        *host_path_problems(job, allowed=allow_host_path),
        *_storage(job, shape),
        *_network(job),
        *rule_problems(job.spec.failure_rules, _roles(job, shape)),
        *_sizes(job),
    ]
    return found or list(template_problems(job, shape))


def _not_built(job: DGLJob) -> Iterator[str]:
    spec = job.spec
    if spec.launch_mode is not LaunchMode.DIRECT:
        yield f"launchMode {spec.launch_mode} is not built yet; use Direct"
    if spec.training_layout is not TrainingLayout.FUSED:
        yield f"trainingLayout {spec.training_layout} is not built yet; use Fused"
    if spec.restart_scope != "Job":
        yield "restartScope Replica does not go with launchMode Direct, where all restart; use Job"
    if spec.dispatch.mode is DispatchMode.EXEC:
        yield "dispatch.mode Exec is not built yet; use Volume with a claim, or Pull"
    if spec.elastic_policy is not None:
        yield "elasticPolicy is reserved and must be unset: DGL cannot change the number of parts"


def _replicas(job: DGLJob, shape: Shape) -> Iterator[str]:
    spec = job.spec
    unknown = sorted(set(spec.dgl_replica_specs) - set(Role))
    if unknown:
        yield f"dglReplicaSpecs has {', '.join(unknown)}; it may have only {', '.join(Role)}"
    for role in (Role.SERVER, Role.SAMPLER, Role.TRAINER):
        if role in spec.dgl_replica_specs and spec.training_layout is TrainingLayout.FUSED:
            yield f"dglReplicaSpecs.{role} needs trainingLayout TriWorkload"
    if shape.mode is PartitionMode.SKIP:
        yield from _skip(shape)
    elif shape.launcher_only:
        yield f"partitionMode {spec.partition_mode} needs dglReplicaSpecs.Worker with at least one replica"
    partitioner = spec.dgl_replica_specs.get(Role.PARTITIONER)
    if partitioner and shape.partitions and partitioner.replicas != 1:
        yield f"dglReplicaSpecs.Partitioner.replicas is {partitioner.replicas}; one pod partitions"
    if spec.replicas_of(Role.LAUNCHER) > 1:
        yield f"dglReplicaSpecs.Launcher.replicas is {spec.replicas_of(Role.LAUNCHER)}; one is allowed"


def _roles(job: DGLJob, shape: Shape) -> set[str]:
    """The replica types that the job has, the Partitioner that nobody wrote too."""
    return {*job.spec.dgl_replica_specs, *([Role.PARTITIONER] if shape.has_partitioner else [])}


def _skip(shape: Shape) -> Iterator[str]:
    if shape.launcher_only and not shape.has_launcher:
        yield "partitionMode Skip needs a Launcher, or Workers on existing parts"
    if not shape.launcher_only and not shape.existing:
        yield (
            "partitionMode Skip with Workers needs storage.existing: true, storage.type PVC and the claim "
            "that holds the parts"
        )


def _storage(job: DGLJob, shape: Shape) -> Iterator[str]:
    storage, mode = job.spec.storage, job.spec.dispatch.mode
    named = (storage.claim_name is not None) + (storage.claim_template is not None)
    if storage.type is StorageType.PVC and named != 1:
        yield "storage.type PVC needs exactly one of storage.claimName and storage.claimTemplate"
    if storage.type is not StorageType.PVC and named:
        yield f"storage.claimName and claimTemplate need storage.type PVC, not {storage.type}"
    if storage.existing and shape.mode is not PartitionMode.SKIP:
        yield "storage.existing needs partitionMode Skip"
    if storage.existing and storage.claim_name is None and not shape.host_path:
        yield "storage.existing needs storage.claimName: the claim that holds the parts"
    if mode is DispatchMode.VOLUME and not shape.on_claim:
        yield "dispatch.mode Volume needs storage.type PVC"
    if mode is DispatchMode.PULL and shape.on_claim:
        yield "dispatch.mode Pull does not go with storage.type PVC: the Workers mount the claim"
    if mode is DispatchMode.PULL and shape.assembles:
        yield "dispatch.mode Pull does not go with partitionMode MSP: each Worker has made its own part"
    if ".." in storage.sub_path.split("/") or ".." in job.spec.output.sub_path.split("/"):
        yield "storage.subPath and output.subPath may not contain '..'"
    yield from _mount_path(storage.mount_path)
    yield from _names(job)


def _names(job: DGLJob) -> Iterator[str]:
    """An object of a name that none can have would be waited for without end."""
    dataset = job.spec.dataset
    for where, name in (
        ("storage.claimName", job.spec.storage.claim_name),
        ("output.claimName", job.spec.output.claim_name or None),
        ("dataset.secretRef.name", dataset.secret_ref.name if dataset and dataset.secret_ref else None),
    ):
        if name is not None and not _OBJECT_NAME.fullmatch(name):
            yield (
                f"{where} {name!r} is no name of an object: write lower-case letters, digits, '-' and '.', "
                "with a letter or digit at both ends"
            )


def _mount_path(path: str) -> Iterator[str]:
    """A volume over a folder of the operator's own hides it, and one within it cannot be mounted."""
    mount = "/" + posixpath.normpath(path).strip("/")
    for own in OWN_PATHS:
        if posixpath.commonpath((mount, own)) in (mount, own):
            yield (
                f"storage.mountPath {path} lies over or within {own}, where the operator mounts its own; use "
                "another, such as /dgl_workspace/workload"
            )
            return


def _network(job: DGLJob) -> Iterator[str]:
    network = job.spec.network
    servers = range(network.port_base, network.port_base + network.port_count)
    if job.spec.num_servers > network.port_count:
        yield f"numServers {job.spec.num_servers} is larger than network.portCount {network.port_count}"
    taken = {network.master_port: "network.masterPort", **_OWN_PORTS}
    for port, whose in taken.items():
        if port in servers:
            yield f"{whose} {port} lies within the servers' ports {servers.start} to {servers.stop - 1}"
    if network.master_port in _OWN_PORTS:
        yield f"network.masterPort {network.master_port} is dglrun's own; use another, such as 29500"


def _sizes(job: DGLJob) -> Iterator[str]:
    size = job.spec.shm_size
    if size is None:
        return
    try:
        if parse_quantity(size) < 0:
            yield f"shmSize {size} is negative; write a size such as 2Gi, or 0 for none"
    except ValueError as problem:
        yield f"shmSize: {problem}"
