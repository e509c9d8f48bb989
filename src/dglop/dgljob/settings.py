# SPDX-License-Identifier: Apache-2.0
"""What the DGL operator can be told beyond what every operator of jobs can."""

from dglop.common.settings import JobSettings
from dglop.dgljob.rbac import LEASE
from dglop.runtime.bind import Bind

__all__ = ("OperatorSettings",)


class OperatorSettings(JobSettings):
    """The settings of the DGL operator."""

    leader_election_id: str = LEASE
    """Name of the lease."""
    progress_bind: Bind = ":8082"
    """Address where jobs post their progress; 0 turns it off."""
    progress_url: str = ""
    """How pods reach the progress address, such as http://dglop-progress.dglop-system.svc:8082."""
    allow_host_path: bool = False
    """Let jobs keep their parts in a folder of the nodes (storage.type HostPath). Whoever may make DGLJobs
    can then read and write any folder of any node through their pods."""
