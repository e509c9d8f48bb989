# SPDX-License-Identifier: Apache-2.0
"""PyTorchJob as a kind of the base job controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from dglop.common.kind import JobKind
from dglop.common.types import RestartPolicy
from dglop.pytorchjob.api import MANAGED_BY, PyTorchJob, Role
from dglop.pytorchjob.env import CONTAINER, PORT, PORT_NAME, meeting, port_of, size
from dglop.pytorchjob.validation import problems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dglop.common.replica import Replica
    from dglop.common.types import ReplicaSpec
    from dglop.runtime.api import RawPod

__all__ = ("PyTorchJobKind",)


class PyTorchJobKind(JobKind[PyTorchJob]):
    """
    Pods that are told where the Master is, how many they are and which of them they are.

    Nothing waits for the Master: torch's own store tries again until it is found and listens.
    """

    leader: ClassVar[str | None] = Role.MASTER
    main: ClassVar[str] = CONTAINER
    restart_policy: ClassVar[RestartPolicy] = RestartPolicy.ON_FAILURE
    controller_name: ClassVar[str] = "pytorchjob-controller"
    managed_by: ClassVar[str] = MANAGED_BY

    def replicas(self, job: PyTorchJob) -> Mapping[str, ReplicaSpec]:
        specs = job.spec.pytorch_replica_specs
        return {role: specs[role] for role in Role if role in specs}

    def validate(self, job: PyTorchJob) -> Sequence[str]:
        return problems(job)

    def configure(self, pod: RawPod, replica: Replica[PyTorchJob]) -> None:
        main = pod.container(CONTAINER)
        main.data.setdefault("terminationMessagePolicy", "FallbackToLogsOnError")
        if port_of(pod) is None:
            main.add_port(PORT_NAME, PORT)
        # A job without a Master may meet by itself, as over a store of its own.
        meets_itself = Role.MASTER not in replica.job.spec.pytorch_replica_specs
        for each in pod.containers:
            each.env.set("PYTHONUNBUFFERED", "1", keep_user=True)
            for name, value in meeting(replica).items():
                each.env.set(name, value, keep_user=meets_itself)
            for name, value in size(replica.job).items():
                each.env.set(name, value)
