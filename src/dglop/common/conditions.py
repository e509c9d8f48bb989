# SPDX-License-Identifier: Apache-2.0
"""The transitions of a job's conditions; none is ever removed, and a finished job's never change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.constants import MAX_MESSAGE
from dglop.common.reasons import ConditionType, Reason, kind_reason

if TYPE_CHECKING:
    from datetime import datetime

    from dglop.common.types import JobStatus

__all__ = ("Conditions", "is_finished")


def is_finished(status: JobStatus) -> bool:
    """Whether the job has ended; that is absorbing."""
    return status.is_true(ConditionType.SUCCEEDED) or status.is_true(ConditionType.FAILED)


class Conditions:
    """The rows of the transition table, as changes of one status in memory.

    `status.reason` is what people are shown of them: why the job does not run, or why it has failed.
    """

    def __init__(self, kind: str, status: JobStatus, now: datetime) -> None:
        self._kind = kind
        self._status = status
        self._now = now

    def created(self, message: str) -> None:
        self._set(ConditionType.CREATED, True, Reason.CREATED, message)

    def waiting(self, reason: str, message: str) -> None:
        """Running is False for a reason of the pods' own, such as Unschedulable; never undoes True."""
        if not self._status.is_true(ConditionType.RUNNING):
            self._set(ConditionType.RUNNING, False, reason, message)
            self._status.reason = "" if reason == Reason.WAITING else reason

    def running(self, message: str) -> None:
        self._set(ConditionType.RUNNING, True, Reason.RUNNING, message)
        self._turn_off(ConditionType.RESTARTING, Reason.RESTARTED, message)
        self._status.reason = ""

    def restarting(self, reason: str, message: str) -> None:
        self._set(ConditionType.RESTARTING, True, reason, message)
        self._turn_off(ConditionType.RUNNING, Reason.RESTARTING, message)
        self._status.reason = ""

    def suspended(self, message: str) -> None:
        self._set(ConditionType.SUSPENDED, True, Reason.SUSPENDED, message)
        self._turn_off(ConditionType.RUNNING, Reason.SUSPENDED, message)
        self._turn_off(ConditionType.RESTARTING, Reason.SUSPENDED, message)
        self._status.reason = ""

    def resumed(self, message: str) -> None:
        self._turn_off(ConditionType.SUSPENDED, Reason.RESUMED, message)

    def succeeded(self, message: str) -> None:
        self._set(ConditionType.SUCCEEDED, True, Reason.SUCCEEDED, message)
        self._finish(Reason.SUCCEEDED, message)
        self._status.reason = ""

    def failed(self, reason: str, message: str) -> None:
        self._set(ConditionType.FAILED, True, reason, message)
        self._finish(Reason.FAILED, message)
        self._status.reason = self._word(reason)

    def _finish(self, reason: Reason, message: str) -> None:
        self._turn_off(ConditionType.RUNNING, reason, message)
        self._turn_off(ConditionType.RESTARTING, reason, message)
        if self._status.completion_time is None:
            self._status.completion_time = self._now

    def _turn_off(self, type_: ConditionType, reason: Reason, message: str) -> None:
        """A condition that never was, or is False already, stays as it is."""
        if self._status.is_true(type_):
            self._set(type_, False, reason, message)

    def _set(self, type_: ConditionType, value: bool, reason: str, message: str) -> None:
        short = message[:MAX_MESSAGE]
        self._status.set(type_, value, reason=self._word(reason), message=short, now=self._now)

    def _word(self, reason: str) -> str:
        return kind_reason(self._kind, reason) if isinstance(reason, Reason) else reason
