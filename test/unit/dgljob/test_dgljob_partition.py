# SPDX-License-Identifier: Apache-2.0
"""The partition: latched once, lost with its server only where somebody must fetch, never mixed."""

from __future__ import annotations

import pytest

from dglop.common import Observed, plan
from test.unit.dgljob.dgljob_pods import env
from test.unit.dgljob.dgljob_world import World, make_job

P, W0, W1 = "g-partitioner-0", "g-worker-0", "g-worker-1"


def env_of(pod, container, name):
    every = [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]
    found = next(each for each in every if each["name"] == container)
    return env(found).get(name)


def trained() -> World:
    world = World(make_job())
    world.partition()
    world.train()
    return world


def test_what_the_partitioner_says_is_written_down():
    world = World(make_job())
    world.partition(manifest="cafe")
    partition = world.job.status.partition
    assert partition.state == "Succeeded"
    assert partition.ready == "2/2"
    assert partition.manifest_hash == "cafe"
    assert partition.partitioner_uid == "uid-1"
    assert partition.bytes == 1000
    assert partition.message == "1797 nodes, 28410 edges, edge cut 4.1 %"
    assert "Partitioned" in world.events


def test_a_termination_message_that_is_no_json_latches_without_a_hash():
    world = World(make_job())
    world.settle()
    world.run(P)
    world.end(P, 0, "done")
    world.ready(P, "dglrun-serve")
    world.settle()
    assert world.job.status.partition.is_latched
    assert world.job.status.partition.manifest_hash is None


def test_workers_are_told_which_parts_are_right():
    world = World(make_job())
    world.partition(manifest="cafe")
    assert env_of(world.pods[W0], "dglop-fetch", "DGLJOB_MANIFEST_HASH") == "cafe"
    assert env_of(world.pods[W0], "dgl", "DGLJOB_MANIFEST_HASH") == "cafe"


def test_later_unreadiness_of_the_server_changes_nothing():
    world = trained()
    for each in world.pods[P]["status"]["containerStatuses"]:
        each["ready"] = False
    world.settle()
    assert world.job.status.partition.is_latched
    assert world.phases[-1] == "Training"


def test_a_partitioner_lost_while_workers_train_is_no_failure_and_is_not_made_again():
    world = trained()
    del world.pods[P]
    world.settle()
    assert world.created.count(P) == 1
    assert world.job.status.restart_count == 0
    assert world.job.status.disruption_count == 0
    world.finish()
    assert world.phases[-1] == "Completed"


def test_a_partitioner_evicted_while_workers_train_is_left_alone():
    world = trained()
    world.pods[P]["status"] = {"phase": "Failed", "reason": "Evicted"}
    world.settle()
    assert world.job.status.attempt == 1
    world.finish()
    assert world.job.status.is_true("Succeeded")


def test_a_lost_partitioner_is_made_again_when_an_attempt_must_fetch():
    world = trained()
    del world.pods[P]
    world.settle()
    world.end(W1, 137)
    world.settle()
    assert world.created.count(P) == 2
    assert world.events.count("PartsLost") == 1
    assert not world.job.status.partition.is_latched
    assert world.job.status.get("Partitioned").status == "False"
    world.partition(manifest="new")
    assert env_of(world.pods[W0], "dglop-fetch", "DGLJOB_MANIFEST_HASH") == "new"
    world.train()
    world.finish()
    assert world.job.status.is_true("Succeeded")
    assert world.job.status.restart_count == 1
    assert world.phases[5:] == [
        "Restarting", "Partitioning", "Partitioned", "Dispatching", "Training", "Completed",
    ]  # fmt: skip


def test_an_evicted_partitioner_is_replaced_when_an_attempt_must_fetch():
    world = trained()
    world.pods[P]["status"] = {"phase": "Failed", "reason": "Evicted"}
    world.settle()
    world.end(W0, 137)
    world.settle()
    assert world.created.count(P) == 2
    world.partition(manifest="new")
    world.train()
    world.finish()
    assert world.job.status.is_true("Succeeded")
    assert world.job.status.restart_count == 1


def test_a_partitioner_lost_while_workers_fetch_begins_a_new_attempt_as_a_disruption():
    world = World(make_job())
    world.partition(manifest="old")
    world.run(W0)
    world.run(W1, fetched=False)
    world.settle()
    del world.pods[P]
    world.settle()
    assert world.job.status.attempt == 2
    assert world.job.status.restart_count == 0
    assert world.job.status.disruption_count == 1
    assert W0 not in world.pods, "what has the old parts begins anew"
    world.partition(manifest="new")
    assert {env_of(world.pods[each], "dglop-fetch", "DGLJOB_MANIFEST_HASH") for each in (W0, W1)} == {"new"}
    assert {env_of(world.pods[each], "dgl", "DGLJOB_ATTEMPT") for each in (W0, W1)} == {"2"}
    world.train()
    world.finish()
    assert world.job.status.is_true("Succeeded")
    assert world.job.status.restart_count == 0


def test_a_server_that_ends_before_it_was_ready_is_replaced():
    world = World(make_job())
    world.settle()
    world.run(P)
    world.settle()
    world.end(P, 0, '{"manifest": "abc"}')
    world.end(P, 1, container="dglrun-serve")
    world.settle()
    assert world.created.count(P) == 2
    assert world.job.status.disruption_count == 1
    world.partition()
    world.train()
    world.finish()
    assert world.job.status.is_true("Succeeded")


def evict(world: World) -> None:
    world.pods[P]["status"] |= {"phase": "Failed", "reason": "Evicted"}
    world.settle()


def test_partitioners_that_are_lost_again_and_again_while_workers_fetch_end_the_job_at_its_limit():
    world = World(make_job(runPolicy={"backoffLimit": 0, "disruptionLimit": 2}))
    for _ in range(3):
        assert not world.job.status.is_true("Failed")
        world.partition()
        for each in (W0, W1):
            world.run(each, fetched=False)
        world.settle()
        evict(world)
    assert world.job.status.get("Failed").reason == "DisruptionLimitExceeded"
    assert world.created.count(P) == 3


def test_servers_that_end_before_they_were_ready_end_the_job_at_its_limit():
    world = World(make_job(runPolicy={"disruptionLimit": 0}))
    world.settle()
    world.run(P)
    world.settle()
    world.end(P, 0, '{"manifest": "abc"}')
    world.end(P, 1, container="dglrun-serve")
    world.settle()
    assert world.job.status.get("Failed").reason == "DisruptionLimitExceeded"


def test_the_exemption_of_a_lost_partitioner_does_not_pass_to_the_next_one():
    world = World(make_job(runPolicy={"backoffLimit": 0}))
    world.partition()
    evict(world)
    assert world.created.count(P) == 2
    assert not world.job.status.is_true("Failed")
    world.run(P)
    world.settle()
    del world.pods[P]
    world.settle()
    assert world.job.status.get("Failed").reason == "BackoffLimitExceeded"


def test_no_worker_is_made_by_the_look_that_finds_the_parts_lost():
    world = World(make_job())
    world.settle()
    world.run(P)
    world.settle()
    world.end(P, 0, '{"manifest": "old"}')
    world.ready(P, "dglrun-serve")
    while not world.job.status.is_latched:
        world.step()
    del world.pods[P]
    world.settle()
    assert W0 not in world.created
    assert world.job.status.disruption_count == 1
    world.partition(manifest="new")
    assert env_of(world.pods[W0], "dglop-fetch", "DGLJOB_MANIFEST_HASH") == "new"


def test_a_worker_that_vanishes_after_the_partitioner_did_is_still_counted():
    world = trained()
    del world.pods[P]
    world.settle()
    del world.pods[W1]
    world.settle()
    assert (world.job.status.restart_count, world.job.status.disruption_count) == (1, 0)


def test_a_worker_that_vanishes_is_no_disruption_while_a_role_is_not_settled():
    world = trained()
    del world.pods[P], world.pods[W1]
    seen = world.observed
    made = plan(world.job, Observed(seen.pods, seen.services, frozenset({"launcher"})), world.now, world.kind)
    assert (made.status.attempt, made.status.disruption_count, made.creates) == (1, 0, ())


def test_a_partitioner_that_a_quick_resumption_deletes_is_not_latched():
    world = trained()
    world.job.spec.run_policy.suspend = True
    world.step()
    world.job.spec.run_policy.suspend = False
    world.step()
    assert not world.pods
    assert not world.job.status.is_latched
    world.partition(manifest="new")
    world.train()
    world.finish()
    assert world.job.status.is_true("Succeeded")
    assert world.events.count("PartsLost") == 1


@pytest.mark.parametrize("done", [False, True])
def test_a_job_that_got_more_workers_while_nobody_looked_begins_anew(done):
    world = trained()
    if done:
        world.end(W0)
        world.settle()
    world.job.spec.dgl_replica_specs["Worker"].replicas = 3
    world.settle()
    assert (world.job.status.attempt, world.job.status.restart_count) == (2, 0)
    assert set(world.pods) == {P}
    world.partition(manifest="three")
    assert {W0, W1, "g-worker-2"} < set(world.pods)
    assert {env_of(world.pods[each], "dgl", "DGLJOB_NUM_WORKERS") for each in (W0, W1)} == {"3"}
    world.train()
    world.finish()
    assert world.job.status.is_true("Succeeded")


def test_parts_that_were_found_ready_are_called_reused():
    world = World(make_job(storage={"type": "PVC", "claimName": "parts"}))
    world.settle()
    world.run(P)
    world.end(P, 0, '{"manifest": "abc", "reused": true}')
    world.settle()
    assert world.job.status.partition.state == "Reused"
    assert W0 in world.created


def test_a_job_that_got_more_workers_while_suspended_partitions_again_on_its_claim():
    world = World(make_job(storage={"type": "PVC", "claimName": "parts"}))
    world.partition(manifest="two")
    world.train()
    world.job.spec.run_policy.suspend = True
    world.settle()
    world.job.spec.dgl_replica_specs["Worker"].replicas = 3
    world.job.spec.run_policy.suspend = False
    world.settle()
    assert world.created.count(P) == 2
    assert world.job.status.partition.total == 3
    world.partition(manifest="three")
    world.train()
    world.finish()
    assert world.job.status.is_true("Succeeded")
    assert env_of(world.pods[W0], "dgl", "DGLJOB_MANIFEST_HASH") == "three"
    assert world.job.status.partition.ready == "3/3"
