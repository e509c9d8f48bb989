# SPDX-License-Identifier: Apache-2.0
"""The fate of an attempt: whether it goes on, is tried again, or was the last one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from dglop.common.failure import Cause, Failure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

__all__ = ("PEER_PATIENCE", "Fate", "Verdict", "judge", "over_limit")

PEER_PATIENCE: Final = timedelta(seconds=20)
"""How long to wait for the failure that began it, when only its consequences are seen."""


class Fate(StrEnum):
    """What becomes of an attempt."""

    GO_ON = "GoOn"
    WAIT = "Wait"
    RESTART = "Restart"
    FAIL = "Fail"


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    The fate and the failure that it comes from.

    Attributes
    ----------
        counts: whether a restart is held against backoffLimit (a disruption is not).
        wait: for how long the fate stays open, under WAIT.
    """

    fate: Fate
    failure: Failure | None = None
    counts: bool = True
    wait: timedelta | None = None


def judge(failures: Sequence[Failure], *, others_alive: bool, now: datetime) -> Verdict:
    """The fate of an attempt, decided once, by the failure that began it.

    A failure of a peer's making never decides as long as another is there, or may still come
    (`others_alive`: pods of the gang that have not ended). What came from outside (a deletion, an eviction)
    and was first excuses the programs that broke because of it.
    """
    if not failures:
        return Verdict(Fate.GO_ON)
    decisive = _decisive(failures)
    if decisive is None:
        first = min(failures, key=lambda each: each.order)
        left = first.time + PEER_PATIENCE - now if first.time else timedelta(0)
        # A time in the future is a node's clock that is ahead: it proves nothing, so it is not waited for.
        if others_alive and timedelta(0) < left <= PEER_PATIENCE:
            return Verdict(Fate.WAIT, first, wait=left)
        return Verdict(Fate.RESTART if first.is_retryable else Fate.FAIL, first)
    if not decisive.is_retryable:
        return Verdict(Fate.FAIL, decisive)
    return Verdict(Fate.RESTART, decisive, counts=decisive.counts)


def _decisive(failures: Sequence[Failure]) -> Failure | None:
    own = [each for each in failures if each.cause is Cause.OWN]
    outside = [each for each in failures if each.is_from_outside]
    first_own = min(own, key=lambda each: each.order, default=None)
    # A disruption is preferred to a deletion: an evicted pod shows as both for a moment.
    first_outside = min(
        outside, key=lambda each: (each.order[0], each.cause is not Cause.DISRUPTION), default=None
    )
    if first_own is None or first_outside is None:
        return first_own or first_outside
    earlier = first_outside.order[0] <= first_own.order[0]
    return first_outside if earlier else first_own


def over_limit(count: int, limit: int | None) -> bool:
    """Whether `count` is more than allowed: limit 2 allows 2, as batch/Job words it."""
    return limit is not None and count > limit
