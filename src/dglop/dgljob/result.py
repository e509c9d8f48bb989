# SPDX-License-Identifier: Apache-2.0
"""The trainer's last figures, from what survives every loss of a report: how its pod ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from dglop.dgljob.report import BadReportError, Report, parse_report, trainer_wire
from dglop.dgljob.status import TrainerStatus

if TYPE_CHECKING:
    from datetime import datetime

    from dglop.common.observed import Observed
    from dglop.common.views import Terminated
    from dglop.dgljob.enums import Role
    from dglop.dgljob.status import DGLJobStatus

__all__ = ("show_done", "take_result")


class _Words(msgspec.Struct, frozen=True):
    result: msgspec.Raw = msgspec.Raw(b"{}")


def take_result(status: DGLJobStatus, observed: Observed, role: Role, now: datetime) -> None:
    """Shows the result that the first pod of `role` left in its termination message, in place.

    Reports are posted to whichever replica of the operator is there, and are lost where none is. The result
    is of the same attempt and later than all of them, so that none of them replaces it either.
    """
    pod = observed.pod(role, 0)
    ended = pod.main_terminated if pod else None
    if pod is None or ended is None or not pod.is_succeeded or pod.attempt != status.attempt:
        return
    report = _report(ended, status, now)
    if report is not None and not _is_shown(status.trainer, report):
        status.trainer = TrainerStatus.model_validate(trainer_wire(report, now))


def show_done(status: DGLJobStatus, now: datetime) -> None:
    """A job that has succeeded has done all, whatever its trainer said last; in place."""
    trainer = status.trainer
    if trainer is None or (trainer.progress_percentage == 100 and not trainer.estimated_remaining_seconds):
        return
    trainer.progress_percentage, trainer.progress = 100, "100%"
    trainer.estimated_remaining_seconds = None
    trainer.last_updated_time = now


def _report(ended: Terminated, status: DGLJobStatus, now: datetime) -> Report | None:
    """The result as a report; None where there is none, or what is there is not understood."""
    try:
        said = msgspec.json.decode(ended.message, type=_Words).result
        report = parse_report(bytes(said), ended.finished_at or now)
    except (msgspec.DecodeError, BadReportError):
        return None  # not dglrun's words: the user's program may write to the same file
    if report.percentage is None and not report.metrics:
        return None
    shown = status.trainer
    posted = shown.report_time if shown and shown.attempt == status.attempt else None
    at = max(report.at, posted or report.at)
    return Report(at=at, attempt=status.attempt, percentage=report.percentage, metrics=report.metrics)


def _is_shown(trainer: TrainerStatus | None, report: Report) -> bool:
    if trainer is None or trainer.attempt != report.attempt:
        return False
    shown = trainer.progress_percentage
    if shown not in (report.percentage, 100):  # 100 is shown at the end, whatever was said
        return False
    return {each.name: each.value for each in trainer.metrics} == dict(report.metrics)
