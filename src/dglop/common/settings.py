# SPDX-License-Identifier: Apache-2.0
"""What an operator of jobs can be told beyond what every Manager can, whatever the kinds that it runs."""

from typing import Literal

from pydantic import Field

from dglop.common.delivery import DEFAULT_IMAGE
from dglop.runtime.names import ImageName
from dglop.runtime.settings import Settings

__all__ = ("JobSettings",)


class JobSettings(Settings):
    """The settings that all kinds have in common."""

    delivery_image: ImageName = DEFAULT_IMAGE
    """The operator's own image, from which dglrun is copied into the pods of jobs."""
    gang_scheduler: Literal["none", "volcano", "scheduler-plugins"] = "none"
    """Have the pods of a job scheduled together or not at all, by PodGroups of this scheduler."""
    gang_scheduler_name: str = ""
    """What pods name as their scheduler then; by default what the scheduler is called where it is installed
    as its own documentation says."""
    kueue: bool = False
    """Have jobs with the label kueue.x-k8s.io/queue-name wait in Kueue's queues; without it the label means
    nothing."""
    concurrency: int = Field(8, ge=1, le=256)
    """How many jobs of a kind are reconciled at once."""
