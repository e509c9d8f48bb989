# SPDX-License-Identifier: Apache-2.0
"""What a job says of its training: read from the body of a POST, written as `status.trainer`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - msgspec reads the annotation
from typing import Annotated, Any

import msgspec

from dglop.runtime.api import format_micro_time, format_time

__all__ = ("BadReportError", "Report", "Shown", "is_outdated", "parse_report", "trainer_wire")

MAX_METRICS = 32
MAX_TEXT = 64


class BadReportError(ValueError):
    """A report that cannot be understood; the message says what is wrong with it."""


class ReportedMetric(msgspec.Struct, frozen=True):
    """One figure of the training."""

    name: str
    value: str | float


class ReportWire(msgspec.Struct, frozen=True, rename="camel"):
    """The body of a POST; what it does not name is ignored."""

    attempt: int | None = None
    progress_percentage: float | None = None
    estimated_remaining_seconds: float | None = None
    metrics: tuple[ReportedMetric, ...] = ()
    report_time: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    final: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A report within its bounds: percentages 0 to 100, few and short metrics.

    `at` is when it was made, by the clock of the one pod that reports in an attempt, which never runs
    backwards there; of a report that does not say so, when it was received.
    """

    at: datetime
    attempt: int | None = None
    percentage: int | None = None
    remaining_seconds: int | None = None
    metrics: tuple[tuple[str, str], ...] = ()
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """What a job's status says already: its attempt, and which report of which attempt it shows."""

    attempt: int = 0
    report_attempt: int | None = None
    report_time: datetime | None = None


def is_outdated(report: Report, shown: Shown) -> bool:
    """Whether the status knows of a later attempt than this report, or shows a later report."""
    if report.attempt is not None:
        if report.attempt < max(shown.attempt, shown.report_attempt or 0):
            return True
        if shown.report_attempt is not None and shown.report_attempt < report.attempt:
            return False  # each attempt has a clock of its own
    return shown.report_time is not None and report.at < shown.report_time


def parse_report(body: bytes, now: datetime) -> Report:
    """The report in `body`, received `now`; figures out of range are brought into it, long texts are cut.

    Raises BadReportError where it is no JSON object of the right types.
    """
    try:
        wire = msgspec.json.decode(body, type=ReportWire)
    except msgspec.DecodeError as problem:
        raise BadReportError(f"the report is not understood: {problem}") from problem
    figures: dict[str, str] = {}
    for each in wire.metrics[:MAX_METRICS]:
        if each.name:
            figures[each.name[:MAX_TEXT]] = str(each.value)[:MAX_TEXT]
    percentage, left = wire.progress_percentage, wire.estimated_remaining_seconds
    return Report(
        at=wire.report_time or now,
        attempt=wire.attempt,
        percentage=None if percentage is None else int(min(max(percentage, 0.0), 100.0)),
        remaining_seconds=None if left is None else int(min(max(left, 0.0), 2.0**31)),
        metrics=tuple(figures.items()),
        is_final=wire.final,
    )


def trainer_wire(report: Report, now: datetime) -> dict[str, Any]:
    """`status.trainer` for this report, written at `now`."""
    wire: dict[str, Any] = {
        "lastUpdatedTime": format_time(now),
        "reportTime": format_micro_time(report.at),
        "metrics": [{"name": name, "value": value} for name, value in report.metrics],
    }
    if report.attempt is not None:
        wire["attempt"] = report.attempt
    if report.percentage is not None:
        wire["progressPercentage"] = report.percentage
        wire["progress"] = f"{report.percentage}%"
    if report.remaining_seconds is not None:
        wire["estimatedRemainingSeconds"] = report.remaining_seconds
    return wire
