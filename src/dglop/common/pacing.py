# SPDX-License-Identifier: Apache-2.0
"""When a status that differs in counts alone is written: a gang's pods change one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dglop.common.types import JobStatus

__all__ = ("CountsPace",)

_EACH_SECONDS: Final = 1.0
_TOGETHER_PER_SECOND: Final = 10.0


class CountsPace:
    """
    Paces the writes of counts: a job's at most once a second, those of all jobs about ten a second together.

    A write of the status costs the API server as much as one of a pod, and hundreds of jobs that start at
    once would have it write little else. What a later decision rests on is never held back. All times are
    seconds of one monotonic clock; what is remembered may be lost at no more cost than a write too many.
    """

    def __init__(self) -> None:
        self._written: dict[str, float] = {}
        self._due: dict[str, float] = {}

    def wait(self, uid: str, before: JobStatus, after: JobStatus, now: float) -> float:
        """How many seconds the job's status must wait to be written; 0 where it need not, or is the same."""
        if before == after:
            self._due.pop(uid, None)
            return 0
        if before.without_counts() != after.without_counts():
            return 0
        due = self._due.get(uid)
        if due is None:
            last = self._written.get(uid, now - _EACH_SECONDS)
            due = max(last + _EACH_SECONDS, now + len(self._due) / _TOGETHER_PER_SECOND)
            self._due[uid] = due
        return max(0.0, due - now)

    def wrote(self, uid: str, now: float) -> None:
        """Note that the status was written, for whatever reason."""
        self._due.pop(uid, None)
        self._written[uid] = now

    def forget(self, uid: str) -> None:
        """The job is gone."""
        self._due.pop(uid, None)
        self._written.pop(uid, None)
