# SPDX-License-Identifier: Apache-2.0
"""What the pods of a PyTorchJob are told, under the names that the training operator gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dglop.pytorchjob.api import Role
from dglop.runtime.api import RawPod

if TYPE_CHECKING:
    from dglop.common.replica import Replica
    from dglop.pytorchjob.api import PyTorchJob

__all__ = ("CONTAINER", "PORT", "PORT_NAME", "meeting", "port_of", "size")

CONTAINER: Final = "pytorch"
PORT_NAME: Final = "pytorchjob-port"
PORT: Final = 23456


def meeting(replica: Replica[PyTorchJob]) -> dict[str, str]:
    """Where the pods meet and which of them this one is, as torch.distributed and torchrun read it."""
    job = replica.job
    specs = job.spec.pytorch_replica_specs
    first = Role.MASTER if Role.MASTER in specs else Role.WORKER
    port = str(port_of(RawPod(specs[first].template)) or PORT)
    rank = str(replica.index + (first is Role.MASTER and replica.role == Role.WORKER))
    per_node = job.spec.nproc_per_node
    world = job.spec.total * (int(per_node) if per_node.isdigit() else 1)
    return {
        "MASTER_ADDR": replica.dns,
        "MASTER_PORT": port,
        "WORLD_SIZE": str(world),
        "RANK": rank,
        "PET_MASTER_ADDR": replica.dns,
        "PET_MASTER_PORT": port,
        "PET_NODE_RANK": rank,
    }


def size(job: PyTorchJob) -> dict[str, str]:
    """What torchrun reads in the place of its flags on the number of pods and of processes in each."""
    return {"PET_NNODES": str(job.spec.total), "PET_NPROC_PER_NODE": job.spec.nproc_per_node}


def port_of(pod: RawPod) -> int | None:
    """The port that the template itself gives to the meeting."""
    main = next((each for each in pod.containers if each.name == CONTAINER), None)
    listed = main.data.get("ports") or [] if main else []
    return next((int(each["containerPort"]) for each in listed if each.get("name") == PORT_NAME), None)
