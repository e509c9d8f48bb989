# SPDX-License-Identifier: Apache-2.0
"""What a job's containers are told: the contract with dglrun, and who may change what.

The API server keeps a record of every variable of a container, twice as large as the variable; so what a
container of ours is told stands in its command line, from where dglrun puts it into the environment of
whatever it starts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dglop.dgljob.enums import Role
from dglop.dgljob.pods.dataset import dataset_env, partition_env
from dglop.dgljob.pods.names import OUTPUT_DIR, SECRET_DIR
from dglop.dgljob.pods.parallel import making_env
from dglop.dgljob.secret import PARTS_TOKEN, STATUS_TOKEN
from dglop.dglrun import contract

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.dgljob.pods.context import PodContext
    from dglop.runtime.api import RawContainer

__all__ = (
    "as_words",
    "assemble_env",
    "dataset_secret",
    "fetch_settings",
    "main_env",
    "merge_env",
    "serve_settings",
    "split_env",
)

EnvValue = str | dict[str, Any]

# Everything else that the operator sets says who the pod is or what the gang has agreed on.
USERS_TO_CHANGE = frozenset(
    {
        contract.ENV_OUTPUT_DIR,
        contract.ENV_WORKSPACE,
        contract.ENV_RENDEZVOUS_TIMEOUT_SECONDS,
        contract.ENV_DATASET_NAME,
        contract.ENV_DATASET_URL,
        contract.ENV_DATASET_FORMAT,
        contract.ENV_DATASET_NODES,
        "DGL_OPERATOR_ENV",
        "DGL_OPERATOR_PHASE_ENV",
    }
)

_LEAST_PATIENCE = 600

# Upstream's word for what a container does, kept for programs that read it.
_PHASE = "DGL_OPERATOR_PHASE_ENV"


def _identity_env(ctx: PodContext) -> dict[str, EnvValue]:
    """Who the pod is, and where the parts are."""
    job, shape = ctx.job, ctx.shape
    env: dict[str, EnvValue] = {
        contract.ENV_JOB_NAME: job.name,
        contract.ENV_JOB_NAMESPACE: job.namespace,
        contract.ENV_JOB_UID: job.uid,
        contract.ENV_ATTEMPT: str(ctx.replica.attempt),
        contract.ENV_REPLICA_TYPE: str(ctx.role),
        contract.ENV_REPLICA_INDEX: str(ctx.replica.index),
        contract.ENV_POD_NAME: ctx.replica.name,
        contract.ENV_POD_IP: _field("status.podIP"),
        contract.ENV_NUM_WORKERS: str(shape.workers),
        contract.ENV_NUM_PARTS: str(shape.parts),
        contract.ENV_WORKSPACE: ctx.spec.workspace,
    }
    if not shape.launcher_only or shape.on_claim:
        env[contract.ENV_PARTS_DIR] = ctx.spec.storage.mount_path
    return env


def fetch_settings(ctx: PodContext) -> dict[str, str]:
    """Where a Worker's part comes from, and which one is the right one."""
    told = {
        contract.ENV_JOB_UID: ctx.job.uid,
        contract.ENV_REPLICA_INDEX: str(ctx.replica.index),
        contract.ENV_PARTS_DIR: ctx.spec.storage.mount_path,
        contract.ENV_PARTS_URL: f"http://{ctx.partitioner_host}:{contract.PARTS_PORT}",
        contract.ENV_PARTS_TOKEN_FILE: f"{SECRET_DIR}/{PARTS_TOKEN}",
        contract.ENV_FETCH_RETRIES: str(ctx.spec.dispatch.retries),
        contract.ENV_FETCH_TIMEOUT_SECONDS: str(ctx.spec.dispatch.timeout_seconds),
    }
    if ctx.manifest_hash:
        told[contract.ENV_MANIFEST_HASH] = ctx.manifest_hash
    return told


def serve_settings(ctx: PodContext) -> dict[str, str]:
    """What the parts server needs."""
    return {
        contract.ENV_JOB_UID: ctx.job.uid,
        contract.ENV_PARTS_DIR: ctx.spec.storage.mount_path,
        contract.ENV_PARTS_TOKEN_FILE: f"{SECRET_DIR}/{PARTS_TOKEN}",
    }


def main_env(ctx: PodContext, main: RawContainer) -> dict[str, EnvValue]:
    """What the main container of any role is told, and one beside it that partitions."""
    if ctx.partitions:
        return _making_env(ctx, main)
    env = _identity_env(ctx)
    env["DGL_OPERATOR_ENV"] = "1"
    if ctx.role is Role.LAUNCHER:
        env[_PHASE] = "Launcher_Workload"
    env[contract.ENV_OUTPUT_DIR] = OUTPUT_DIR
    return env | _worker_env(ctx) if ctx.role is Role.WORKER else env


def assemble_env(ctx: PodContext, main: RawContainer) -> dict[str, EnvValue]:
    """What the container of a Worker is told that makes its part."""
    env = _making_env(ctx, main)
    env[contract.ENV_RENDEZVOUS_HOST] = ctx.first_worker_host
    env[contract.ENV_ASSEMBLE_PORT] = str(contract.ASSEMBLE_PORT)
    env[contract.ENV_RENDEZVOUS_TIMEOUT_SECONDS] = str(_LEAST_PATIENCE)
    env[contract.ENV_PARTS_TOKEN_FILE] = f"{SECRET_DIR}/{PARTS_TOKEN}"
    return env


def dataset_secret(ctx: PodContext, container: RawContainer) -> None:
    """The keys of the data set's Secret as variables."""
    dataset = ctx.spec.dataset
    if dataset and dataset.secret_ref:
        container.data.setdefault("envFrom", []).append({"secretRef": {"name": dataset.secret_ref.name}})


def _making_env(ctx: PodContext, main: RawContainer) -> dict[str, EnvValue]:
    env = _identity_env(ctx)
    env["DGL_OPERATOR_ENV"] = "1"
    env[_PHASE] = "Partitioner"
    return env | _partition_env(ctx) | making_env(ctx, main)


def _worker_env(ctx: PodContext) -> dict[str, EnvValue]:
    spec = ctx.spec
    env: dict[str, EnvValue] = {
        contract.ENV_NUM_TRAINERS: str(spec.slots_per_worker),
        contract.ENV_NUM_SERVERS: str(spec.num_servers),
        contract.ENV_NUM_SAMPLERS: str(spec.num_samplers),
        contract.ENV_RENDEZVOUS_HOST: ctx.first_worker_host,
        contract.ENV_RENDEZVOUS_PORT: str(contract.RENDEZVOUS_PORT),
        # a Worker that has its part waits for the others, which may still fetch theirs
        contract.ENV_RENDEZVOUS_TIMEOUT_SECONDS: str(max(_LEAST_PATIENCE, spec.dispatch.timeout_seconds)),
        contract.ENV_PORT_BASE: str(spec.network.port_base),
        contract.ENV_MASTER_PORT: str(spec.network.master_port),
        contract.ENV_PARTS_TOKEN_FILE: f"{SECRET_DIR}/{PARTS_TOKEN}",
    }
    if not ctx.shape.assembles:  # else its part was made a moment ago, in the same pod
        if ctx.shape.on_claim:
            env[contract.ENV_VERIFY_PARTS] = "1"
        if ctx.manifest_hash:
            env[contract.ENV_MANIFEST_HASH] = ctx.manifest_hash
    url = ctx.options.status_url(ctx.job.namespace, ctx.job.name)
    if url:
        env[contract.ENV_STATUS_URL] = url
        env[contract.ENV_STATUS_TOKEN_FILE] = f"{SECRET_DIR}/{STATUS_TOKEN}"
    return env


def _partition_env(ctx: PodContext) -> dict[str, EnvValue]:
    return {**dataset_env(ctx.spec), **partition_env(ctx.spec)}


def split_env(main: RawContainer, ours: Mapping[str, EnvValue]) -> tuple[dict[str, EnvValue], dict[str, str]]:
    """What of `ours` must be a variable of the container, and what it is enough to tell dglrun.

    A variable must be what only the kubelet knows, and what the container as it is written speaks of, be it
    as $(NAME) or in a probe's script. What is the user's to change and was changed is in neither.
    """
    written = json.dumps(main.data)
    theirs = _stated(main) & USERS_TO_CHANGE
    env: dict[str, EnvValue] = {}
    told: dict[str, str] = {}
    for name, value in ours.items():
        if not isinstance(value, str) or name in written:
            env[name] = value
        elif name not in theirs:
            told[name] = value
    return env, told


def as_words(told: Mapping[str, str]) -> list[str]:
    """Settings as dglrun reads them before `--`."""
    return [f"{name}={value}" for name, value in told.items()]


def merge_env(main: RawContainer, ours: Mapping[str, EnvValue]) -> None:
    """Puts `ours` before the user's own, so that those can refer to it by $(NAME).

    A variable that both state is the user's where the user may change it, else ours.
    """
    users = {str(each.get("name")): each for each in main.data.get("env") or []}
    theirs = users.keys() & USERS_TO_CHANGE
    first = _as_list({name: value for name, value in ours.items() if name not in theirs})
    rest = [each for name, each in users.items() if name not in ours or name in theirs]
    main.data["env"] = [*first, *rest]


def _stated(main: RawContainer) -> set[str]:
    return {str(each.get("name")) for each in main.data.get("env") or []}


def _as_list(env: Mapping[str, EnvValue]) -> list[dict[str, Any]]:
    """Variables as the API server reads them."""
    return [
        {"name": name, "value": value} if isinstance(value, str) else {"name": name, "valueFrom": value}
        for name, value in env.items()
    ]


def _field(path: str) -> dict[str, Any]:
    return {"fieldRef": {"fieldPath": path}}
