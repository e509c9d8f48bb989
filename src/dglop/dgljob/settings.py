# SPDX-License-Identifier: Apache-2.0
"""What the DGL operator can be told beyond what every operator of jobs can."""

from typing import Annotated

from pydantic import AfterValidator

from dglop.common.settings import JobSettings
from dglop.dgljob.rbac import LEASE
from dglop.runtime.bind import Bind
from dglop.runtime.client.usable import address_problem

__all__ = ("OperatorSettings",)


def _reachable(url: str) -> str:
    if url and (problem := address_problem("server", url)):
        raise ValueError(problem)
    return url


ServerAddress = Annotated[str, AfterValidator(_reachable)]
"""A setting that is the URL of a server, or empty."""


class OperatorSettings(JobSettings):
    """The settings of the DGL operator."""

    leader_election_id: str = LEASE
    """Name of the lease."""
    progress_bind: Bind = ":8082"
    """Address where jobs post their progress; 0 turns it off."""
    progress_url: ServerAddress = ""
    """How pods reach the progress address, such as http://dglop-progress.dglop-system.svc:8082."""
