# SPDX-License-Identifier: Apache-2.0
"""What follows from how a reconciliation ended, by controller-runtime's rules."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from dglop.errors import ConflictError, FieldConflictError, TerminalError
from dglop.runtime.usercode import UserCodeError

if TYPE_CHECKING:
    from dglop.runtime.reconcile import Result

__all__ = ("Next", "Outcome", "ReconcileTimeoutError", "outcome_of_error", "outcome_of_result")

# What in Go would be a panic: the code is wrong, not the world.
BUGS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    NotImplementedError,
    RecursionError,
    TypeError,
    UserCodeError,
)


class ReconcileTimeoutError(TimeoutError):
    """A reconciliation took longer than its controller allows."""


class Next(StrEnum):
    """What to do with the key."""

    FORGET = "forget"
    AFTER = "after"
    BACK_OFF = "back off"
    GIVE_UP = "give up"


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What to do with the key, and what to count.

    Attributes
    ----------
        next: FORGET its failures; the same and come back AFTER a while; come back after its BACK_OFF;
            or GIVE_UP, keeping its failures, until something changes.
        result: the value of the metric's label.
        after: seconds, with AFTER.
        is_error: whether to log it as one and count it.
    """

    next: Next
    result: str
    after: float = 0.0
    priority: int | None = None
    is_error: bool = False
    is_terminal: bool = False
    is_bug: bool = False
    is_timeout: bool = False


def outcome_of_result(result: Result | None) -> Outcome:
    """The outcome of a reconciler that returned."""
    if result is None:
        return Outcome(Next.FORGET, "success")
    if result.requeue_after is not None:
        after = max(result.requeue_after.total_seconds(), 0.0)
        return Outcome(Next.AFTER, "requeue_after", after=after, priority=result.priority)
    if result.requeue:
        return Outcome(Next.BACK_OFF, "requeue", priority=result.priority)
    return Outcome(Next.FORGET, "success")


def outcome_of_error(error: Exception) -> Outcome:
    """
    The outcome of a reconciler that raised.

    Unlike in controller-runtime a ConflictError is no error: it makes no error line, and counts as `requeue`.
    Only that fields are another manager's is one: reading them again changes nothing.
    """
    if isinstance(error, ConflictError) and not isinstance(error, FieldConflictError):
        # The cache was behind, which is nobody's fault; the next try reads what changed.
        return Outcome(Next.BACK_OFF, "requeue")
    if isinstance(error, TerminalError):
        return Outcome(Next.GIVE_UP, "error", is_error=True, is_terminal=True)
    return Outcome(
        Next.BACK_OFF,
        "error",
        is_error=True,
        is_bug=isinstance(error, BUGS),
        is_timeout=isinstance(error, ReconcileTimeoutError),
    )
