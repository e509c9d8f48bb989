# SPDX-License-Identifier: Apache-2.0
"""A restart is over when what was made anew is ready, whoever decides the job's success."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dglop.common import RestartPolicy
from test.unit.pytorchjob.pytorch_world import make_job
from test.unit.pytorchjob.pytorch_world import simulate as simulate_pytorch

if TYPE_CHECKING:
    from test.unit.common.conftest import Simulate


def is_restarting(world) -> bool:
    shown = world.conditions
    assert {shown["Running"], shown["Restarting"]} == {"True", "False"}
    return bool(shown["Restarting"] == "True")


@pytest.mark.parametrize("deletes_at_once", [True, False])
@pytest.mark.parametrize("gang", [True, False])
def test_with_a_leader_that_runs_on_a_restart_lasts_until_the_new_worker_is_ready(
    simulate: Simulate, gang: bool, deletes_at_once: bool
) -> None:
    roles = {"master": 1, "worker": 2}
    world = simulate(roles=roles, leader="master", gang=gang, deletes_at_once=deletes_at_once)
    world.run_all()
    world.settle()
    world.set_pod(index=1, phase="Failed", exit_code=137)
    world.settle()
    assert is_restarting(world)
    world.finish_deletions()
    world.settle()
    assert is_restarting(world)
    world.run_all()
    world.set_pod(index=1, ready=False)
    world.settle()
    assert is_restarting(world)
    world.set_pod(index=1)
    world.settle()
    assert not is_restarting(world)


def test_a_pytorchjobs_worker_that_is_made_anew_beside_its_master_is_a_restart_until_it_runs() -> None:
    job = make_job(workers=1)
    job.spec.pytorch_replica_specs["Worker"].restart_policy = RestartPolicy.EXIT_CODE
    world = simulate_pytorch(job)
    world.run_all()
    world.settle()
    world.set_pod("Worker", phase="Failed", exit_code=137)
    world.settle()
    assert is_restarting(world)
    world.run_all()
    world.settle()
    assert not is_restarting(world)


def test_of_two_replicas_that_were_lost_one_after_the_other_both_are_waited_for(simulate: Simulate) -> None:
    world = simulate(roles={"master": 1, "worker": 2}, leader="master")
    world.run_all()
    world.settle()
    for index in (0, 1):
        world.advance(5)
        world.set_pod(index=index, phase="Failed", exit_code=137)
        world.settle()
    world.set_pod(index=1)
    world.settle()
    assert is_restarting(world)
    world.set_pod(index=0)
    world.settle()
    assert not is_restarting(world)


def test_a_replica_that_never_was_ready_holds_up_no_restart_of_another(simulate: Simulate) -> None:
    world = simulate(roles={"master": 1, "worker": 2}, leader="master")
    world.set_pod("master")
    world.set_pod(index=1)
    world.settle()
    world.advance(5)
    world.set_pod(index=1, phase="Failed", exit_code=137)
    world.settle()
    assert is_restarting(world)
    world.set_pod(index=1)
    world.settle()
    assert not is_restarting(world)
