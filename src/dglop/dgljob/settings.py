# SPDX-License-Identifier: Apache-2.0
"""What the operator can be told beyond what every Manager can."""

from typing import Literal

from pydantic import Field

from dglop.common.delivery import DEFAULT_IMAGE
from dglop.dgljob.rbac import LEASE
from dglop.runtime.bind import Bind
from dglop.runtime.settings import Settings

__all__ = ("OperatorSettings",)


class OperatorSettings(Settings):
    """The settings of the DGL operator."""

    leader_election_id: str = LEASE
    """Name of the lease."""
    delivery_image: str = DEFAULT_IMAGE
    """The operator's own image, from which dglrun is copied into the pods of jobs."""
    progress_bind: Bind = ":8082"
    """Address where jobs post their progress; 0 turns it off."""
    progress_url: str = ""
    """How pods reach the progress address, such as http://dglop-progress.dglop-system.svc:8082."""
    gang_scheduler: Literal["none", "volcano", "scheduler-plugins"] = "none"
    """Have the pods of a job scheduled together or not at all, by PodGroups of this scheduler."""
    gang_scheduler_name: str = ""
    """What pods name as their scheduler then; by default what the scheduler is called where it is installed
    as its own documentation says."""
    kueue: bool = False
    """Have jobs with the label kueue.x-k8s.io/queue-name wait in Kueue's queues; without it the label means
    nothing."""
    concurrency: int = Field(8, ge=1, le=256)
    """How many jobs are reconciled at once."""
