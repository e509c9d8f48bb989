# SPDX-License-Identifier: Apache-2.0
"""Parts that are not to be retained: each attempt makes its own."""

from __future__ import annotations

import pytest

from test.unit.dgljob.dgljob_pods import container, env
from test.unit.dgljob.dgljob_world import World, make_job

P, W0, W1 = "g-partitioner-0", "g-worker-0", "g-worker-1"
CLAIM = {"type": "PVC", "claimName": "parts"}
WHOLE = ["Pending", "Partitioning", "Partitioned", "Dispatching", "Training", "Completed"]


@pytest.mark.parametrize("storage", [None, CLAIM], ids=["emptyDir", "claim"])
def test_parts_that_are_not_to_be_retained_are_made_anew_by_every_attempt(storage):
    spec = {"storage": storage} if storage else {}
    world = World(make_job(partition={"retainOnRestart": False}, **spec))
    world.partition(manifest="old")
    assert env(container(world.pods[P]["spec"]))["DGLJOB_RETAIN_PARTS"] == "0"
    world.train()
    world.end(W1, 137)
    world.settle()
    assert world.created.count(P) == 2
    assert list(world.pods) == [P], "no Worker begins before the new parts are there"
    assert world.job.status.restart_count == 1
    assert "PartsLost" not in world.events
    world.partition(manifest="new")
    assert env(container(world.pods[W0]["spec"]))["DGLJOB_MANIFEST_HASH"] == "new"
    world.train()
    world.finish()
    assert world.phases[5:] == ["Restarting", *WHOLE[1:]]


def test_a_server_lost_in_training_counts_nowhere_though_its_parts_are_not_to_be_retained():
    world = World(make_job(partition={"retainOnRestart": False}))
    world.partition()
    world.train()
    del world.pods[P]
    world.settle()
    world.finish()
    assert world.job.status.is_true("Succeeded")
    assert (world.created.count(P), world.job.status.restart_count) == (1, 0)
