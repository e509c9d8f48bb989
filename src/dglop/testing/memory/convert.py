# SPDX-License-Identifier: Apache-2.0
"""Objects in another version than they were written in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.testing.memory.refusal import internal

if TYPE_CHECKING:
    from dglop.testing.memory.resources import ResourceInfo

__all__ = ("converted",)

# events.k8s.io's names and the core group's; one object is served as both.
_EVENT_NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "reportingController": "reportingComponent",
}
_CORE_NAMES = {core: name for name, core in _EVENT_NAMES.items()}


def converted(info: ResourceInfo, wire: dict[str, Any]) -> dict[str, Any]:
    """*wire* in *info*'s version: the very same dict where it is in it already.

    Custom resources change their apiVersion only, as with conversion strategy None. Raises RefusalError
    (500) where a webhook would be asked.
    """
    if wire.get("apiVersion") == info.api_version:
        return wire
    if info.needs_webhook:
        raise internal(
            f"{info.group_resource} is converted by a webhook, which the in-memory API server does not call: "
            "test it on a real one"
        )
    if info.storage == "events":
        names = _EVENT_NAMES if info.group == "" else _CORE_NAMES
        wire = {names.get(name, name): value for name, value in wire.items()}
    return {**wire, "apiVersion": info.api_version}
