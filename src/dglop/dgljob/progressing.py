# SPDX-License-Identifier: Apache-2.0
"""One step of a job's own status: partition, dispatch, conditions, phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.actions import JobEvent
from dglop.common.kind import StatusExtra
from dglop.dgljob.enums import Phase, Role
from dglop.dgljob.partition import advance, fetched
from dglop.dgljob.phases import next_phase
from dglop.dgljob.reasons import Reason
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
    before = status.phase
    status.phase = next_phase(status, observed, shape)
    status.phase_attempt = status.attempt
    moved = status.phase is not before
    if moved and status.phase is Phase.TRAINING and not shape.launcher_only:
        events.append(JobEvent(Reason.WORKERS_READY, f"All {shape.workers} Workers are ready"))
    return StatusExtra(events=tuple(events), lagging=moved)


def _dispatch(status: DGLJobStatus, observed: Observed, shape: Shape) -> None:
    if status.completion_time is not None:
        return
    have = {
        pod.index for pod in observed.pods_of(Role.WORKER) if pod.attempt == status.attempt and fetched(pod)
    }
    status.dispatch = DispatchStatus(ready=min(len(have), shape.workers), total=shape.workers)


def _conditions(status: DGLJobStatus, observed: Observed, shape: Shape, now: datetime) -> None:
    """The kind's own conditions; each appears once it is true, and is never taken away again."""
    if status.completion_time is not None:
        if status.is_true(Reason.WORKERS_READY):
            status.set(Reason.WORKERS_READY, False, reason="JobFinished", now=now)
        return
    dispatched = status.dispatch is not None and 0 < status.dispatch.total <= status.dispatch.ready
    ready = observed.ready(Role.WORKER, status.attempt) >= shape.workers
    partitioned = shape.partitions and status.is_latched
    for reason, holds in (
        (Reason.PARTITIONED, partitioned),
        (Reason.DISPATCHED, dispatched),
        (Reason.WORKERS_READY, ready),
    ):
        if holds or status.get(reason) is not None:
            status.set(reason, holds, reason=reason if holds else f"Not{reason}", now=now)
