# SPDX-License-Identifier: Apache-2.0
"""When a status that tells of no other state is written: a gang's pods change one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dglop.common.unwritten import Unwritten

if TYPE_CHECKING:
    from dglop.common.types import JobStatus

__all__ = ("StatusPace",)

_EACH_SECONDS: Final = 1.0
_TOGETHER_PER_SECOND: Final = 10.0


class StatusPace:
    """
    Paces the writes of statuses that tell of no other state: conditions, phase, attempt are the same.

    Counts are written at most once a second for a job, and about ten times a second for all jobs together.
    Which replicas are done, and which pods were seen, is written within a second: what comes in that second
    goes along, and most jobs end in it.
    A write of the status costs the API server as much as one of a pod, and hundreds of jobs that start at
    once would have it write little else. What rests on a pod that may go is recalled until it is written, by
    `recall`: only a process that dies within that second, as its pod goes too, does not know of it. All times
    are seconds of one monotonic clock.
    """

    def __init__(self) -> None:
        self._written: dict[str, float] = {}
        self._due: dict[str, float] = {}
        self._unwritten = Unwritten()

    def recall(self, uid: str, status: JobStatus) -> JobStatus:
        """The job's *status* as the next decision needs it: with what was held back of it."""
        return self._unwritten.added_to(uid, status)

    def wait(self, uid: str, before: JobStatus, after: JobStatus, now: float) -> float:
        """How many seconds the job's status must wait to be written; 0 where it need not, or is the same."""
        if before == after:
            self._forget_turn(uid)
            return 0
        if before.without_progress() != after.without_progress():
            return 0
        due = self._due.get(uid)
        if before.without_counts() != after.without_counts():
            self._unwritten.keep(uid, after)
            soon = now + _EACH_SECONDS
            due = soon if due is None else min(due, soon)
        elif due is None:
            last = self._written.get(uid, now - _EACH_SECONDS)
            due = max(last + _EACH_SECONDS, now + len(self._due) / _TOGETHER_PER_SECOND)
        self._due[uid] = due
        return max(0.0, due - now)

    def wrote(self, uid: str, now: float) -> None:
        """Note that the status was written, for whatever reason."""
        self._forget_turn(uid)
        self._written[uid] = now

    def forget(self, uid: str) -> None:
        """The job is gone."""
        self._forget_turn(uid)
        self._written.pop(uid, None)

    def _forget_turn(self, uid: str) -> None:
        self._due.pop(uid, None)
        self._unwritten.forget(uid)
