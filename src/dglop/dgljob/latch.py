# SPDX-License-Identifier: Apache-2.0
"""The parts as status.partition shows them: being made, latched once made, and given up."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dglop.common.actions import JobEvent
from dglop.dgljob.enums import PartitionState, Role
from dglop.dgljob.reasons import Reason
from dglop.dgljob.status import NONE_YET, DGLJobStatus, PartitionStatus

if TYPE_CHECKING:
    from datetime import datetime

    from dglop.dgljob.shape import Shape

__all__ = ("Said", "begin", "fits", "latch", "new_attempt", "partition_of", "read_said", "unlatch")


@dataclass(frozen=True, slots=True)
class Said:
    """What whoever made the parts said of them in its termination message; None for what it did not."""

    manifest: str | None = None
    bytes: int | None = None
    reused: bool = False
    sentence: str | None = None


def partition_of(status: DGLJobStatus) -> PartitionStatus:
    if status.partition is None:
        raise ValueError("status.partition is set before anything is read from it")
    return status.partition


def fits(partition: PartitionStatus | None, shape: Shape) -> bool:
    """Whether the parts are there, one for each Worker; a suspended job may be given more of these."""
    return partition is not None and partition.is_latched and partition.total == shape.parts


def begin(status: DGLJobStatus, shape: Shape, attempt: int, since: datetime) -> None:
    """The parts are being made; said once an attempt."""
    partition = partition_of(status)
    if partition.state is PartitionState.RUNNING and partition.attempt == attempt:
        return
    partition.state = PartitionState.RUNNING
    partition.ready = f"0/{shape.parts}"
    partition.attempt = attempt
    partition.start_time = since.replace(microsecond=0)
    partition.completion_time = None
    partition.message = None


def latch(
    status: DGLJobStatus, shape: Shape, said: Said, finished: datetime, *, uid: str | None
) -> list[JobEvent]:
    """The parts are there, whatever becomes of the pod (`uid`) that made them."""
    partition = partition_of(status)
    partition.state = PartitionState.REUSED if said.reused else PartitionState.SUCCEEDED
    partition.ready = f"{shape.parts}/{shape.parts}"
    partition.bytes = said.bytes
    partition.manifest_hash = said.manifest
    partition.partitioner_uid = uid
    partition.completion_time = finished.replace(microsecond=0)
    partition.message = said.sentence
    note = f"{shape.parts} parts are ready" + (f": {partition.message}" if partition.message else "")
    return [JobEvent(Reason.PARTITIONED, note)]


def unlatch(status: DGLJobStatus, why: str) -> None:
    """The parts are there no more, or are not to be used."""
    partition = partition_of(status)
    partition.state = PartitionState.PENDING
    partition.ready = NONE_YET
    partition.manifest_hash = None
    partition.bytes = None
    partition.completion_time = None
    partition.message = why
    if Role.PARTITIONER in status.replica_statuses:
        status.replica_statuses[Role.PARTITIONER].created_indexes = ""
        status.replica_statuses[Role.PARTITIONER].completed_indexes = ""


def new_attempt(status: DGLJobStatus, now: datetime) -> None:
    """Parts of two partitionings never mix: whoever began with the old ones begins anew, no restart."""
    status.restarts = status.restart_count  # the kubelet's go with the pods
    status.attempt += 1
    status.attempt_start_time = now
    for role in (Role.WORKER, Role.LAUNCHER):
        if role in status.replica_statuses:
            status.replica_statuses[role].created_indexes = ""
            status.replica_statuses[role].completed_indexes = ""


def read_said(message: str) -> Said:
    """The termination message taken apart; a program of the user's may have written anything."""
    try:
        found = json.loads(message)
    except ValueError:
        return Said()
    if not isinstance(found, dict):
        return Said()
    return Said(
        manifest=str(found["manifest"]) if found.get("manifest") else None,
        bytes=_number(found.get("bytes")),
        reused=found.get("reused") is True,
        sentence=_sentence(found),
    )


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
