# SPDX-License-Identifier: Apache-2.0
"""A job kind on the base controller: python examples/torchjob.py --install-crds"""

from collections.abc import Mapping

from dglop import CustomResource, Manager, RawPod
from dglop.common import (
    JobKind,
    JobReconciler,
    JobSettings,
    JobSpec,
    Replica,
    ReplicaSpec,
    StatedJobStatus,
    set_env,
)

PORT = "29500"  # where rank 0 listens; each job's master has its own DNS name


class TorchJobSpec(JobSpec):
    master: ReplicaSpec
    worker: ReplicaSpec | None = None


class TorchJob(
    CustomResource[TorchJobSpec, StatedJobStatus],
    group="example.dev",
    version="v1",
    columns={"State": ".status.state", "Reason": ".status.reason"},
):
    """Data-parallel PyTorch training."""


class TorchJobKind(JobKind[TorchJob]):
    leader = "master"

    def replicas(self, job: TorchJob) -> Mapping[str, ReplicaSpec]:
        workers = {"worker": job.spec.worker} if job.spec.worker else {}
        return {"master": job.spec.master, **workers}

    def configure(self, pod: RawPod, replica: Replica[TorchJob]) -> None:
        rank = 0 if replica.role == self.leader else replica.index + 1
        world = sum(spec.replicas for spec in self.replicas(replica.job).values())
        set_env(pod, RANK=str(rank), WORLD_SIZE=str(world), MASTER_ADDR=replica.dns, MASTER_PORT=PORT)


manager = Manager(JobSettings.from_environment(), name="torchjob")
manager.controller(TorchJob, JobReconciler(TorchJobKind()))

if __name__ == "__main__":
    manager.main()
