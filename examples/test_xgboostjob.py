# SPDX-License-Identifier: Apache-2.0
"""Lives of XGBoostJobs, with the test as user, kubelet and queue."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from dglop import InvalidError, Manager, Resource
from dglop.common import CleanPodPolicy, JobReconciler, ReplicaSpec, StatedJobStatus, gang_scheduler
from dglop.testing import Simulation, TestCluster, pod_template
from examples.xgboostjob import XGBoostJob, XGBoostJobKind

POD = Resource("", "v1", "Pod", "pods")
MANIFEST = Path(__file__).with_name("xgboostjob.yaml").read_text()
WORKLOAD = Resource("kueue.x-k8s.io", "v1beta2", "Workload", "workloads")
FLAVOR = Resource("kueue.x-k8s.io", "v1beta2", "ResourceFlavor", "resourceflavors", namespaced=False)
NOW = "2026-01-01T00:00:00Z"
PODS = ["iris-master-0", "iris-worker-0", "iris-worker-1"]


def iris(**policy: Any) -> XGBoostJob:
    """The job of the manifest, in another runPolicy."""
    wire = yaml.safe_load(MANIFEST)
    wire["spec"]["runPolicy"] |= policy
    return XGBoostJob.from_wire(wire)


def true(condition: str) -> dict[str, Any]:
    """A condition of a Workload, as Kueue writes it."""
    return {"type": condition, "status": "True", "reason": "Let", "message": "", "lastTransitionTime": NOW}


async def start(cluster: TestCluster, manager: Manager, job: XGBoostJob, *, kueue: bool = False) -> None:
    manager.controller(XGBoostJob, JobReconciler(XGBoostJobKind(), kueue=kueue))
    await cluster.client.create(job)
    await cluster.settle()


async def status_of(cluster: TestCluster) -> StatedJobStatus:
    return (await cluster.client.get(XGBoostJob, "iris")).status


async def pods_of(cluster: TestCluster) -> dict[str, dict[str, Any]]:
    return {pod["metadata"]["name"]: pod for pod in await cluster.client.list(POD)}


async def container_of(cluster: TestCluster, name: str) -> dict[str, Any]:
    container: dict[str, Any] = (await pods_of(cluster))[name]["spec"]["containers"][0]
    return container


async def env_of(cluster: TestCluster, name: str) -> dict[str, str]:
    return {each["name"]: each["value"] for each in (await container_of(cluster, name))["env"]}


async def test_each_pod_is_told_who_it_is_and_where_the_others_are(
    cluster: TestCluster, manager: Manager
) -> None:
    await start(cluster, manager, iris())
    assert sorted(await pods_of(cluster)) == PODS
    assert await env_of(cluster, "iris-worker-1") == {
        "MASTER_ADDR": "iris-master-0.iris.default.svc",
        "MASTER_PORT": "9999",
        "RANK": "2",
        "WORLD_SIZE": "3",
        "WORKER_ADDRS": "iris-worker-0.iris.default.svc,iris-worker-1.iris.default.svc",
        "WORKER_PORT": "9999",
        "PYTHONUNBUFFERED": "0",
    }
    assert (await env_of(cluster, "iris-master-0"))["RANK"] == "0"
    ports = (await container_of(cluster, "iris-master-0"))["ports"]
    assert [(port["name"], port["containerPort"]) for port in ports] == [("xgboostjob-port", 9999)]


async def test_the_port_of_a_template_is_what_the_others_are_told(
    cluster: TestCluster, manager: Manager
) -> None:
    template = pod_template("xgboost")
    template["spec"]["containers"][0]["ports"] = [{"name": "xgboostjob-port", "containerPort": 7000}]
    job = iris()
    job.spec.xgb_replica_specs["Worker"] = ReplicaSpec(template=template)
    await start(cluster, manager, job)
    told = await env_of(cluster, "iris-master-0")
    assert (told["MASTER_PORT"], told["WORKER_PORT"]) == ("9999", "7000")


async def test_a_master_alone_is_told_of_no_worker(cluster: TestCluster, manager: Manager) -> None:
    job = iris()
    del job.spec.xgb_replica_specs["Worker"]
    await start(cluster, manager, job)
    assert not {"WORKER_ADDRS", "WORKER_PORT"} & (await env_of(cluster, "iris-master-0")).keys()


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        (CleanPodPolicy.NONE, PODS),
        (CleanPodPolicy.RUNNING, ["iris-master-0", "iris-worker-0"]),
        (CleanPodPolicy.ALL, []),
    ],
)
async def test_a_job_succeeds_with_its_master_and_keeps_the_pods_that_its_policy_says(
    cluster: TestCluster, manager: Manager, policy: CleanPodPolicy, left: list[str]
) -> None:
    await start(cluster, manager, iris(cleanPodPolicy=policy))
    for name in PODS:
        await cluster.set_pod_phase("Running", name=name)
    await cluster.settle()
    assert (await status_of(cluster)).state == "Running"
    await cluster.set_pod_phase("Succeeded", name="iris-worker-0")
    await cluster.settle()
    assert (await status_of(cluster)).state == "Running"
    await cluster.set_pod_phase("Succeeded", name="iris-master-0")
    await cluster.advance(1)
    assert (await status_of(cluster)).state == "Succeeded"
    assert sorted(await pods_of(cluster)) == left


async def test_a_worker_that_is_killed_is_made_again_and_counted(
    cluster: TestCluster, manager: Manager
) -> None:
    await start(cluster, manager, iris())
    before = await pods_of(cluster)
    await cluster.set_pod_phase("Failed", name="iris-worker-0", exit_code=137)
    await cluster.advance(60)
    after = await pods_of(cluster)
    assert [name for name in PODS if after[name]["metadata"]["uid"] != before[name]["metadata"]["uid"]] == [
        "iris-worker-0"
    ]
    assert (await status_of(cluster)).restart_count == 1


async def test_a_worker_that_ends_with_an_error_of_its_own_ends_the_job(
    cluster: TestCluster, manager: Manager
) -> None:
    await start(cluster, manager, iris())
    await cluster.set_pod_phase("Failed", name="iris-worker-0", exit_code=1)
    await cluster.advance(60)
    status = await status_of(cluster)
    assert (status.state, status.reason) == ("Failed", "XGBoostJobFailed")


async def test_a_suspended_job_has_no_pods_until_it_is_resumed(
    cluster: TestCluster, manager: Manager
) -> None:
    await start(cluster, manager, iris())
    await cluster.client.patch(XGBoostJob, "iris", None, {"spec": {"runPolicy": {"suspend": True}}})
    await cluster.advance(1)
    assert ((await status_of(cluster)).state, await pods_of(cluster)) == ("Suspended", {})
    await cluster.client.patch(XGBoostJob, "iris", None, {"spec": {"runPolicy": {"suspend": False}}})
    await cluster.advance(1)
    assert ((await status_of(cluster)).state, sorted(await pods_of(cluster))) == ("Created", PODS)


@pytest.mark.parametrize(
    ("specs", "complaint"),
    [
        ({"Master": 2}, "Master is needed and has one replica"),
        ({"Worker": 2}, "Master is needed and has one replica"),
        ({"Master": 1, "Chief": 1}, "may have only Master, Worker"),
    ],
)
async def test_other_replica_types_or_sizes_are_refused(
    cluster: TestCluster, specs: dict[str, int], complaint: str
) -> None:
    await cluster.install(XGBoostJob)
    job = iris()
    template = pod_template("xgboost")
    job.spec.xgb_replica_specs = {
        role: ReplicaSpec(replicas=count, template=template) for role, count in specs.items()
    }
    with pytest.raises(InvalidError, match=complaint):
        await cluster.client.create(job)


async def test_a_job_whose_container_has_another_name_fails_and_says_why(
    cluster: TestCluster, manager: Manager
) -> None:
    job = iris()
    job.spec.xgb_replica_specs["Worker"].template = pod_template("trainer")
    await start(cluster, manager, job)
    failed = (await status_of(cluster)).get("Failed")
    assert failed is not None
    assert (failed.reason, await pods_of(cluster)) == ("InvalidSpec", {})
    assert "xgbReplicaSpecs.Worker.template.spec.containers must have one named xgboost" in failed.message


async def test_a_job_in_a_queue_waits_until_it_is_let_in(cluster: TestCluster, manager: Manager) -> None:
    await cluster.install(WORKLOAD, FLAVOR)
    job = iris()
    job.labels["kueue.x-k8s.io/queue-name"] = "team-a"
    await start(cluster, manager, job, kueue=True)
    assert ((await status_of(cluster)).state, await pods_of(cluster)) == ("Suspended", {})
    (workload,) = await cluster.client.list(WORKLOAD)
    assert [each["count"] for each in workload["spec"]["podSets"]] == [1, 2]

    sets: list[dict[str, Any]] = [{"name": role, "flavors": {}} for role in ("master", "worker")]
    admission = {"clusterQueue": "all", "podSetAssignments": sets}
    status = {"conditions": [true("QuotaReserved"), true("Admitted")], "admission": admission}
    name = workload["metadata"]["name"]
    await cluster.client.patch(WORKLOAD, name, None, {"status": status}, subresource="status")
    await cluster.settle()
    assert sorted(await pods_of(cluster)) == PODS


def test_master_and_workers_are_one_gang() -> None:
    world = Simulation(iris(), XGBoostJobKind(), gang=gang_scheduler("volcano"))
    world.settle()
    assert (world.groups["iris"]["spec"]["minMember"], world.pods) == (3, {})
    world.set_group("iris", "Inqueue")
    world.settle()
    assert sorted(world.pods) == PODS
