# SPDX-License-Identifier: Apache-2.0
"""What servers, samplers and trainers have to do where each is a pod of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, FrozenSet, List, Mapping, Sequence, Tuple

from .. import contract
from ..children import Command
from ..duty import Duty, seat_of
from ..gang import Gang
from ..launch import Shape, common_env, server_env, trainer_env
from ..machine import cpu_count
from .hook import site_env
from .placement import home_of, samplers_of, trainers_of

if TYPE_CHECKING:
    from ..env import Env, Identity
    from ..rendezvous import Who

__all__ = ("Counts", "apart")

_SEATS = ("trainer", "server", "sampler")  # trainer-0 is where all meet: progress and torch are there, too


@dataclass(frozen=True)
class Counts:
    """How many pods there are of each role, and how many processes in each of them."""

    pods: Mapping[str, int]
    each: Mapping[str, int]
    port_base: int
    master_port: int

    @classmethod
    def from_env(cls, env: Env) -> Counts:
        """Raises Refusal (ConfigInvalid)."""
        return cls(
            pods={
                "trainer": env.integer(contract.ENV_NUM_TRAINER_PODS, least=1),
                "server": env.integer(contract.ENV_NUM_SERVER_PODS, least=1),
                "sampler": env.integer(contract.ENV_NUM_SAMPLER_PODS, 0),
            },
            each={
                "trainer": env.integer(contract.ENV_NUM_TRAINERS, 1, least=1),
                "server": env.integer(contract.ENV_NUM_SERVERS, 1, least=1),
                "sampler": max(1, env.integer(contract.ENV_NUM_SAMPLERS, 1)),
            },
            port_base=env.integer(contract.ENV_PORT_BASE, 30050, least=1),
            master_port=env.integer(contract.ENV_MASTER_PORT, 29500, least=1),
        )

    @property
    def gang(self) -> Gang:
        return Gang(tuple((role, self.pods[role]) for role in _SEATS))

    @property
    def parts(self) -> int:
        """DGL's servers of a part share memory, so a part is a Server's, and each Server has one."""
        return self.pods["server"]

    def processes(self, role: str) -> int:
        """Of a role, in all its pods."""
        return self.pods[role] * self.each[role]

    def hosts(self, role: str, peers: Sequence[Who]) -> List[str]:
        """The addresses of a role's pods; `peers` sit in the order of their seats."""
        first = self.gang.seat(role, 0) if self.pods[role] else 0
        return [who.ip for who in peers[first : first + self.pods[role]]]


@dataclass(frozen=True)
class _Apart(Duty):
    """A pod with processes of one role."""

    role: str
    identity: Identity
    counts: Counts

    def ip_config(self, peers: Sequence[Who]) -> str:
        """A line a Server: trainers and samplers are nobody's machine."""
        hosts = self.counts.hosts("server", peers)
        return "".join("%s %d\n" % (host, self.counts.port_base) for host in hosts)

    def commands(
        self, argv: Sequence[str], peers: Sequence[Who], paths: Tuple[str, str], base: Mapping[str, str]
    ) -> List[Command]:
        counts, own = self.counts, self.counts.each[self.role]
        clients = counts.processes("trainer") + counts.processes("sampler")
        common = common_env(base, paths, servers=counts.each["server"], samplers=0, clients=clients)
        make = {"server": self._server, "sampler": self._sampler, "trainer": self._trainer}[self.role]
        return [
            Command("%s-%d" % (self.role, number), argv, make(common, number, peers)) for number in range(own)
        ]

    def _server(self, common: Mapping[str, str], number: int, peers: Sequence[Who]) -> Dict[str, str]:
        del peers
        return server_env(common, self.identity.index * self.counts.each["server"] + number)

    def _sampler(self, common: Mapping[str, str], number: int, peers: Sequence[Who]) -> Dict[str, str]:
        del peers
        counts = self.counts
        sampler = self.identity.index * counts.each["sampler"] + number
        trainers = counts.processes("trainer")
        served = trainers_of(sampler, trainers, counts.processes("sampler"))
        env = dict(common, DGL_ROLE="sampler", DGL_DIST_MODE="distributed")
        env.setdefault("OMP_NUM_THREADS", "1")
        env.setdefault("DGL_GROUP_ID", "0")
        env[contract.ENV_SAMPLER_PORT] = str(counts.port_base + number)
        env[contract.ENV_SAMPLED_TRAINERS] = str(len(served))
        env[contract.ENV_HOME_PART] = str(home_of(served[0], trainers, counts.parts))
        return site_env(env)

    def _trainer(self, common: Mapping[str, str], number: int, peers: Sequence[Who]) -> Dict[str, str]:
        counts, own = self.counts, self.counts.each["trainer"]
        shape = Shape(
            workers=counts.pods["trainer"],
            trainers=own,
            servers=0,
            samplers=0,
            port_base=counts.port_base,
            master_port=counts.master_port,
        )
        threads = max(1, cpu_count() // own)
        env = trainer_env(common, self.identity, shape, number, master=peers[0].ip, threads=threads)
        rank, trainers = self.identity.index * own + number, counts.processes("trainer")
        samplers = samplers_of(rank, trainers, counts.processes("sampler"))
        env[contract.ENV_SAMPLERS] = self._addresses(samplers, peers)
        env[contract.ENV_HOME_PART] = str(home_of(rank, trainers, counts.parts))
        return site_env(env)

    def _addresses(self, samplers: Sequence[int], peers: Sequence[Who]) -> str:
        """Where samplers listen, as `host:port,host:port`; - for none."""
        hosts, each = self.counts.hosts("sampler", peers), self.counts.each["sampler"]
        found = ["%s:%d" % (hosts[one // each], self.counts.port_base + one % each) for one in samplers]
        return ",".join(found) or "-"


def apart(env: Env, identity: Identity, role: str) -> Duty:
    """The duty of a pod that has only servers, samplers or trainers. Raises Refusal (ConfigInvalid)."""
    counts = Counts.from_env(env)
    finishes: FrozenSet[str] = frozenset()
    if role == "trainer":
        finishes = frozenset("trainer-%d" % number for number in range(counts.each["trainer"]))
    return _Apart(
        gang=counts.gang,
        seat=seat_of(counts.gang, role, identity.index),
        parts=counts.parts,
        part=identity.index if role == "server" else None,
        finishes=finishes,
        has_own_samplers=False,
        role=role,
        identity=identity,
        counts=counts,
    )
