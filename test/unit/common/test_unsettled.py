# SPDX-License-Identifier: Apache-2.0
"""While the cache lags behind our own writes, and while clocks of nodes differ."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dglop.common import Observed, RestartPolicy, plan
from dglop.common.failure import Cause, Failure
from dglop.common.restart import PEER_PATIENCE, Fate, judge
from dglop.testing.builders import T0, at
from dglop.testing.toyjob import ToyJobKind


def peer(seconds: float) -> Failure:
    policy = RestartPolicy.EXIT_CODE
    return Failure("worker", 0, "g-worker-0", Cause.PEER, policy, exit_code=143, time=at(seconds))


@pytest.mark.parametrize("gang", [True, False])
def test_a_vanished_replica_is_not_made_anew_before_its_loss_can_be_counted(simulate, gang):
    world = simulate(gang=gang, roles={"worker": 2, "launcher": 1})
    world.run_all()
    world.settle()
    world.delete_pod("worker", 1)
    seen = world.observed()
    made = plan(world.job, Observed(seen.pods, seen.services, frozenset({"launcher"})), world.now, world.kind)
    assert made.creates == ()
    assert (made.status.attempt, made.status.restart_count) == (1, 0)
    world.settle()
    assert (world.status.attempt, world.status.restart_count) == (2, 1)


def test_a_role_is_made_while_another_is_not_settled_as_long_as_nothing_has_failed(make_job):
    job = make_job(gang=True, roles={"worker": 2, "launcher": 1})
    made = plan(job, Observed(unsettled=frozenset({"worker"})), T0, ToyJobKind())
    assert [each.name for each in made.creates] == ["g-launcher-0"]


def test_a_deadline_runs_while_a_verdict_waits_for_the_cache(simulate):
    world = simulate(gang=True, roles={"worker": 1, "launcher": 1}, active_deadline_seconds=60)
    world.run_all()
    world.settle()
    world.delete_pod("worker", 0)
    seen = world.observed()
    late = world.now + timedelta(seconds=61)
    made = plan(world.job, Observed(seen.pods, seen.services, frozenset({"launcher"})), late, world.kind)
    assert made.status.get("Failed").reason == "DeadlineExceeded"


def test_a_peer_failure_of_a_clock_that_is_ahead_is_not_waited_for():
    assert judge([peer(3600)], others_alive=True, now=T0).fate is Fate.RESTART


def test_a_peer_failure_of_just_now_is_waited_for():
    verdict = judge([peer(0)], others_alive=True, now=T0)
    assert (verdict.fate, verdict.wait) == (Fate.WAIT, PEER_PATIENCE)
