# SPDX-License-Identifier: Apache-2.0
"""One step of a job's own status: partition, dispatch, conditions, phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.kind import StatusExtra
from dglop.dgljob.enums import Role
from dglop.dgljob.partition import advance, fetched
from dglop.dgljob.phases import done, next_phase
from dglop.dgljob.reasons import Reason
from dglop.dgljob.result import show_done, take_result
from dglop.dgljob.shape import Shape
from dglop.dgljob.status import DispatchStatus

if TYPE_CHECKING:
    from datetime import datetime

    from dglop.common.observed import Observed
    from dglop.dgljob.api import DGLJob
    from dglop.dgljob.status import DGLJobStatus

__all__ = ("progress",)


def progress(job: DGLJob, observed: Observed, now: datetime) -> StatusExtra:
    """Brings the status up to what is seen, in place.

    `lagging` says that the phase moved: what follows from it is decided once it is written.
    """
    shape, status = Shape.of(job), job.status
    events = advance(status, observed, shape, now)
    if not shape.launcher_only:
        _dispatch(status, observed, shape)
        _conditions(status, observed, shape, now)
        take_result(status, observed, now)
    if status.is_true("Succeeded"):
        show_done(status, now)
    before = status.phase
    status.phase = next_phase(status, observed, shape)
    status.phase_attempt = status.attempt
    return StatusExtra(events=tuple(events), lagging=status.phase is not before)


def _dispatch(status: DGLJobStatus, observed: Observed, shape: Shape) -> None:
    if status.completion_time is not None:
        return
    have: set[int] = set()
    if status.is_latched or not shape.partitions:  # before that worker-0 may run, but to partition
        maker = status.partition.partitioner_uid if status.partition else None
        have = {
            pod.index
            for pod in observed.pods_of(Role.WORKER)
            if pod.attempt == status.attempt and pod.uid != maker and fetched(pod)
        }
    status.dispatch = DispatchStatus(ready=min(len(have), shape.workers), total=shape.workers)


def _conditions(status: DGLJobStatus, observed: Observed, shape: Shape, now: datetime) -> None:
    """The kind's own conditions; each appears once it is true, and is never taken away again."""
    if status.completion_time is not None:
        if status.is_true(Reason.WORKERS_READY):
            over = "the job is over"
            status.set(Reason.WORKERS_READY, False, reason=Reason.JOB_FINISHED, message=over, now=now)
        return
    count = shape.workers
    have = status.dispatch.ready if status.dispatch else 0
    ready = min(count, observed.ready(Role.WORKER, status.attempt) + done(status, Role.WORKER))
    for reason, opposite, holds, message in (
        (
            Reason.PARTITIONED,
            Reason.NOT_PARTITIONED,
            _has_parts(status, shape),
            _parts_message(status, shape),
        ),
        (Reason.DISPATCHED, Reason.NOT_DISPATCHED, have >= count, f"{have}/{count} Workers have their part"),
        (
            Reason.WORKERS_READY,
            Reason.WORKERS_NOT_READY,
            ready >= count,
            f"{ready}/{count} Workers are ready",
        ),
    ):
        if holds or status.get(reason) is not None:
            status.set(reason, holds, reason=reason if holds else opposite, message=message, now=now)


def _has_parts(status: DGLJobStatus, shape: Shape) -> bool:
    return shape.makes_parts and status.is_latched


def _parts_message(status: DGLJobStatus, shape: Shape) -> str:
    said = status.partition.message if status.partition else None
    if not _has_parts(status, shape):
        return said or "the parts are being made"
    return f"{shape.parts} parts are ready" + (f": {said}" if said else "")
