# SPDX-License-Identifier: Apache-2.0
"""The partition of a job: latched once made, lost with the pod that serves it, made again when needed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dglop.common.actions import JobEvent
from dglop.common.counting import parse_ranges
from dglop.common.kind import Gate
from dglop.dgljob.enums import DispatchMode, PartitionState, Role
from dglop.dgljob.exec.seen import is_dispatched
from dglop.dgljob.pods.names import FETCH, SERVE
from dglop.dgljob.reasons import Reason
from dglop.dgljob.status import NONE_YET, DGLJobStatus, PartitionStatus

if TYPE_CHECKING:
    from datetime import datetime

    from dglop.common.observed import Observed
    from dglop.common.views import PodView
    from dglop.dgljob.shape import Shape

__all__ = ("advance", "fits", "gate", "is_exempt", "must_fetch", "must_wait")


def gate(partition: PartitionStatus | None, pod: PodView | None) -> Gate:
    """Whether a Partitioner may be made: until the parts are there, and never beside one that is lost."""
    if partition is None:
        return Gate.OPEN
    if partition.is_latched:
        return Gate.HOLD
    return Gate.CLOSED if _is_lost_one(partition, pod) else Gate.OPEN


def fits(partition: PartitionStatus | None, shape: Shape) -> bool:
    """Whether the parts are there, one for each Worker; a suspended job may be given more of these."""
    return partition is not None and partition.is_latched and partition.total == shape.parts


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
        if not shape.partitions:
            status.partition.state = PartitionState.SKIPPED
    partition = status.partition
    if not shape.partitions or status.completion_time is not None:
        return _note_failure(status)
    pod = observed.pod(Role.PARTITIONER)
    if status.is_true("Suspended"):
        return _suspended(status, shape)
    if partition.total != shape.parts:
        return _resized(status, observed, shape, now)
    if partition.is_latched:
        return _check_lost(status, observed, shape, now)
    if pod is None or _is_lost_one(partition, pod):
        return []
    return _watch(status, pod, shape, now)


def must_fetch(status: DGLJobStatus, observed: Observed, shape: Shape) -> bool:
    """Whether a Worker of the present attempt is still without its part."""
    if shape.dispatch is DispatchMode.EXEC:
        return not is_dispatched(observed, status.attempt, shape)
    before = status.replica_statuses.get(Role.WORKER)
    done = parse_ranges(before.completed_indexes, shape.workers) if before else set()
    have = {
        pod.index for pod in observed.pods_of(Role.WORKER) if pod.attempt == status.attempt and fetched(pod)
    }
    return not set(range(shape.workers)) <= done | have


def fetched(pod: PodView) -> bool:
    """Whether the Worker has its part: fetched, or its main container has started, which is later."""
    init = pod.container(FETCH)
    if init and init.state.terminated and init.state.terminated.exit_code == 0:
        return True
    main = pod.main
    return main is not None and (main.state.running is not None or main.state.terminated is not None)


def _is_lost_one(partition: PartitionStatus, pod: PodView | None) -> bool:
    return not partition.is_latched and pod is not None and pod.uid == partition.partitioner_uid


def _watch(status: DGLJobStatus, pod: PodView, shape: Shape, now: datetime) -> list[JobEvent]:
    """A Partitioner is there whose parts are not latched yet."""
    partition = _of(status)
    if pod.attempt != status.attempt:
        return []  # it is about to be deleted: what it says of its parts is worth nothing
    if pod.uid != partition.partitioner_uid:
        partition.partitioner_uid = None  # the loss of the old one is made good; this one's would count
    main = pod.main
    if main is None or not (main.state.running or main.state.terminated):
        return []
    if partition.state is not PartitionState.RUNNING or partition.attempt != pod.attempt:
        partition.state = PartitionState.RUNNING
        partition.ready = f"0/{shape.parts}"
        partition.attempt = pod.attempt
        partition.start_time = main.state.running.started_at if main.state.running else now
        partition.completion_time = None
        partition.message = None
    ended = pod.main_terminated
    if ended is None or ended.exit_code != 0:
        return []
    if shape.serves:
        server = pod.container(SERVE)
        if pod.phase in ("Failed", "Succeeded"):
            # The parts were made, but nobody serves them any more: this one counts as lost.
            partition.partitioner_uid = pod.uid
            status.disruption_count += 1
            return _unlatch(status)
        if pod.is_terminating or server is None or not server.ready:
            return []
    return _latch(status, pod, shape, ended.message, ended.finished_at or now)


def _latch(
    status: DGLJobStatus, pod: PodView, shape: Shape, message: str, finished: datetime
) -> list[JobEvent]:
    partition = _of(status)
    said = _said(message)
    reused = said.get("reused") is True
    partition.state = PartitionState.REUSED if reused else PartitionState.SUCCEEDED
    partition.ready = f"{shape.parts}/{shape.parts}"
    partition.bytes = _number(said.get("bytes"))
    partition.manifest_hash = str(said["manifest"]) if said.get("manifest") else None
    partition.partitioner_uid = pod.uid
    partition.completion_time = finished.replace(microsecond=0)
    partition.message = _sentence(said)
    note = f"{shape.parts} parts are ready" + (f": {partition.message}" if partition.message else "")
    return [JobEvent(Reason.PARTITIONED, note)]


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
    if begun or _of(status).attempt == status.attempt:
        status.disruption_count += 1
    if begun:
        _new_attempt(status, now)
    return _unlatch(status)


def _is_alive(status: DGLJobStatus, observed: Observed) -> bool:
    pod = observed.pod(Role.PARTITIONER)
    return (
        pod is not None
        and pod.uid == _of(status).partitioner_uid
        and not pod.is_terminating
        and pod.phase not in ("Failed", "Succeeded")
    )


def _has_workers(status: DGLJobStatus, observed: Observed) -> bool:
    return any(each.attempt == status.attempt for each in observed.pods_of(Role.WORKER))


def _new_attempt(status: DGLJobStatus, now: datetime) -> None:
    """Parts of two partitionings never mix: whoever began with the old ones begins anew, no restart."""
    status.restarts = status.restart_count  # the kubelet's go with the pods
    status.attempt += 1
    status.attempt_start_time = now
    for role in (Role.WORKER, Role.LAUNCHER):
        if role in status.replica_statuses:
            status.replica_statuses[role].created_indexes = ""
            status.replica_statuses[role].completed_indexes = ""


def _suspended(status: DGLJobStatus, shape: Shape) -> list[JobEvent]:
    partition = _of(status)
    if not shape.serves:
        return []
    latched = partition.is_latched
    events = _unlatch(status) if latched else []
    partition.partitioner_uid = None
    partition.state = PartitionState.PENDING
    partition.ready = NONE_YET
    return events


def _resized(status: DGLJobStatus, observed: Observed, shape: Shape, now: datetime) -> list[JobEvent]:
    """While suspended the job was given another number of Workers: the parts fit no more.

    Where the suspension was over before it was seen, the pods of before are still there: they begin anew.
    """
    partition = _of(status)
    if observed.unsettled or any(each.attempt >= status.attempt for each in observed.pods):
        _new_attempt(status, now)
    events = _unlatch(status) if partition.is_latched else []
    partition.partitioner_uid = None
    partition.total = shape.parts
    partition.message = f"{shape.parts} parts are to be made"
    return events


def _unlatch(status: DGLJobStatus) -> list[JobEvent]:
    partition = _of(status)
    partition.state = PartitionState.PENDING
    partition.ready = NONE_YET
    partition.manifest_hash = None
    partition.bytes = None
    partition.completion_time = None
    partition.message = "the parts went with the pod that served them"
    if Role.PARTITIONER in status.replica_statuses:
        status.replica_statuses[Role.PARTITIONER].created_indexes = ""
        status.replica_statuses[Role.PARTITIONER].completed_indexes = ""
    return [
        JobEvent(
            Reason.PARTS_LOST, "The parts went with the Partitioner and are made again when needed", "Warning"
        )
    ]


def _note_failure(status: DGLJobStatus) -> list[JobEvent]:
    partition, failure = _of(status), status.last_failure
    running = partition.state in (PartitionState.PENDING, PartitionState.RUNNING)
    if status.is_true("Failed") and failure and failure.replica_type == Role.PARTITIONER and running:
        partition.state = PartitionState.FAILED
        partition.message = failure.message[:1024] or None
    return []


def _of(status: DGLJobStatus) -> PartitionStatus:
    if status.partition is None:
        raise ValueError("status.partition is set before anything is read from it")
    return status.partition


def _said(message: str) -> dict[str, Any]:
    try:
        found = json.loads(message)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _sentence(said: dict[str, Any]) -> str | None:
    nodes, edges, cut = (_number(said.get(key)) for key in ("nodes", "edges", "edgeCut"))
    words = []
    if nodes is not None:
        words.append(f"{nodes} nodes")
    if edges is not None:
        words.append(f"{edges} edges")
    if cut is not None and edges:
        words.append(f"edge cut {100 * cut / edges:.1f} %")
    return ", ".join(words) or None
