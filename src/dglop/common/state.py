# SPDX-License-Identifier: Apache-2.0
"""The state of a job in one word, from its conditions, for kinds that have no phases of their own."""

from typing import Final

from dglop.common.reasons import ConditionType
from dglop.common.types import JobStatus

__all__ = ("StatedJobStatus", "state_of")

# A condition stays when it is over, so the last in the list need not be the one that holds now.
_ORDER: Final = (
    ConditionType.FAILED,
    ConditionType.SUCCEEDED,
    ConditionType.SUSPENDED,
    ConditionType.RESTARTING,
    ConditionType.RUNNING,
    ConditionType.CREATED,
)


class StatedJobStatus(JobStatus):
    """The base's status and the job's state in one word."""

    state: str = ""
    """Created, Running, Restarting, Suspended, Succeeded or Failed: the condition that counts now."""


def state_of(status: JobStatus) -> str:
    """The type of the condition that counts now; "" before there is any."""
    return next((str(each) for each in _ORDER if status.is_true(each)), "")
