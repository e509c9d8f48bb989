# SPDX-License-Identifier: Apache-2.0
"""Times as Kubernetes writes them: RFC 3339, UTC, seconds or exactly six digits."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import PlainSerializer, WithJsonSchema

__all__ = ("MicroTime", "Time", "format_micro_time", "format_time", "parse_time")


def format_time(moment: datetime) -> str:
    """`moment` as a Time, cut to seconds.

    Raises ValueError for a naive datetime: its zone would be a guess.
    """
    return _utc(moment).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_micro_time(moment: datetime) -> str:
    """`moment` as a MicroTime.

    Always six digits: servers refuse fewer, and `isoformat` leaves out a zero fraction.
    Raises ValueError for a naive datetime.
    """
    return _utc(moment).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: str) -> datetime:
    """The aware UTC datetime that a Time or MicroTime says.

    Raises ValueError if it is neither.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone; Kubernetes times end in Z")
    return moment.astimezone(UTC)


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone; use datetime.now(UTC) or the context's now()")
    return moment.astimezone(UTC)


Time = Annotated[
    datetime,
    PlainSerializer(format_time, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A field written as a metav1.Time."""

MicroTime = Annotated[
    datetime,
    PlainSerializer(format_micro_time, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A field written as a metav1.MicroTime."""
