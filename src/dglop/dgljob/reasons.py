# SPDX-License-Identifier: Apache-2.0
"""Why something is so, in one word: reasons of DGLJob's own conditions and events."""

from __future__ import annotations

from enum import StrEnum

__all__ = ("Reason",)


class Reason(StrEnum):
    """Reasons that the base job controller does not know."""

    PARTITIONED = "Partitioned"
    PARTITION_FAILED = "PartitionFailed"
    PARTS_LOST = "PartsLost"
    DISPATCHED = "Dispatched"
    WORKERS_READY = "WorkersReady"
    NOT_PARTITIONED = "NotPartitioned"
    NOT_DISPATCHED = "NotDispatched"
    WORKERS_NOT_READY = "WorkersNotReady"
    JOB_FINISHED = "JobFinished"
