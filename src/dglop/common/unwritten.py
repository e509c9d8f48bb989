# SPDX-License-Identifier: Apache-2.0
"""What was seen of pods and is not in the job's status yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dglop.common.counting import format_ranges, parse_ranges

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.common.types import JobStatus, ReplicaStatus

__all__ = ("Unwritten",)

_MANY: Final = 1_000_000


class Unwritten:
    """
    Which replicas were done and which pods were seen when a job's status was held back.

    A pod may go before that is written; then nobody but this knows that its work is done, or that it was
    there. It holds for the attempt in which it was seen.
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, Mapping[str, ReplicaStatus]]] = {}

    def keep(self, uid: str, status: JobStatus) -> None:
        """Take down what *status*, which is not written now, says of the job's pods."""
        self._seen[uid] = status.attempt, status.replica_statuses

    def forget(self, uid: str) -> None:
        """It is written, or the job is gone."""
        self._seen.pop(uid, None)

    def added_to(self, uid: str, status: JobStatus) -> JobStatus:
        """*status* and what was kept of the job; the same object where there is nothing."""
        attempt, seen = self._seen.get(uid, (None, None))
        if seen is None or attempt != status.attempt:
            return status
        counts = {**seen, **status.replica_statuses}
        both = {role: _joined(each, seen.get(role, each)) for role, each in counts.items()}
        return status.model_copy(update={"replica_statuses": both})


def _joined(written: ReplicaStatus, seen: ReplicaStatus) -> ReplicaStatus:
    completed = _union(written.completed_indexes, seen.completed_indexes)
    created = _union(written.created_indexes, seen.created_indexes)
    return written.model_copy(update={"completed_indexes": completed, "created_indexes": created})


def _union(one: str, other: str) -> str:
    return one if one == other else format_ranges(parse_ranges(one, _MANY) | parse_ranges(other, _MANY))
