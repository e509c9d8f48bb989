# SPDX-License-Identifier: Apache-2.0
"""Kubeflow's XGBoostJob as a kind of one's own: python examples/xgboostjob.py --install-crds"""

from collections.abc import Mapping, Sequence

from pydantic import Field

from dglop import CEL, CustomResource, Manager, RawPod
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
from dglop.common.rules import fixed_replicas, name_rules, only_roles
from dglop.common.templates import shape_problems

SPECS, MASTER, WORKER = "xgbReplicaSpecs", "Master", "Worker"
CONTAINER, PORT_NAME, PORT = "xgboost", "xgboostjob-port", 9999

ONE_MASTER = CEL(
    f"'{MASTER}' in self.{SPECS} && self.{SPECS}['{MASTER}'].replicas == 1",
    f"{SPECS} must have a {MASTER} with replicas: 1",
)


class XGBoostJobSpec(JobSpec, rules=(only_roles(SPECS, MASTER, WORKER), ONE_MASTER, fixed_replicas(SPECS))):
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

    def replicas(self, job: XGBoostJob) -> Mapping[str, ReplicaSpec]:
        return job.spec.xgb_replica_specs

    def main_container(self, job: XGBoostJob, role: str, pod: RawPod) -> str:  # noqa: ARG002
        return CONTAINER

    def validate(self, job: XGBoostJob) -> Sequence[str]:
        return [said for role, spec in self.replicas(job).items() for said in problems_of(role, spec)]

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


def problems_of(role: str, spec: ReplicaSpec) -> list[str]:
    """What cannot run in the template of a replica type, in sentences."""
    where = f"{SPECS}.{role}.template"
    problems = list(shape_problems(spec.template, where))
    if not problems and CONTAINER not in [each.name for each in RawPod(spec.template).containers]:
        problems.append(f"{where}.spec.containers has none named {CONTAINER}: name the one that trains so")
    return problems


def port_of(spec: ReplicaSpec) -> str:
    """The containerPort of the name that XGBoostJobs give it, or the usual one."""
    ports = RawPod(spec.template).container(CONTAINER).ports
    named = [port.get("containerPort") for port in ports if port.get("name") == PORT_NAME]
    return str(named[0] if named else PORT)


manager = Manager(JobSettings.from_environment(), name="xgboostjob")
manager.controller(XGBoostJob, JobReconciler(XGBoostJobKind()))

if __name__ == "__main__":
    manager.main()
