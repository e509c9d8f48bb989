# SPDX-License-Identifier: Apache-2.0
"""Why each write of a job's status was made: what it says that the one before did not."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

__all__ = ("COUNTS", "DONE", "SEEN", "UNCHANGED", "StatusWrites", "why")

SEEN = "pods seen"
DONE = "pods done"
COUNTS = "counts alone"
UNCHANGED = "nothing"

_INDEXES = {"createdIndexes": SEEN, "completedIndexes": DONE}
_COUNTS = frozenset({"active", "succeeded", "failed", "pending", "terminating", "ready"})
_LOOKED_INTO = frozenset({"conditions", "replicaStatuses"})
"""Fields whose parts are looked at one by one."""


def why(before: dict[str, Any], after: dict[str, Any]) -> str:
    """
    What a write of a status is for, in a few words: the phase where it is another, else new conditions.

    Where none is: the names of other fields, which pods were seen or are done, conditions that say the same
    in other words, the counts alone, or nothing.
    """
    if before.get("phase") != after.get("phase"):
        return f"phase {after.get('phase')}"
    if conditions := sorted(_new_conditions(before, after)):
        return f"conditions {', '.join(conditions)}"
    if others := sorted(_changed(_uncounted(before), _uncounted(after)) - _LOOKED_INTO):
        return f"fields {', '.join(others)}"
    fields = set[str]()
    for role, counts in after.get("replicaStatuses", {}).items():
        fields |= _changed(before.get("replicaStatuses", {}).get(role, {}), counts)
    if known := [word for field, word in _INDEXES.items() if field in fields]:
        return ", ".join(known)
    if reworded := sorted(_reworded(before, after)):
        return f"words of {', '.join(reworded)}"
    if fields & _COUNTS or before.get("dispatch") != after.get("dispatch"):
        return COUNTS
    return f"fields {', '.join(sorted(fields))}" if fields else UNCHANGED


def _uncounted(status: dict[str, Any]) -> dict[str, Any]:
    """The status without how many pods have their parts: that is a count as well."""
    dispatch = status.get("dispatch")
    return {**status, "dispatch": {**dispatch, "ready": 0}} if dispatch else status


def _changed(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def _new_conditions(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    return {
        each["type"] if each["status"] == "True" else f"not {each['type']}"
        for each in after.get("conditions", [])
        if each["status"] != "Unknown" and _said(each) not in map(_said, before.get("conditions", []))
    }


def _reworded(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """The conditions that differ, though not in what `_new_conditions` looks at."""
    were = {each["type"]: each for each in before.get("conditions", [])}
    return {each["type"] for each in after.get("conditions", []) if each != were.get(each["type"])}


def _said(condition: dict[str, Any]) -> tuple[str, str, str]:
    return condition["type"], condition["status"], condition.get("reason", "")


class StatusWrites:
    """
    Fed with the lines of a watch on jobs: every write of a status, with the reason for it.

    Attributes
    ----------
        reasons: how often a status was written, for what.
        most: the most that one job was written for one reason.
        missed: how often the watch began anew and may have missed writes; 0 where all were seen.
    """

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.missed: int = 0
        self._last: dict[str, tuple[str, dict[str, Any]]] = {}
        self._of_job: Counter[tuple[str, str]] = Counter()

    def heard(self, line: bytes) -> None:
        """Take one line of the watch."""
        event = json.loads(line)
        if event["type"] not in ("ADDED", "MODIFIED"):
            return
        self.saw(event["object"], is_new=event["type"] == "ADDED")

    def saw(self, job: dict[str, Any], *, is_new: bool) -> None:
        """Take one state of a job; `is_new` where it is no change of the one before."""
        metadata, status = job["metadata"], job.get("status", {})
        uid, version = metadata["uid"], metadata["resourceVersion"]
        known, before = self._last.get(uid, ("", {}))
        self._last[uid] = (version, status)
        if version == known or (is_new and not known and not status):
            return
        if is_new:
            self.missed += 1
        reason = why(before, status)
        self.reasons[reason] += 1
        self._of_job[uid, reason] += 1
        self.most[reason] = max(self.most[reason], self._of_job[uid, reason])
