# SPDX-License-Identifier: Apache-2.0
"""The phases of a job: each once, in order, never back within an attempt."""

from __future__ import annotations

import pytest

from test.unit.dgljob.dgljob_world import World, make_job, template

WHOLE = ["Pending", "Partitioning", "Partitioned", "Dispatching", "Training", "Completed"]
CLAIM = {"type": "PVC", "claimName": "parts"}


def test_each_phase_is_seen_once_and_in_order():
    world = World(make_job())
    world.partition()
    world.train()
    world.finish()
    assert world.phases == WHOLE
    assert world.created == ["g-partitioner-0", "g-worker-0", "g-worker-1"]


def test_phases_are_seen_even_where_all_is_over_at_the_first_look():
    world = World(make_job())
    world.partition()
    for name in ("g-worker-0", "g-worker-1"):
        world.run(name)
        world.end(name)
    world.settle()
    assert world.phases == WHOLE


def test_no_worker_is_made_before_the_parts_are_ready():
    world = World(make_job())
    world.settle()
    world.run("g-partitioner-0")
    world.settle()
    assert world.created == ["g-partitioner-0"]
    world.end("g-partitioner-0", 0, '{"manifest": "abc"}')
    world.settle()
    assert world.created == ["g-partitioner-0"], "the parts are written, but nobody serves them yet"
    world.ready("g-partitioner-0", "dglrun-serve")
    world.settle()
    assert world.created == ["g-partitioner-0", "g-worker-0", "g-worker-1"]


def test_on_a_claim_the_partitioner_ends_and_the_workers_follow():
    world = World(make_job(storage=CLAIM))
    world.partition()
    assert [each["name"] for each in world.pods["g-partitioner-0"]["spec"]["containers"]] == ["dgl"]
    world.train()
    world.finish()
    assert world.phases == WHOLE
    assert world.created.count("g-partitioner-0") == 1


def test_a_job_with_only_a_launcher_completes_by_it():
    launcher = {"Launcher": {"template": template()}}
    world = World(make_job(specs=launcher, partitionMode="Skip", dataset=None))
    world.settle()
    assert world.created == ["g-launcher-0"]
    world.run("g-launcher-0", ready=True)
    world.settle()
    world.end("g-launcher-0")
    world.settle()
    assert world.phases == ["Pending", "Training", "Completed"]
    assert world.job.status.is_true("Succeeded")
    assert world.job.status.completion_time is not None
    assert not world.objects, "nothing needs a token"


def test_workers_on_existing_parts_start_at_once():
    world = World(make_job(partitionMode="Skip", storage={**CLAIM, "existing": True}))
    world.settle()
    assert world.created == ["g-worker-0", "g-worker-1"]
    world.train()
    world.finish()
    assert world.phases == ["Pending", "Dispatching", "Training", "Completed"]
    assert world.job.status.partition.state == "Skipped"


def test_a_failed_partition_fails_the_job_with_its_own_reason():
    specs = {
        "Partitioner": {"restartPolicy": "Never", "template": template()},
        "Worker": {"replicas": 2, "template": template()},
    }
    world = World(make_job(specs=specs))
    world.settle()
    world.run("g-partitioner-0")
    world.settle()
    world.end(
        "g-partitioner-0", 1, '{"cause": "self", "process": "partition", "exitCode": 1, "lines": ["boom"]}'
    )
    world.end("g-partitioner-0", 0, container="dglrun-serve")
    world.settle()
    failed = world.job.status.get("Failed")
    assert failed.status == "True"
    assert failed.reason == "PartitionFailed"
    assert "boom" in failed.message
    assert world.job.status.partition.state == "Failed"
    assert world.phases[-1] == "Failed"
    assert "g-worker-0" not in world.created


def test_a_partition_that_is_killed_is_made_again_as_a_new_attempt():
    world = World(make_job())
    world.settle()
    world.run("g-partitioner-0")
    world.settle()
    world.end("g-partitioner-0", 137)
    world.end("g-partitioner-0", 0, container="dglrun-serve")
    world.settle()
    world.partition()
    world.train()
    world.finish()
    assert world.job.status.is_true("Succeeded")
    assert world.job.status.partition.attempt == 2
    assert world.job.status.restart_count == 1
    assert world.phases == ["Pending", "Partitioning", "Restarting", *WHOLE[1:]]


def test_a_worker_that_fails_restarts_all_on_the_same_parts():
    world = World(make_job())
    world.partition()
    world.train()
    world.end("g-worker-1", 137)
    world.settle()
    assert world.job.status.attempt == 2
    assert world.phases[-2:] == ["Restarting", "Dispatching"]
    world.train()
    world.finish()
    assert world.phases[5:] == ["Restarting", "Dispatching", "Training", "Completed"]
    assert world.created.count("g-partitioner-0") == 1
    assert world.created.count("g-worker-0") == 2
    assert world.job.status.restart_count == 1


def test_a_worker_that_exits_with_1_fails_the_job():
    world = World(make_job())
    world.partition()
    world.train()
    world.end(
        "g-worker-1", 1, '{"cause":"self","process":"trainer-0","exitCode":1,"lines":["ValueError: no"]}'
    )
    world.settle()
    failed = world.job.status.get("Failed")
    assert failed.status == "True"
    for word in ("g-worker-1", "trainer-0", "1", "ValueError: no"):
        assert word in failed.message
    assert world.phases[-1] == "Failed"
    assert "g-partitioner-0" not in world.pods, "a server is ended with the job"


@pytest.mark.parametrize("storage", [None, CLAIM], ids=["emptyDir", "claim"])
def test_a_resumed_job_partitions_again_only_where_the_parts_were_lost(storage):
    world = World(make_job(**({"storage": storage} if storage else {})))
    world.partition()
    world.train()
    world.job.spec.run_policy.suspend = True
    world.settle()
    assert world.phases[-1] == "Suspended"
    assert not world.pods
    assert world.job.status.partition.is_latched is (storage is not None)
    assert world.events.count("PartsLost") == (0 if storage else 1)
    world.job.spec.run_policy.suspend = False
    world.settle()
    if storage is None:
        world.partition(manifest="def")
    world.train()
    world.finish()
    assert world.job.status.is_true("Succeeded")
    assert world.created.count("g-partitioner-0") == (1 if storage else 2)
    again = ["Pending", "Dispatching", "Training", "Completed"] if storage else WHOLE
    assert world.phases == [*WHOLE[:5], "Suspended", *again]


def test_a_job_that_is_created_suspended_has_no_pods():
    world = World(make_job(runPolicy={"suspend": True}))
    world.settle()
    assert world.phases == ["Suspended"]
    assert not world.created
    assert not world.objects
    assert world.job.status.start_time is None


@pytest.mark.parametrize("is_over", [False, True])
def test_a_look_hours_later_at_a_job_that_has_not_changed_finds_nothing_to_write(is_over):
    world = World(make_job())
    world.partition()
    world.train()
    if is_over:
        world.finish()
    world.settle()
    before, events = world.job.status.to_wire(), list(world.events)
    world.wait(11 * 3600)
    assert not world.step()
    assert (world.job.status.to_wire(), world.events) == (before, events)


def test_a_stage_that_is_reached_is_progress():
    world = World(make_job())
    assert world.kind.last_progress(world.job, world.observed) is None
    world.settle()
    world.wait(60)
    world.run("g-partitioner-0")
    world.settle()
    assert world.kind.last_progress(world.job, world.observed) == world.now
    world.wait(60)
    world.partition()
    world.wait(60)
    world.train()
    assert world.kind.last_progress(world.job, world.observed) == world.now


def test_a_launcher_beside_workers_waits_until_they_are_ready():
    specs = {
        "Worker": {"replicas": 2, "template": template()},
        "Launcher": {"template": template()},
    }
    world = World(make_job(specs=specs))
    world.partition()
    assert "g-launcher-0" not in world.created
    world.train()
    assert world.created[-1] == "g-launcher-0"
    world.finish()
    assert world.job.status.is_true("Succeeded")


def test_the_status_of_a_large_job_stays_small():
    specs = {"Worker": {"replicas": 1000, "template": template()}}
    world = World(make_job(specs=specs))
    world.partition()
    world.train()
    assert world.job.status.phase == "Training"
    assert len(str(world.job.status.to_wire())) < 8192
