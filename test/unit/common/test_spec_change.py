# SPDX-License-Identifier: Apache-2.0
"""A spec that is changed while the job runs: its pods stay as they are, and one event says so."""

from __future__ import annotations

from dglop.testing.builders import pod_template


def _change(world, generation):
    world.job.spec.replica_specs["worker"].template = pod_template(image=f"image-{generation}")
    world.job.metadata.generation = generation
    world.settle()


def _told(world):
    return [event.reason for event in world.events].count("SpecChangeIgnored")


def test_a_changed_template_of_a_running_job_is_told_once_and_moves_no_pod(simulate):
    world = simulate()
    world.run_all()
    world.settle()
    _change(world, 2)
    world.settle()
    assert _told(world) == 1
    assert world.deletes == []
    assert world.status.observed_generation == 2
    _change(world, 3)
    assert _told(world) == 2


def test_a_changed_run_policy_is_followed_and_no_event_is_needed(simulate):
    world = simulate(backoff_limit=1)
    world.job.spec.run_policy.backoff_limit = 3
    world.job.metadata.generation = 2
    world.settle()
    assert _told(world) == 0


def test_a_template_that_is_changed_while_suspended_is_what_the_pods_are_made_from(simulate):
    world = simulate()
    world.job.spec.run_policy.suspend = True
    world.job.metadata.generation = 2
    world.settle()
    _change(world, 3)
    world.job.spec.run_policy.suspend = False
    world.job.metadata.generation = 4
    world.settle()
    assert _told(world) == 0
    assert world.pod()["spec"]["containers"][0]["image"] == "image-3"
