# SPDX-License-Identifier: Apache-2.0
"""What two watches tell about a load of jobs: when each had all its pods, and when it was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from hack.bench.errors import BenchError
from hack.bench.figures import middle
from hack.bench.workload import JOB_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ("Observer",)


class _Metadata(msgspec.Struct):
    name: str = ""
    labels: dict[str, str] = {}


class _Condition(msgspec.Struct):
    type: str
    status: str
    message: str = ""


class _Status(msgspec.Struct):
    phase: str = ""
    conditions: list[_Condition] = []


class _Object(msgspec.Struct):
    metadata: _Metadata
    status: _Status | str = ""  # an ERROR event carries a Status, whose own status is a word
    message: str = ""
    code: int = 0


class _Event(msgspec.Struct):
    type: str
    object: _Object


_LATE = frozenset({429, 504})
_DECODER = msgspec.json.Decoder(_Event)


class Observer:
    """
    Fed with the lines of a watch on pods and one on jobs; times are the caller's, in seconds.

    With no watch on jobs, a job is done when all its pods have succeeded.
    """

    def __init__(self, jobs: Iterable[str], pods_each: int, *, by_pods: bool = False) -> None:
        self._pods: dict[str, set[str]] = {job: set() for job in jobs}
        self._succeeded: dict[str, set[str]] = {job: set() for job in self._pods}
        self._pods_each = pods_each
        self._by_pods = by_pods
        self._sent: dict[str, float] = {}
        self._complete: dict[str, float] = {}
        self._done: dict[str, float] = {}

    def sent(self, job: str, now: float) -> None:
        """The first request for the job is about to be sent."""
        self._sent.setdefault(job, now)

    def pod_event(self, line: bytes, now: float) -> None:
        """Raises BenchError for the end of the watch in an error, and for a pod that failed."""
        found = _decode(line)
        if found is None:
            return
        name, job, status = found.metadata.name, found.metadata.labels.get(JOB_LABEL, ""), _status(found)
        if job not in self._pods:
            return
        self._pods[job].add(name)
        if len(self._pods[job]) == self._pods_each:
            self._complete.setdefault(job, now)
        if status.phase == "Failed":
            raise BenchError(f"pod {name} failed, though the fake node lets all succeed")
        if self._by_pods and status.phase == "Succeeded":
            self._succeeded[job].add(name)
            if len(self._succeeded[job]) == self._pods_each:
                self._done.setdefault(job, now)

    def job_event(self, line: bytes, now: float) -> None:
        """Raises BenchError for the end of the watch in an error, and for a job that failed."""
        found = _decode(line)
        if found is None or found.metadata.name not in self._pods:
            return
        for condition in _status(found).conditions:
            if condition.status != "True":
                continue
            if condition.type == "Failed":
                raise BenchError(f"job {found.metadata.name} failed: {condition.message}")
            if condition.type == "Succeeded":
                self._done.setdefault(found.metadata.name, now)

    @property
    def done(self) -> int:
        """How many jobs are done."""
        return len(self._done)

    @property
    def finished(self) -> bool:
        return len(self._done) == len(self._pods)

    @property
    def pods(self) -> int:
        """How many different pods were seen."""
        return sum(map(len, self._pods.values()))

    @property
    def wall(self) -> float:
        """Seconds from the first request to the last job's success."""
        return max(self._done.values()) - min(self._sent.values())

    @property
    def pods_all(self) -> float:
        """Seconds from the first request until the last job had all its pods."""
        return max(self._complete.values()) - min(self._sent.values())

    @property
    def pods_p50(self) -> float:
        """The median over the jobs of the seconds from its request until all its pods were there."""
        return middle(self._complete[job] - self._sent[job] for job in self._complete)


def _decode(line: bytes) -> _Object | None:
    event = _DECODER.decode(line)
    if event.type == "ERROR" and event.object.code in _LATE:
        return None  # a busy server's cache lags behind: whoever watches begins again with what is there then
    if event.type == "ERROR":
        raise BenchError(f"the API server ended a watch: {event.object.message}")
    return None if event.type in ("BOOKMARK", "DELETED") else event.object


def _status(found: _Object) -> _Status:
    return found.status if isinstance(found.status, _Status) else _Status()
