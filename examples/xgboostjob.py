# SPDX-License-Identifier: Apache-2.0
"""Kubeflow's XGBoostJob as a kind of one's own: python examples/xgboostjob.py --install-crds"""

from collections.abc import Mapping

from pydantic import Field

from dglop import CustomResource, Manager, RawPod
from dglop.common import (
    JobKind,
    JobReconciler,
    JobSettings,
    JobSpec,
    Replica,
    ReplicaSpec,
    StatedJobStatus,
    default_env,
    set_env,
)
from dglop.common.rules import exactly_one, fixed_replicas, name_rules, only_roles

SPECS, MASTER, WORKER = "xgbReplicaSpecs", "Master", "Worker"
CONTAINER, PORT_NAME, PORT = "xgboost", "xgboostjob-port", 9999


class XGBoostJobSpec(
    JobSpec, rules=(only_roles(SPECS, MASTER, WORKER), exactly_one(SPECS, MASTER), fixed_replicas(SPECS))
):
    """What is trained, on how many pods."""

    xgb_replica_specs: dict[str, ReplicaSpec] = Field(min_length=1, max_length=2)
    """The Master, where all meet and which decides, and Workers."""


class XGBoostJob(
    CustomResource[XGBoostJobSpec, StatedJobStatus],
    group="kubeflow.org",
    version="v1",
    columns={
        "State": ".status.state",
        "Workers": f".status.replicaStatuses.{WORKER}.ready",
        "Restarts": ".status.restartCount",
        "Reason": ".status.reason",
    },
    rules=name_rules("-worker-0"),
):
    """Trains with XGBoost or LightGBM on a Master and Workers."""


class XGBoostJobKind(JobKind[XGBoostJob]):
    """Pods that are told where the Master and the Workers are, and which of them they are."""

    leader = MASTER
    main = CONTAINER

    def replicas(self, job: XGBoostJob) -> Mapping[str, ReplicaSpec]:
        return job.spec.xgb_replica_specs

    def configure(self, pod: RawPod, replica: Replica[XGBoostJob]) -> None:
        specs = self.replicas(replica.job)
        pod.container(CONTAINER).add_port(PORT_NAME, PORT)
        rank = replica.index if replica.role == MASTER else replica.index + 1
        world = sum(spec.replicas for spec in specs.values())
        set_env(pod, MASTER_ADDR=replica.dns, MASTER_PORT=port_of(specs[MASTER]))
        set_env(pod, RANK=str(rank), WORLD_SIZE=str(world))
        if world > 1:  # LightGBM is told of all Workers, XGBoost asks the Master
            hosts = [replica.host_of(WORKER, index) for index in range(specs[WORKER].replicas)]
            set_env(pod, WORKER_ADDRS=",".join(hosts), WORKER_PORT=port_of(specs[WORKER]))
        default_env(pod, PYTHONUNBUFFERED="0")


def port_of(spec: ReplicaSpec) -> str:
    """The containerPort of the name that XGBoostJobs give it, or the usual one."""
    ports = RawPod(spec.template).container(CONTAINER).ports
    named = [port.get("containerPort") for port in ports if port.get("name") == PORT_NAME]
    return str(named[0] if named else PORT)


manager = Manager(JobSettings.from_environment(), name="xgboostjob")
manager.controller(XGBoostJob, JobReconciler(XGBoostJobKind()))

if __name__ == "__main__":
    manager.main()
