# SPDX-License-Identifier: Apache-2.0
"""Events as lines that a test can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ("event_lines",)


def event_lines(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Each of events.k8s.io as "Normal Published Greeting/hello: note", in the order of their last change."""
    ordered = sorted(events, key=lambda each: int(each["metadata"]["resourceVersion"]))
    return [_line(each) for each in ordered]


def _line(event: Mapping[str, Any]) -> str:
    about = event.get("regarding") or {}
    place = f"{about.get('kind', '')}/{about.get('name', '')}"
    count = (event.get("series") or {}).get("count", 1)
    times = f" (x{count})" if count > 1 else ""
    return f"{event.get('type', '')} {event.get('reason', '')} {place}: {event.get('note', '')}{times}"
