# SPDX-License-Identifier: Apache-2.0
"""One replica of a job: what `configure` is told about the pod it changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from dglop.common.names import pod_host, pod_name

if TYPE_CHECKING:
    from dglop.runtime.api.custom import CustomResource

__all__ = ("JobT", "Replica")

JobT = TypeVar("JobT", bound="CustomResource[Any, Any]")


@dataclass(frozen=True, slots=True)
class Replica(Generic[JobT]):
    """
    A replica type and an index within one attempt of a job.

    Attributes
    ----------
        count: how many replicas the role has.
        attempt: the attempt that the pod belongs to, from 1.
        main: the name of the container that decides.
        leader: the role that the others look for; the replica's own where the kind names none.
    """

    job: JobT
    role: str
    index: int
    count: int
    attempt: int
    main: str = ""
    leader: str = ""

    @property
    def name(self) -> str:
        """The pod's name."""
        return pod_name(self.job.name, self.role, self.index)

    @property
    def host(self) -> str:
        """The pod's own name in the cluster's DNS."""
        return self.host_of(self.role, self.index)

    @property
    def dns(self) -> str:
        """Where the replicas meet: the DNS name of the leader's replica 0."""
        return self.host_of(self.leader or self.role, 0)

    def host_of(self, role: str, index: int = 0) -> str:
        """The DNS name of another replica of the job."""
        return pod_host(self.job.name, self.job.namespace, role, index)
