# SPDX-License-Identifier: Apache-2.0
"""Sees every write to the API server, and takes down which of them must not be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.common.constants import LABEL_REPLICA_INDEX
from dglop.common.counting import parse_ranges

if TYPE_CHECKING:
    from dglop.testing.memory import MemoryServer

__all__ = ("Watchman",)

_COUNTS = ("attempt", "restarts", "restartCount", "disruptionCount")
_MANY = 1000


class Watchman:
    """
    The invariants of one job, looked at in each version that the API server stores.

    Attributes
    ----------
        foreign: pods that are not the job's; whoever changes one as its owner says so first.
        foreign_services: Services that are not; likewise.
        broken: what was seen that must never be.
        blows: the pods of the job that failed, or that somebody else deleted, who says so first.
    """

    def __init__(self, server: MemoryServer, limit: int) -> None:
        self.foreign: set[str] = set()
        self.broken: list[str] = []
        self.blows: set[str] = set()
        self.foreign_services: set[str] = set()
        self._again: dict[str, int] = {}
        self._limit = limit
        self._store = server.store
        self._uid = ""
        self._status: dict[str, Any] = {}
        self._is_gang = False
        server.store.subscribe(self._heard)

    def _heard(self, storage: str, change: Any) -> None:
        name = change.key[1]
        if storage == "pods" and change.old is not None and name in self.foreign:
            self._say(f"pod {name} of another owner was written to")
        elif storage == "pods" and change.old is None:
            self._created(change.new.wire)
        elif storage == "pods" and change.new is not None:
            self._changed(change.new.wire)
        elif storage == "services" and change.old is not None and name in self.foreign_services:
            self._say(f"Service {name} of another owner was written to")
        elif storage == "testjobs.example.dev" and change.new is not None:
            self._written(change.new.wire)

    def _say(self, what: str) -> None:
        self.broken.append(f"{what} (version {self._store.version})")

    def _changed(self, pod: dict[str, Any]) -> None:
        uid = pod["metadata"]["uid"]
        if pod["status"].get("phase") == "Failed":
            self.blows.add(uid)
        listed = pod["status"].get("containerStatuses") or []
        count = sum(each["restartCount"] for each in listed)
        self._again[uid] = max(self._again.get(uid, 0), count)

    def _created(self, pod: dict[str, Any]) -> None:
        metadata = pod["metadata"]
        if metadata["ownerReferences"][0]["uid"] != self._uid:
            return
        index = int(metadata["labels"][LABEL_REPLICA_INDEX])
        if _ended(self._status):
            self._say(f"{metadata['name']} was made after the job's end")
        if index in _completed(self._status) and not self._is_gang:
            self._say(f"{metadata['name']} was made though its work is done")
        live = [each for each in self._store.all("pods") if self._is_live(each.wire, index)]
        if len(live) > 1:
            self._say(f"index {index} has {len(live)} live pods")

    def _is_live(self, pod: dict[str, Any], index: int) -> bool:
        metadata = pod["metadata"]
        owner = (metadata.get("ownerReferences") or [{}])[0].get("uid")
        of_index = metadata.get("labels", {}).get(LABEL_REPLICA_INDEX) == str(index)
        return owner == self._uid and of_index and "deletionTimestamp" not in metadata

    def _written(self, job: dict[str, Any]) -> None:
        self._uid = job["metadata"]["uid"]
        self._is_gang = bool(job["spec"].get("gang"))
        before, now = self._status, job.get("status", {})
        for word in _COUNTS:
            if now.get(word, 0) < before.get(word, 0):
                self._say(f"{word} went back from {before[word]} to {now.get(word, 0)}")
        if now.get("restartCount", 0) > self._limit and not _ended(now):  # the kubelet's may come in leaps
            self._say(f"restartCount {now['restartCount']} is beyond the limit of {self._limit}")
        counted = now.get("restarts", 0) + now.get("disruptionCount", 0)
        were = len(self.blows) + sum(self._again.values())
        if counted > were:
            self._say(f"{counted} restarts and disruptions were counted of {were} that there were")
        if bool(_ended(now)) != ("completionTime" in now):
            self._say(f"completionTime is {now.get('completionTime')} where {_ended(now)}")
        gone = {each["type"] for each in before.get("conditions", [])} - set(_vector(now))
        if gone:
            self._say(f"conditions vanished: {gone}")
        if _ended(before) and (_vector(before), before["completionTime"]) != (
            _vector(now),
            now.get("completionTime"),
        ):
            self._say(f"a finished job's conditions changed to {_vector(now)}")
        if not self._is_gang and not _completed(before) <= _completed(now):
            self._say("an index that was done no longer is")
        self._status = now


def _vector(status: dict[str, Any]) -> dict[str, str]:
    return {each["type"]: each["status"] for each in status.get("conditions", [])}


def _ended(status: dict[str, Any]) -> set[str]:
    vector = _vector(status)
    return {each for each in ("Succeeded", "Failed") if vector.get(each) == "True"}


def _completed(status: dict[str, Any]) -> set[int]:
    counts = status.get("replicaStatuses", {}).get("worker", {})
    return parse_ranges(counts.get("completedIndexes", ""), _MANY)
