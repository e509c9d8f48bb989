# SPDX-License-Identifier: Apache-2.0
"""failureRules: what follows from a failure, where the job itself says so."""

from __future__ import annotations

import pytest

from test.unit.dgljob.dgljob_world import World, make_job

P, W0, W1 = "g-partitioner-0", "g-worker-0", "g-worker-1"
SELF = '{"cause": "self", "process": "trainer-0", "exitCode": %d, "lines": ["as it says"]}'


def trained(*rules, **policy):
    world = World(make_job(failureRules=list(rules), runPolicy=policy))
    world.partition()
    world.train()
    return world


def rule(name, action, **more):
    return {"name": name, "action": action, **more}


def exits(world, code, *, name=W1):
    world.end(name, code, SELF % code)
    world.settle()


def test_an_exit_code_that_would_be_final_is_tried_again():
    world = trained(rule("away", "RestartJob", onExitCodes=[75]))
    exits(world, 75)
    assert (world.job.status.attempt, world.job.status.restart_count) == (2, 1)
    assert "failure rule away" in world.job.status.last_failure.message


def test_an_exit_code_that_would_be_tried_again_is_final():
    world = trained(rule("bug", "Fail", onExitCodes=[134, 139]))
    exits(world, 139)
    failed = world.job.status.get("Failed")
    assert failed.status == "True"
    assert "trainer-0 exited with code 139" in failed.message
    assert "failure rule bug: as it says" in failed.message


def test_a_restart_that_ignores_the_limit_counts_as_a_disruption():
    world = trained(
        rule("free", "RestartJobIgnoreLimit", onExitCodes=[137]), backoffLimit=0, disruptionLimit=1
    )
    exits(world, 137)
    assert (world.job.status.restart_count, world.job.status.disruption_count) == (0, 1)
    world.train()
    exits(world, 137)
    assert world.job.status.get("Failed").reason == "DisruptionLimitExceeded"


def test_an_eviction_is_held_against_the_limit_where_a_rule_says_so():
    world = trained(rule("evicted", "RestartJob", onPodReasons=["Evicted"]))
    world.pods[W1]["status"] |= {"phase": "Failed", "reason": "Evicted"}
    world.settle()
    assert (world.job.status.restart_count, world.job.status.disruption_count) == (1, 0)


@pytest.mark.parametrize("reason", ["Evicted", "Deleted"])
def test_what_comes_from_outside_can_be_final(reason):
    world = trained(rule("never", "Fail", onPodReasons=[reason]))
    if reason == "Deleted":
        del world.pods[W1]
    else:
        world.pods[W1]["status"] |= {"phase": "Failed", "reason": reason}
    world.settle()
    assert world.job.status.is_true("Failed")


def test_the_first_rule_that_matches_decides():
    world = trained(rule("one", "RestartJob", onExitCodes=[3]), rule("all", "Fail"))
    exits(world, 3)
    assert "failure rule one" in world.job.status.last_failure.message
    world.train()
    exits(world, 137)
    assert "failure rule all" in world.job.status.get("Failed").message


@pytest.mark.parametrize(
    "more",
    [
        {"targetReplicas": ["Partitioner"]},
        {"onExitCodes": [4]},
        {"onExitCodes": [137], "onPodReasons": ["OOMKilled"]},
    ],
)
def test_a_rule_of_which_one_statement_does_not_hold_decides_nothing(more):
    world = trained(rule("other", "Fail", **more))
    exits(world, 137)
    assert world.job.status.attempt == 2
    assert "failure rule" not in world.job.status.last_failure.message


def test_who_ended_because_of_another_is_matched_by_no_rule():
    world = trained(rule("all", "RestartJob", onExitCodes=[143]))
    world.end(W0, 143, '{"cause": "peer", "pod": "g-worker-1", "process": "trainer-0", "exitCode": 1}')
    exits(world, 1)
    assert world.job.status.is_true("Failed")
    assert "failure rule" not in world.job.status.get("Failed").message


def test_a_rule_for_the_partitioner_that_nobody_wrote():
    world = World(make_job(failureRules=[rule("once", "Fail", targetReplicas=["Partitioner"])]))
    world.settle()
    world.run(P)
    world.settle()
    world.end(P, 137)
    world.end(P, 0, container="dglrun-serve")
    world.settle()
    assert world.job.status.get("Failed").reason == "PartitionFailed"
