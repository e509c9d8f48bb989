# SPDX-License-Identifier: Apache-2.0
"""What the containers of a job with launchMode Exec are told.

DGL's variables, and those of the DGL Operator that came before, for programs that were written for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.dgljob.enums import Role
from dglop.dgljob.exec.hostfiles import worker_container
from dglop.dglrun import contract

if TYPE_CHECKING:
    from dglop.dgljob.pods.context import PodContext

__all__ = ("exec_env",)


def exec_env(ctx: PodContext) -> dict[str, str]:
    """Of a Launcher or Worker, besides what every main container is told."""
    spec, shape, folder = ctx.spec, ctx.shape, contract.RUN_DIR
    clients = shape.workers * spec.slots_per_worker * (1 + spec.num_samplers)
    env = {
        "DGL_OPERATOR_HOSTFILE_PATH": f"{folder}/{contract.HOSTFILE_NAME}",
        "DGL_OPERATOR_PARTFILE_PATH": f"{folder}/{contract.PARTFILE_NAME}",
        "DGL_OPERATOR_LEADFILE_PATH": f"{folder}/{contract.LEADFILE_NAME}",
        "DGL_IP_CONFIG": contract.IP_CONFIG_FILE,
        "DGL_NUM_SERVER": str(spec.num_servers),
        "DGL_NUM_SAMPLER": str(spec.num_samplers),
        "DGL_NUM_CLIENT": str(clients),
        "MASTER_ADDR": ctx.first_worker_host,
        contract.ENV_MASTER_PORT: str(spec.network.master_port),
        "WORLD_SIZE": str(shape.workers * spec.slots_per_worker),
        contract.ENV_NUM_TRAINERS: str(spec.slots_per_worker),
        contract.ENV_NUM_SERVERS: str(spec.num_servers),
        contract.ENV_NUM_SAMPLERS: str(spec.num_samplers),
        contract.ENV_PORT_BASE: str(spec.network.port_base),
        contract.ENV_PARTS_DIR: spec.storage.mount_path,
    }
    if ctx.role is Role.LAUNCHER:
        return env | {
            # neither Partitioner nor Launcher_Workload: the one that launches on Workers
            "DGL_OPERATOR_PHASE_ENV": "Launcher",
            "DGL_OPERATOR_KUBEXEC_PATH": f"{folder}/{contract.KUBEXEC_NAME}",
            "DGL_OPERATOR_KUBECTL_PATH": contract.KUBECTL,
            contract.ENV_EXEC_CONTAINER: worker_container(ctx.job),
            contract.ENV_PYTHON: ctx.spec.python,
            **({contract.ENV_MANIFEST_HASH: ctx.manifest_hash} if ctx.manifest_hash else {}),
            **({contract.ENV_VERIFY_PARTS: "1"} if ctx.shape.on_claim else {}),
        }
    return env | {"DGL_DIST_MODE": "distributed", "NODE_RANK": str(ctx.replica.index)}
