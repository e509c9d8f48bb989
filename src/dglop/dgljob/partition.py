# SPDX-License-Identifier: Apache-2.0
"""The partition of a job: latched once made, lost with the pod that serves it, made again when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.actions import JobEvent
from dglop.common.counting import parse_ranges
from dglop.common.kind import Gate
from dglop.dgljob.assembly import watch_assembly
from dglop.dgljob.enums import PartitionState, Role
from dglop.dgljob.latch import begin, latch, new_attempt, partition_of, read_said, unlatch
from dglop.dgljob.placement import hand_over, maker_pod, making
from dglop.dgljob.pods.names import ASSEMBLE, FETCH, SERVE
from dglop.dgljob.reasons import Reason
from dglop.dgljob.status import NONE_YET, DGLJobStatus, PartitionStatus

if TYPE_CHECKING:
    from datetime import datetime

    from dglop.common.observed import Observed
    from dglop.common.views import PodView
    from dglop.dgljob.shape import Shape

__all__ = ("advance", "gate", "is_exempt", "must_fetch", "must_wait")


def gate(partition: PartitionStatus | None, pod: PodView | None) -> Gate:
    """Whether a Partitioner may be made: until the parts are there, and never beside one that is lost."""
    if partition is None:
        return Gate.OPEN
    if partition.is_latched:
        return Gate.HOLD
    return Gate.CLOSED if _is_lost_one(partition, pod) else Gate.OPEN


def must_wait(status: DGLJobStatus, observed: Observed, shape: Shape) -> bool:
    """Whether no Worker may be made, as the parts are lost: it would begin with those that are gone.

    Once a Worker of this attempt was there the answer is no: then a new attempt follows anyway, and the
    loss of a Worker must still be seen as a failure.
    """
    if not shape.serves or status.partition is None or _is_alive(status, observed):
        return False
    before = status.replica_statuses.get(Role.WORKER)
    begun = bool(before and before.created_indexes) or _has_workers(status, observed)
    return not begun and must_fetch(status, observed, shape)


def is_exempt(partition: PartitionStatus | None, pod: PodView | None) -> bool:
    """Whether a Partitioner's loss counts nowhere: once its parts were there, until a new one is made."""
    if partition is None or not partition.partitioner_uid:
        return False
    return partition.is_latched or pod is None or _is_lost_one(partition, pod)


def advance(status: DGLJobStatus, observed: Observed, shape: Shape, now: datetime) -> list[JobEvent]:
    """Brings `status.partition` up to what is seen, in place; what people should know is returned."""
    if status.partition is None:
        status.partition = PartitionStatus(mode=shape.mode, total=shape.parts)
        if not shape.makes_parts:
            status.partition.state = PartitionState.SKIPPED
    partition = status.partition
    if not shape.makes_parts or status.completion_time is not None:
        return _note_failure(status, shape)
    _give_up_old(status, shape)
    if status.is_true("Suspended"):
        return _suspended(status, shape)
    if partition.total != shape.parts:
        return _resized(status, observed, shape, now)
    if shape.assembles:
        return watch_assembly(status, observed, shape, now)
    if partition.is_latched:
        return _check_lost(status, observed, shape, now)
    pod = maker_pod(observed, shape)
    if pod is None or _is_lost_one(partition, pod):
        return []
    return _watch(status, pod, shape, now)


def must_fetch(status: DGLJobStatus, observed: Observed, shape: Shape) -> bool:
    """Whether a Worker of the present attempt is still without its part."""
    before = status.replica_statuses.get(Role.WORKER)
    done = parse_ranges(before.completed_indexes, shape.workers) if before else set()
    have = {
        pod.index for pod in observed.pods_of(Role.WORKER) if pod.attempt == status.attempt and fetched(pod)
    }
    return not set(range(shape.workers)) <= done | have


def fetched(pod: PodView) -> bool:
    """Whether the Worker has its part: fetched or made, or its main container has started, which is later."""
    for name in (FETCH, ASSEMBLE):
        init = pod.container(name)
        if init and init.state.terminated and init.state.terminated.exit_code == 0:
            return True
    main = pod.main
    return main is not None and (main.state.running is not None or main.state.terminated is not None)


def _is_lost_one(partition: PartitionStatus, pod: PodView | None) -> bool:
    return not partition.is_latched and pod is not None and pod.uid == partition.partitioner_uid


def _watch(status: DGLJobStatus, pod: PodView, shape: Shape, now: datetime) -> list[JobEvent]:
    """A pod is there that partitions, and its parts are not latched yet."""
    partition = partition_of(status)
    if pod.attempt != status.attempt:
        return []  # it is about to be deleted: what it says of its parts is worth nothing
    if pod.uid != partition.partitioner_uid:
        partition.partitioner_uid = None  # the loss of the old one is made good; this one's would count
    maker = making(pod, shape)
    if maker is None or not (maker.state.running or maker.state.terminated):
        return []
    since = maker.state.running.started_at if maker.state.running else now
    begin(status, shape, pod.attempt, since or now)
    ended = maker.state.terminated
    if ended is None or ended.exit_code != 0:
        return []
    if shape.serves:
        server = pod.container(SERVE)
        if pod.phase in ("Failed", "Succeeded"):
            # The parts were made, but nobody serves them any more: this one counts as lost.
            partition.partitioner_uid = pod.uid
            status.disruption_count += 1
            return _lose(status)
        if pod.is_terminating or server is None or not server.ready:
            return []
    events = latch(status, shape, read_said(ended.message), ended.finished_at or now, uid=pod.uid)
    hand_over(status, shape)
    return events


def _check_lost(status: DGLJobStatus, observed: Observed, shape: Shape, now: datetime) -> list[JobEvent]:
    """Latched parts on an emptyDir go with their pod; that matters only while somebody must fetch.

    It is a disruption then. Only where an attempt began after the parts were made, and has no Worker yet,
    may the loss be one of while Workers trained, which counts nowhere.
    """
    if not shape.serves or observed.unsettled:
        return []  # the loss of a Worker, too, is judged only when all is settled, and is judged first
    if _is_alive(status, observed) or not must_fetch(status, observed, shape):
        return []
    begun = _has_workers(status, observed)
    if begun or partition_of(status).attempt == status.attempt:
        status.disruption_count += 1
    if begun:
        new_attempt(status, now)
    return _lose(status)


def _is_alive(status: DGLJobStatus, observed: Observed) -> bool:
    pod = observed.pod(Role.PARTITIONER)
    return (
        pod is not None
        and pod.uid == partition_of(status).partitioner_uid
        and not pod.is_terminating
        and pod.phase not in ("Failed", "Succeeded")
    )


def _has_workers(status: DGLJobStatus, observed: Observed) -> bool:
    return any(each.attempt == status.attempt for each in observed.pods_of(Role.WORKER))


def _give_up_old(status: DGLJobStatus, shape: Shape) -> None:
    """Parts of an earlier attempt are not those of this one, where each makes its own."""
    partition = partition_of(status)
    if partition.is_latched and not shape.keeps_parts and (partition.attempt or 0) < status.attempt:
        unlatch(status, f"attempt {status.attempt} makes its own parts")
        partition.partitioner_uid = None


def _suspended(status: DGLJobStatus, shape: Shape) -> list[JobEvent]:
    partition = partition_of(status)
    if not shape.serves:
        return []
    latched = partition.is_latched
    events = _lose(status) if latched else []
    partition.partitioner_uid = None
    partition.state = PartitionState.PENDING
    partition.ready = NONE_YET
    return events


def _resized(status: DGLJobStatus, observed: Observed, shape: Shape, now: datetime) -> list[JobEvent]:
    """While suspended the job was given another number of Workers: the parts fit no more.

    Where the suspension was over before it was seen, the pods of before are still there: they begin anew.
    """
    partition = partition_of(status)
    if observed.unsettled or any(each.attempt >= status.attempt for each in observed.pods):
        new_attempt(status, now)
    events = _lose(status) if partition.is_latched else []
    partition.partitioner_uid = None
    partition.total = shape.parts
    partition.message = f"{shape.parts} parts are to be made"
    return events


def _lose(status: DGLJobStatus) -> list[JobEvent]:
    unlatch(status, "the parts went with the pod that served them")
    note = "The parts went with the Partitioner and are made again when needed"
    return [JobEvent(Reason.PARTS_LOST, note, "Warning")]


def _note_failure(status: DGLJobStatus, shape: Shape) -> list[JobEvent]:
    partition, failure = partition_of(status), status.last_failure
    running = partition.state in (PartitionState.PENDING, PartitionState.RUNNING)
    if status.is_true("Failed") and failure and failure.replica_type == shape.maker and running:
        partition.state = PartitionState.FAILED
        partition.message = failure.message[:1024] or None
    return []
