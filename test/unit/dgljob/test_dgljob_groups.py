# SPDX-License-Identifier: Apache-2.0
"""Gang scheduling of a DGLJob: one group to partition in, one to train in, never one that waits for both."""

from __future__ import annotations

import json

from dglop.common.gang import Volcano
from dglop.testing.simulation import Simulation
from test.unit.dgljob.dgljob_world import make_job, make_kind, template

CLAIM = {"type": "PVC", "claimName": "parts"}
SAID = json.dumps({"manifest": "abc", "parts": 2})


def launched(**spec):
    specs = {"Worker": {"replicas": 2, "template": template()}, "Launcher": {"template": template()}}
    return make_job(specs=specs, storage=CLAIM, **spec)


def begun(job):
    world = Simulation(job, make_kind(), gang=Volcano())
    world.settle()
    return world


def members(world):
    return {name: group["spec"]["minMember"] for name, group in world.groups.items()}


def group_of(pod):
    return pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"]


def partitioned(job):
    world = begun(job)
    world.set_group("g-partition", "Inqueue")
    world.settle()
    world.set_pod("Partitioner")
    world.settle()
    world.set_pod("Partitioner", phase="Succeeded", message=SAID)
    world.settle()
    return world


def test_the_partitioner_has_a_group_first_and_the_workers_one_when_the_parts_are_there():
    world = begun(make_job(storage=CLAIM))
    assert (members(world), world.pods) == ({"g-partition": 1}, {})
    world = partitioned(make_job(storage=CLAIM))
    assert members(world) == {"g": 2}, "what is done holds nothing in the queue"
    assert sorted(world.pods) == ["g-partitioner-0"]
    world.set_group("g", "Inqueue")
    world.settle()
    assert {name: group_of(pod) for name, pod in world.pods.items()} == {
        "g-partitioner-0": "g-partition",
        "g-worker-0": "g",
        "g-worker-1": "g",
    }


def test_a_partitioner_that_serves_keeps_its_group_while_the_workers_train():
    world = begun(make_job())
    world.set_group("g-partition", "Inqueue")
    world.settle()
    world.set_pod("Partitioner")
    world.settle()
    serves = {"name": "dglrun-serve", "ready": True, "restartCount": 0, "state": {"running": {}}}
    world.set_pod("Partitioner", exit_code=0, message=SAID)
    world.pod("Partitioner")["status"]["containerStatuses"].append(serves)
    world.settle()
    assert members(world) == {"g-partition": 1, "g": 2}


def test_a_launcher_is_in_the_workers_group_but_not_waited_for():
    for policy in ("WaitForWorkersReady", "AtStartup"):
        world = partitioned(launched(launcherCreationPolicy=policy))
        assert members(world) == {"g": 2}, policy
        assert "g-launcher-0" not in world.pods, "it would be in a group that is not there"
        world.set_group("g", "Inqueue")
        world.settle()
        assert ("g-launcher-0" in world.pods) is (policy == "AtStartup")


def test_without_partitioning_a_launcher_that_starts_with_the_workers_is_counted():
    existing = {**CLAIM, "existing": True}
    job = launched(launcherCreationPolicy="AtStartup", partitionMode="Skip", dataset=None)
    job.spec.storage = type(job.spec.storage).model_validate(existing)
    assert members(begun(job)) == {"g": 3}


def test_a_launcher_alone_is_a_group_of_one():
    job = make_job(specs={"Launcher": {"template": template()}}, partitionMode="Skip", dataset=None)
    assert members(begun(job)) == {"g": 1}


def test_the_group_asks_for_what_the_pods_as_they_are_built_ask_for():
    main = template(resources={"requests": {"cpu": "2", "memory": "1Gi"}})
    world = begun(make_job(specs={"Worker": {"replicas": 2, "template": main}}, storage=CLAIM))
    asked = world.groups["g-partition"]["spec"]["minResources"]
    assert asked["cpu"] == "2"
    assert asked["memory"] == str(2**30)


def test_worker_0_is_scheduled_by_itself_while_it_partitions_and_in_the_group_when_it_trains():
    job = make_job(storage=CLAIM, partition={"placement": "Worker"})
    world = begun(job)
    assert (members(world), sorted(world.pods)) == ({}, ["g-worker-0"])
    assert "scheduling.k8s.io/group-name" not in world.pods["g-worker-0"]["metadata"]["annotations"]
    world.set_pod("Worker")
    world.settle()
    world.set_pod("Worker", phase="Succeeded", message=SAID)
    world.settle()
    assert (members(world), world.pods) == ({"g": 2}, {})
    world.set_group("g", "Inqueue")
    world.settle()
    assert {name: group_of(pod) for name, pod in world.pods.items()} == {"g-worker-0": "g", "g-worker-1": "g"}


def test_a_launcher_that_partitions_is_a_group_of_its_own_before_that_of_the_workers():
    world = begun(launched(partition={"placement": "Launcher"}))
    assert (members(world), world.pods) == ({"g-partition": 1}, {})
    world.set_group("g-partition", "Inqueue")
    world.settle()
    assert {name: group_of(pod) for name, pod in world.pods.items()} == {"g-launcher-0": "g-partition"}
