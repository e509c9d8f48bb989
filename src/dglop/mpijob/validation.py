# SPDX-License-Identifier: Apache-2.0
"""What is wrong with an MPIJob's spec, in sentences that say what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.templates import own_name_problems
from dglop.common.types import RestartPolicy
from dglop.mpijob.api import Role
from dglop.mpijob.objects import CONFIG_PATH
from dglop.mpijob.pods import AWAIT
from dglop.runtime.api import RawPod

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.mpijob.api import MPIJob, MPIReplicaSpec

__all__ = ("problems",)


def problems(job: MPIJob) -> list[str]:
    """Every mistake that can be seen in the spec alone; the CRD's own rules say most of it earlier."""
    return list(_problems(job))


def _problems(job: MPIJob) -> Iterator[str]:
    specs = job.spec.mpi_replica_specs
    unknown = sorted(set(specs) - set(Role))
    if unknown:
        yield f"mpiReplicaSpecs has {', '.join(unknown)}; it may have only {', '.join(Role)}"
    launcher = specs.get(Role.LAUNCHER)
    if launcher is None:
        yield "mpiReplicaSpecs.Launcher is needed: it runs mpirun"
    elif launcher.replicas != 1:
        yield f"mpiReplicaSpecs.Launcher.replicas is {launcher.replicas}; it must be 1"
    worker = specs.get(Role.WORKER)
    if worker is not None and worker.replicas < 1:
        yield "mpiReplicaSpecs.Worker.replicas must be 1 or more; leave Worker out where none is needed"
    for role, spec in specs.items():
        if role in unknown:
            continue  # the base has looked at the templates of those that run
        yield from _replica(job, role, spec)


def _replica(job: MPIJob, role: str, spec: MPIReplicaSpec) -> Iterator[str]:
    where = f"mpiReplicaSpecs.{role}"
    if spec.restart_policy not in (None, RestartPolicy.NEVER, RestartPolicy.ON_FAILURE):
        yield f"{where}.restartPolicy is {spec.restart_policy}; it may be Never or OnFailure"
    where = f"{where}.template"
    yield from _contents(job, role, RawPod(spec.template), where)


def _contents(job: MPIJob, role: str, pod: RawPod, where: str) -> Iterator[str]:
    if not pod.containers:
        yield f"{where}.spec.containers is empty; it needs a container with an image"
    yield from own_name_problems(pod, where, (AWAIT,))
    own = [job.spec.ssh_auth_mount_path, *([CONFIG_PATH] if role == Role.LAUNCHER else [])]
    for path in own:
        if pod.has_mount(path):
            yield f"{where} mounts something at {path}, where the operator mounts its own"
