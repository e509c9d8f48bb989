# SPDX-License-Identifier: Apache-2.0
"""The Partitioner in the Launcher's pod, or in that of worker-0."""

from __future__ import annotations

import pytest

from dglop.common.observed import Observed
from dglop.common.plan import plan
from test.unit.dgljob.dgljob_making import begin_init, end_init, said
from test.unit.dgljob.dgljob_pods import container, env, mounts, volumes
from test.unit.dgljob.dgljob_world import World, make_job, template

L, W0, W1 = "g-launcher-0", "g-worker-0", "g-worker-1"
CLAIM = {"type": "PVC", "claimName": "parts"}
MAKES = "dglop-partition"
WHOLE = ["Pending", "Partitioning", "Partitioned", "Dispatching", "Training", "Completed"]
AGAIN = ["Restarting", "Dispatching", "Training", "Completed"]


def restart(world):
    world.train()
    world.end(W1, 137)
    world.settle()


def launched(roles=None, **spec):
    both = {"Worker": {"replicas": 2, "template": template()}, "Launcher": {"template": template()}}
    spec = {"partition": {"placement": "Launcher"}, "storage": CLAIM, **spec}
    return World(make_job(specs={**both, **(roles or {})}, **spec))


def partition_in_launcher(world, manifest="abc"):
    world.settle()
    begin_init(world, L, MAKES)
    world.settle()
    end_init(world, L, MAKES, 0, said(manifest))
    world.settle()


def test_the_launchers_init_container_partitions_before_there_are_workers():
    world = launched()
    world.settle()
    assert world.created == [L]
    begin_init(world, L, MAKES)
    world.settle()
    assert world.job.status.phase == "Partitioning"
    end_init(world, L, MAKES, 0, said("cafe"))
    world.settle()
    assert world.created == [L, W0, W1]
    assert world.job.status.partition.manifest_hash == "cafe"
    world.train()
    world.end(L)
    world.finish()
    assert world.phases == WHOLE


def test_what_partitions_in_the_launchers_pod_is_a_container_as_the_partitioner_would_have_it():
    partitioner = template(
        command=["part"],
        image="parts:1",
        volumeMounts=[{"name": "raw", "mountPath": "/raw"}],
        startupProbe={"exec": {"command": ["true"]}},
    )
    partitioner["spec"]["volumes"] = [{"name": "raw", "persistentVolumeClaim": {"claimName": "raw"}}]
    partitioner["spec"]["initContainers"] = [{"name": "unzip", "image": "i"}]
    world = launched(roles={"Partitioner": {"template": partitioner}})
    world.settle()
    spec = world.pods[L]["spec"]
    assert [each["name"] for each in spec["initContainers"]] == ["dglop-deliver", "unzip", MAKES]
    makes, main = container(spec, MAKES), container(spec)
    assert (makes["image"], makes["command"][:3]) == (
        "parts:1", ["python3", "/opt/dglrun/dglrun.pyz", "partition"],
    )  # fmt: skip
    assert makes["command"][-2:] == ["--", "part"]
    assert "startupProbe" not in makes
    assert env(makes)["DGL_OPERATOR_PHASE_ENV"] == "Partitioner"
    assert env(main)["DGL_OPERATOR_PHASE_ENV"] == "Launcher_Workload"
    assert main["command"] == ["python3", "train.py"]
    assert volumes(spec)["raw"] == {"persistentVolumeClaim": {"claimName": "raw"}}
    assert "readOnly" not in mounts(makes)["/dgl_workspace/workload"]


def test_a_launcher_of_a_later_attempt_has_nothing_to_partition():
    world = launched()
    partition_in_launcher(world)
    restart(world)
    assert world.phases[-2:] == ["Restarting", "Dispatching"], "the parts are there, so Workers come at once"
    world.train()
    assert [each["name"] for each in world.pods[L]["spec"].get("initContainers", [])] == []
    world.finish()
    assert world.phases[5:] == AGAIN


def test_a_launcher_partitions_again_where_parts_are_not_to_be_retained():
    world = launched(partition={"placement": "Launcher", "retainOnRestart": False})
    partition_in_launcher(world, "old")
    restart(world)
    assert list(world.pods) == [L]
    partition_in_launcher(world, "new")
    world.train()
    world.finish()
    assert world.job.status.partition.manifest_hash == "new"
    assert world.job.status.is_true("Succeeded")


def test_a_partition_that_fails_in_the_launchers_pod_is_called_by_its_name():
    world = launched(runPolicy={"backoffLimit": 0})
    world.settle()
    world.job.spec.dgl_replica_specs["Launcher"].restart_policy = "ExitCode"
    end_init(world, L, MAKES, 2, '{"cause":"self","process":"partition","exitCode":2,"lines":["no graph"]}')
    world.settle()
    assert world.job.status.get("Failed").reason == "PartitionFailed"
    assert "no graph" in world.job.status.get("Failed").message
    assert world.job.status.partition.state == "Failed"


def first(workers=2, **spec):
    specs = {"Worker": {"replicas": workers, "template": template(resources={"limits": {"cpu": 2}})}}
    spec = {"partition": {"placement": "Worker"}, "storage": CLAIM, **spec}
    return World(make_job(specs=specs, **spec))


def partition_in_worker(world, manifest="abc"):
    world.settle()
    world.run(W0)
    world.settle()
    world.end(W0, 0, said(manifest))
    world.settle()


@pytest.mark.parametrize("workers", [1, 2])
def test_worker_0_partitions_and_is_then_made_as_a_worker(workers):
    world = first(workers)
    world.settle()
    assert world.created == [W0]
    makes = container(world.pods[W0]["spec"])
    assert makes["command"][:3] == ["python3", "/opt/dglrun/dglrun.pyz", "partition"]
    assert env(makes)["DGL_OPERATOR_PHASE_ENV"] == "Partitioner"
    assert "readOnly" not in mounts(makes)["/dgl_workspace/workload"]
    world.run(W0)
    world.settle()
    status = world.job.status
    assert (status.phase, status.dispatch.ready, status.is_true("Running")) == ("Partitioning", 0, False)
    world.end(W0, 0, said("cafe"))
    world.settle()
    assert sorted(world.created) == sorted([W0, W0, *([W1] if workers > 1 else [])])
    trains = container(world.pods[W0]["spec"])
    assert trains["command"][2] == "worker"
    assert "DGL_OPERATOR_PHASE_ENV" not in env(trains)
    assert env(trains)["DGLJOB_MANIFEST_HASH"] == "cafe"
    world.train()
    world.finish()
    assert world.phases == WHOLE
    assert world.job.status.attempt == 1
    assert world.job.status.restart_count == world.job.status.disruption_count == 0


def test_where_there_is_no_data_set_worker_0s_own_command_partitions_and_is_told_so():
    world = first(dataset=None)
    world.settle()
    makes = container(world.pods[W0]["spec"])
    assert makes["command"][-3:] == ["--", "python3", "train.py"]
    assert env(makes)["DGL_OPERATOR_PHASE_ENV"] == "Partitioner"


def test_worker_0_is_never_counted_as_ready_or_done_while_it_partitions():
    world = first(1)
    partition = world.job
    world.settle()
    assert container(world.pods[W0]["spec"])["startupProbe"], "only a Worker that trains becomes ready"
    world.run(W0)
    world.settle()
    world.end(W0, 0, said())
    while not world.job.status.is_latched:
        world.step()
    counts = world.job.status.replica_statuses["Worker"]
    assert (counts.succeeded, counts.completed_indexes, counts.created_indexes) == (0, "", "")
    assert world.job.status.get("WorkersReady") is None
    assert partition.status.phase is None


def test_a_worker_0_that_dies_while_it_partitions_begins_a_new_attempt():
    world = first()
    world.settle()
    world.run(W0)
    world.settle()
    world.end(W0, 137)
    world.settle()
    assert (world.job.status.attempt, world.job.status.restart_count) == (2, 1)
    assert env(container(world.pods[W0]["spec"]))["DGL_OPERATOR_PHASE_ENV"] == "Partitioner"
    partition_in_worker(world)
    world.train()
    world.finish()
    assert world.job.status.is_true("Succeeded")


def test_a_worker_0_that_cannot_partition_fails_the_job():
    world = first()
    world.settle()
    world.run(W0)
    world.settle()
    world.end(W0, 2, '{"cause":"self","process":"partition","exitCode":2,"lines":["no graph"]}')
    world.settle()
    assert world.job.status.get("Failed").reason == "PartitionFailed"
    assert world.job.status.partition.state == "Failed"


def test_a_worker_0_that_is_deleted_while_it_partitions_is_missed():
    world = first()
    world.settle()
    world.run(W0)
    world.settle()
    del world.pods[W0]
    world.settle()
    assert (world.job.status.attempt, world.job.status.restart_count) == (2, 1)


def test_a_later_attempt_has_its_parts_and_no_worker_partitions():
    world = first()
    partition_in_worker(world)
    restart(world)
    assert container(world.pods[W0]["spec"])["command"][2] == "worker"
    world.train()
    world.finish()
    assert world.phases[5:] == AGAIN
    assert world.created.count(W0) == 3


def test_worker_0_partitions_again_for_another_number_of_workers():
    world = first()
    partition_in_worker(world)
    world.train()
    world.job.spec.run_policy.suspend = True
    world.settle()
    world.job.spec.dgl_replica_specs["Worker"].replicas = 3
    world.job.spec.run_policy.suspend = False
    world.settle()
    assert list(world.pods) == [W0]
    partition_in_worker(world, "three")
    assert len(world.pods) == 3
    world.train()
    world.finish()
    assert world.job.status.is_true("Succeeded")


def test_the_pod_of_worker_0_that_has_partitioned_is_not_in_the_others_way():
    """It is on its way out for a while; the others come, and worker-0 when it is gone."""
    world = first()
    world.settle()
    world.run(W0)
    world.settle()
    world.end(W0, 0, said())
    while not world.job.status.is_latched:
        world.step()
    old = world.observed
    found = plan(world.job, old, world.now, world.kind)
    assert [each.name for each in found.delete_pods] == [W0]
    assert [each.name for each in found.creates] == [W1]
    unsettled = Observed(old.pods, old.services, frozenset({"worker"}))
    assert not plan(world.job, unsettled, world.now, world.kind).creates
