# SPDX-License-Identifier: Apache-2.0
"""What the pod of a role has to do in an attempt: its seat, its part, and the processes it starts."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import TYPE_CHECKING, FrozenSet, List, Mapping, Optional, Sequence, Tuple

from . import contract
from .ending import Refusal
from .gang import Gang
from .launch import Shape, ip_config, launch_plan, trainer_names
from .machine import cpu_count

if TYPE_CHECKING:
    from .children import Command
    from .env import Env, Identity
    from .rendezvous import Who

__all__ = ("Duty", "seat_of", "worker_duty")


@dataclass(frozen=True)
class Duty(abc.ABC):
    """What the supervisor asks of a role.

    `part` is the part that must lie here, None where only what all need is needed; `finishes` are the
    processes whose good end makes this pod's work done: without any it is done from the start, and the pod
    is there for others.
    """

    gang: Gang
    seat: int
    parts: int
    part: Optional[int]
    finishes: FrozenSet[str]
    has_own_samplers: bool

    @property
    def name(self) -> str:
        return self.gang.name(self.seat)

    @abc.abstractmethod
    def ip_config(self, peers: Sequence[Who]) -> str:
        """DGL's list of machines."""

    @abc.abstractmethod
    def commands(
        self, argv: Sequence[str], peers: Sequence[Who], paths: Tuple[str, str], base: Mapping[str, str]
    ) -> List[Command]:
        """The processes to start, in their order; `paths` are ip_config and partition config."""


def seat_of(gang: Gang, role: str, index: int) -> int:
    """Raises Refusal (ConfigInvalid) where the job has no such pod."""
    try:
        return gang.seat(role, index)
    except ValueError as error:
        raise Refusal("ConfigInvalid", contract.EXIT_CONFIG, str(error)) from error


@dataclass(frozen=True)
class _WorkerDuty(Duty):
    """A Worker: servers, trainers and their samplers in one pod, beside its part."""

    identity: Identity
    shape: Shape

    def ip_config(self, peers: Sequence[Who]) -> str:
        return ip_config(peers, self.shape)

    def commands(
        self, argv: Sequence[str], peers: Sequence[Who], paths: Tuple[str, str], base: Mapping[str, str]
    ) -> List[Command]:
        threads = max(1, cpu_count() // self.shape.processes)
        return launch_plan(
            argv,
            identity=self.identity,
            shape=self.shape,
            peers=peers,
            paths=paths,
            threads=threads,
            base=base,
        )


def worker_duty(env: Env, identity: Identity) -> Duty:
    """Raises Refusal (ConfigInvalid)."""
    shape = Shape.from_env(env)
    return _WorkerDuty(
        gang=Gang((("worker", shape.workers),)),
        seat=identity.index,
        parts=shape.workers,
        part=identity.index,
        finishes=frozenset(trainer_names(shape)),
        has_own_samplers=shape.samplers > 0,
        identity=identity,
        shape=shape,
    )
