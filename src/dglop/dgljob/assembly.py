# SPDX-License-Identifier: Apache-2.0
"""Parts that the Workers make themselves: latched once all have made theirs and say the same of the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.actions import JobEvent
from dglop.common.conditions import Conditions
from dglop.common.counting import parse_ranges
from dglop.common.reasons import Reason as CommonReason
from dglop.common.reasons import kind_reason
from dglop.common.types import LastFailure
from dglop.dgljob.api import DGLJob
from dglop.dgljob.enums import Role
from dglop.dgljob.latch import Said, begin, latch, new_attempt, partition_of, read_said
from dglop.dgljob.pods.names import ASSEMBLE

if TYPE_CHECKING:
    from datetime import datetime

    from dglop.common.observed import Observed
    from dglop.common.views import PodView, Terminated
    from dglop.dgljob.shape import Shape
    from dglop.dgljob.status import DGLJobStatus

__all__ = ("is_assembling", "watch_assembly")

_KIND = DGLJob.resource.kind


def is_assembling(observed: Observed, attempt: int) -> bool:
    """Whether a Worker of the attempt makes its part, or has."""
    return any(_begun(pod) is not None for pod in observed.pods_of(Role.WORKER) if pod.attempt == attempt)


def watch_assembly(status: DGLJobStatus, observed: Observed, shape: Shape, now: datetime) -> list[JobEvent]:
    """Brings `status.partition` up to what the Workers of this attempt say, in place.

    Parts on a volume of all are latched over attempts: they stay so while they are looked through again,
    and only a new hash replaces the old one.
    """
    pods = [pod for pod in observed.pods_of(Role.WORKER) if _counts(pod, status, shape)]
    times = [since for pod in pods if (since := _begun(pod))]
    if not times:
        return []
    if not status.is_latched:
        begin(status, shape, status.attempt, min(times))
    ends = {pod.index: end for pod in pods if (end := _end(pod)) is not None}
    before = status.replica_statuses.get(Role.WORKER)
    done = parse_ranges(before.completed_indexes, shape.workers) if before else set()
    if not set(range(shape.workers)) <= ends.keys() | done:
        return []
    said = {index: read_said(end.message) for index, end in ends.items()}
    other = _other(said)
    if other is not None:
        return [] if observed.unsettled else _disagree(status, pods, said, other, now)
    return _agree(status, shape, said, max(end.finished_at or now for end in ends.values()))


def _counts(pod: PodView, status: DGLJobStatus, shape: Shape) -> bool:
    return pod.attempt == status.attempt and 0 <= pod.index < shape.workers and not pod.is_terminating


def _begun(pod: PodView) -> datetime | None:
    found = pod.container(ASSEMBLE)
    if found is None:
        return None
    ran = found.state.running or found.state.terminated
    return ran.started_at or pod.metadata.creation_timestamp if ran else None


def _end(pod: PodView) -> Terminated | None:
    """How the container ended well; None for any other."""
    found = pod.container(ASSEMBLE)
    ended = found.state.terminated if found else None
    return ended if ended is not None and ended.exit_code == 0 else None


def _other(said: dict[int, Said]) -> int | None:
    """A Worker whose parts are of another partitioning than those of the first one that says so."""
    hashes = {index: each.manifest for index, each in sorted(said.items()) if each.manifest}
    first = next(iter(hashes.values()), None)
    return next((index for index, found in hashes.items() if found != first), None)


def _agree(status: DGLJobStatus, shape: Shape, said: dict[int, Said], finished: datetime) -> list[JobEvent]:
    partition = partition_of(status)
    told = next((each for _, each in sorted(said.items()) if each.manifest), Said())
    if status.is_latched and told.manifest in (None, partition.manifest_hash):
        return []
    partition.attempt = status.attempt
    return latch(status, shape, told, finished, uid=None)


def _disagree(
    status: DGLJobStatus, pods: list[PodView], said: dict[int, Said], other: int, now: datetime
) -> list[JobEvent]:
    """The Workers would refuse each other when they meet; the attempt is over at once, as one that failed."""
    pod = next(each for each in pods if each.index == other)
    first = next(each.manifest for _, each in sorted(said.items()) if each.manifest)
    message = (
        f"{pod.name}: assemble made parts with manifest {said[other].manifest}, other Workers made {first}: "
        "parts of two partitionings are never mixed"
    )
    status.last_failure = LastFailure(
        pod_name=pod.name,
        replica_type=Role.WORKER,
        index=other,
        process="assemble",
        reason="PartsChanged",
        message=message[:1024],
        time=now,
    )
    new_attempt(status, now)
    status.restarts += 1
    status.restart_count = status.restarts
    Conditions(_KIND, status, now).restarting(CommonReason.RESTARTING, message)
    return [JobEvent(kind_reason(_KIND, CommonReason.RESTARTING), message[:1024], "Warning")]
