# SPDX-License-Identifier: Apache-2.0
"""Which servers and trainers a Worker starts, with what environment: DGL's protocol, and torch's."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, List, Mapping, Sequence, Tuple

from . import contract
from .children import Command

if TYPE_CHECKING:
    from .env import Env, Identity
    from .rendezvous import Who

__all__ = (
    "Shape",
    "common_env",
    "ip_config",
    "launch_plan",
    "server_env",
    "server_names",
    "trainer_env",
    "trainer_names",
    "write_whole",
)


@dataclass(frozen=True)
class Shape:
    """How many of what, and on which ports."""

    workers: int
    trainers: int
    servers: int
    samplers: int
    port_base: int
    master_port: int

    @property
    def processes(self) -> int:
        """How many of this Worker compute at the same time: more threads than CPUs slow all of them down."""
        return self.servers + self.trainers * (1 + self.samplers)

    @classmethod
    def from_env(cls, env: Env) -> Shape:
        """Raises Refusal (ConfigInvalid)."""
        return cls(
            workers=env.integer(contract.ENV_NUM_WORKERS, 1, least=1),
            trainers=env.integer(contract.ENV_NUM_TRAINERS, 1, least=1),
            servers=env.integer(contract.ENV_NUM_SERVERS, 1, least=1),
            samplers=env.integer(contract.ENV_NUM_SAMPLERS, 0),
            port_base=env.integer(contract.ENV_PORT_BASE, 30050, least=1),
            master_port=env.integer(contract.ENV_MASTER_PORT, 29500, least=1),
        )


def ip_config(peers: Sequence[Who], shape: Shape) -> str:
    """DGL's list of machines: a line a Worker, in the order of the parts."""
    return "".join("%s %d\n" % (who.ip, shape.port_base) for who in peers)


def server_names(shape: Shape) -> List[str]:
    return ["server-%d" % number for number in range(shape.servers)]


def trainer_names(shape: Shape) -> List[str]:
    return ["trainer-%d" % number for number in range(shape.trainers)]


def launch_plan(
    argv: Sequence[str],
    *,
    identity: Identity,
    shape: Shape,
    peers: Sequence[Who],
    paths: Tuple[str, str],
    threads: int,
    base: Mapping[str, str],
) -> List[Command]:
    """The servers, then the trainers. `paths` are ip_config and partition config, `threads` a trainer's.

    What DGL and torch find each other by is always set; of the rest the user's own value in `base` wins.
    """
    clients = shape.workers * shape.trainers * (1 + shape.samplers)
    common = common_env(base, paths, servers=shape.servers, samplers=shape.samplers, clients=clients)
    servers = [
        Command(name, argv, server_env(common, identity.index * shape.servers + number))
        for number, name in enumerate(server_names(shape))
    ]
    trainers = [
        Command(name, argv, trainer_env(common, identity, shape, number, master=peers[0].ip, threads=threads))
        for number, name in enumerate(trainer_names(shape))
    ]
    return servers + trainers


def common_env(
    base: Mapping[str, str], paths: Tuple[str, str], *, servers: int, samplers: int, clients: int
) -> Dict[str, str]:
    """What every process of DGL is told; `clients` are all trainers and samplers of the job."""
    common = dict(base)
    for name, value in (("DGL_GRAPH_FORMAT", "csc"), ("DGL_KEEP_ALIVE", "0"), ("DGLBACKEND", "pytorch")):
        common.setdefault(name, value)
    common.update(
        DGL_IP_CONFIG=paths[0],
        DGL_CONF_PATH=paths[1],
        DGL_NUM_SERVER=str(servers),
        DGL_NUM_SAMPLER=str(samplers),
        DGL_NUM_CLIENT=str(clients),
    )
    return common


def server_env(common: Mapping[str, str], number: int) -> Dict[str, str]:
    """What server `number` of the job is told."""
    env = dict(common, DGL_ROLE="server", DGL_SERVER_ID=str(number))
    env.setdefault("OMP_NUM_THREADS", "1")
    return env


def trainer_env(
    common: Mapping[str, str], identity: Identity, shape: Shape, number: int, *, master: str, threads: int
) -> Dict[str, str]:
    """What trainer `number` of its pod is told; of `shape` only workers, trainers and masterPort count."""
    env = dict(
        common,
        DGL_ROLE="client",
        DGL_DIST_MODE="distributed",
        MASTER_ADDR=master,
        MASTER_PORT=str(shape.master_port),
        RANK=str(identity.index * shape.trainers + number),
        WORLD_SIZE=str(shape.workers * shape.trainers),
        LOCAL_RANK=str(number),
        LOCAL_WORLD_SIZE=str(shape.trainers),
        GROUP_RANK=str(identity.index),
    )
    env.setdefault("OMP_NUM_THREADS", str(threads))
    env.setdefault("DGL_GROUP_ID", "0")
    return env


def write_whole(path: str, text: str) -> None:
    """Write a file so that nobody ever reads half of it. Raises OSError."""
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".tmp", path)
