# SPDX-License-Identifier: Apache-2.0
"""The phases of a job: one step a write, never back within an attempt, each seen once and in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.dgljob.assembly import is_assembling
from dglop.dgljob.enums import Phase, Role
from dglop.dgljob.placement import maker_pod, making

if TYPE_CHECKING:
    from dglop.common.observed import Observed
    from dglop.dgljob.shape import Shape
    from dglop.dgljob.status import DGLJobStatus

__all__ = ("done", "next_phase", "stage")

_FULL = (Phase.PENDING, Phase.PARTITIONING, Phase.PARTITIONED, Phase.DISPATCHING, Phase.TRAINING)
_ON_PARTS = (Phase.PENDING, Phase.DISPATCHING, Phase.TRAINING)
_LAUNCHER = (Phase.PENDING, Phase.TRAINING)


def next_phase(status: DGLJobStatus, observed: Observed, shape: Shape) -> Phase:
    """The phase to write now, from the one that is written (`status.phase`) and what is seen.

    A new attempt begins at Restarting; terminal phases and Suspended are reached from anywhere. Otherwise
    the phase goes one step towards `stage`, and stays where that lies behind.
    """
    if status.is_true("Failed"):
        return Phase.FAILED
    if status.is_true("Succeeded"):
        return Phase.COMPLETED
    if status.is_true("Suspended"):
        return Phase.SUSPENDED
    if status.phase in (None, Phase.SUSPENDED):
        return Phase.PENDING
    if status.attempt > (status.phase_attempt or status.attempt):
        return Phase.RESTARTING
    path = _path(status, shape)
    at = path.index(status.phase) if status.phase in path else 0
    goal = stage(status, observed, shape)
    towards = path.index(goal) if goal in path else 0
    return path[at + 1] if towards > at else status.phase or Phase.PENDING


def stage(status: DGLJobStatus, observed: Observed, shape: Shape) -> Phase:
    """How far the present attempt has come, from what is seen alone."""
    attempt = status.attempt
    if shape.launcher_only:
        begun = done(status, Role.LAUNCHER) + observed.active(Role.LAUNCHER, attempt)
        return Phase.TRAINING if begun else Phase.PENDING
    has_parts = status.is_latched or not shape.makes_parts
    if has_parts and done(status, Role.WORKER) + observed.ready(Role.WORKER, attempt) >= shape.workers:
        return Phase.TRAINING
    if status.is_latched and any(pod.attempt == attempt for pod in observed.pods_of(Role.WORKER)):
        return Phase.DISPATCHING
    if not shape.makes_parts:
        return Phase.PENDING
    if status.is_latched:
        return Phase.PARTITIONED
    return Phase.PARTITIONING if _partitioning(observed, shape, attempt) else Phase.PENDING


def _path(status: DGLJobStatus, shape: Shape) -> tuple[Phase, ...]:
    """The phases that the present attempt goes through; Restarting stands where Pending does."""
    if shape.launcher_only:
        return _LAUNCHER
    made_before = (
        status.is_latched
        and status.partition is not None
        and status.partition.attempt is not None
        and status.partition.attempt < status.attempt
    )
    return _FULL if shape.makes_parts and not made_before else _ON_PARTS


def done(status: DGLJobStatus, role: Role) -> int:
    """How many replicas of a role have finished their work."""
    counts = status.replica_statuses.get(role)
    return counts.succeeded if counts else 0


def _partitioning(observed: Observed, shape: Shape, attempt: int) -> bool:
    if shape.assembles:
        return is_assembling(observed, attempt)
    pod = maker_pod(observed, shape)
    maker = making(pod, shape) if pod else None
    if pod is None or maker is None or pod.is_terminating or pod.attempt != attempt:
        return False
    return bool(maker.state.running or maker.state.terminated)
