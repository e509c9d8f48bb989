# SPDX-License-Identifier: Apache-2.0
"""What is seen of a job with launchMode Exec: its Workers' addresses, and how far its Launcher is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dglop.common.kind import Gate
from dglop.dgljob.enums import DispatchMode, Role
from dglop.dgljob.exec.names import DISPATCH

if TYPE_CHECKING:
    from dglop.common.observed import Observed
    from dglop.common.views import PodView
    from dglop.dgljob.shape import Shape
    from dglop.dgljob.status import DGLJobStatus

__all__ = ("Machine", "has_launched", "is_dispatched", "launcher_gate", "machine_of", "machines")


@dataclass(frozen=True, slots=True)
class Machine:
    """A pod that others find by its address."""

    name: str
    ip: str


def machines(observed: Observed, attempt: int, count: int) -> tuple[Machine, ...] | None:
    """The Workers of an attempt in the order of their parts; None until each is ready and has an address.

    One that has ended already is taken as it is: that nothing can be started there, the Launcher says.
    """
    found: list[Machine] = []
    for index in range(count):
        pod = observed.pod(Role.WORKER, index)
        if pod is None or pod.attempt != attempt or pod.is_terminating or not pod.status.pod_ip:
            return None
        if not (pod.is_ready or pod.is_succeeded):
            return None
        found.append(Machine(pod.name, pod.status.pod_ip))
    return tuple(found)


def machine_of(pod: PodView | None) -> Machine | None:
    """The pod's name and address, where it has one."""
    return Machine(pod.name, pod.status.pod_ip) if pod and pod.status.pod_ip else None


def launcher_gate(status: DGLJobStatus, observed: Observed, shape: Shape) -> Gate:
    """The Launcher is made when all host files can be written; from then on its loss is a failure."""
    before = status.replica_statuses.get(Role.LAUNCHER)
    if before and before.created_indexes:
        return Gate.OPEN
    is_settled = observed.is_settled(Role.WORKER) and status.is_latched
    there = is_settled and machines(observed, status.attempt, shape.workers) is not None
    return Gate.OPEN if there else Gate.HOLD


def has_launched(observed: Observed, attempt: int) -> bool:
    """Whether the Launcher's own program has started: all that goes before it is done."""
    pod = _launcher(observed, attempt)
    main = pod.main if pod else None
    return main is not None and (main.state.running is not None or main.state.terminated is not None)


def is_dispatched(observed: Observed, attempt: int, shape: Shape) -> bool:
    """Whether the Launcher has brought the Workers their parts, where that is what it does."""
    if shape.dispatch is not DispatchMode.EXEC:
        return True
    pod = _launcher(observed, attempt)
    found = pod.container(DISPATCH) if pod else None
    ended = found.state.terminated if found else None
    return (ended is not None and ended.exit_code == 0) or has_launched(observed, attempt)


def _launcher(observed: Observed, attempt: int) -> PodView | None:
    pod = observed.pod(Role.LAUNCHER)
    return pod if pod is not None and pod.attempt == attempt else None
