# SPDX-License-Identifier: Apache-2.0
"""The condition table: what is true when, and that nothing ever vanishes."""

from __future__ import annotations

from itertools import pairwise

import pytest

from dglop.common import RestartPolicy
from dglop.testing.builders import T0
from dglop.testing.simulation import Simulation
from dglop.testing.toyjob import ToyJobKind


def test_the_first_status_has_created_start_time_and_generation(make_job):
    world = Simulation(make_job(), ToyJobKind())
    world.step()
    created = world.status.get("Created")
    assert (created.status, created.reason) == ("True", "TestJobCreated")
    assert world.status.start_time == T0
    assert world.status.observed_generation == 1
    assert [event.reason for event in world.events] == ["TestJobCreated"]


def test_a_scripted_run_shows_the_vectors_of_the_table(simulate):
    world = simulate()
    seen = [world.conditions]
    world.run_all()
    world.settle()
    seen.append(world.conditions)
    world.set_pod(index=1, phase="Failed", exit_code=137)
    world.step()
    seen.append(world.conditions)
    world.settle()
    world.run_all()
    world.settle()
    seen.append(world.conditions)
    for index in range(2):
        world.set_pod(index=index, phase="Succeeded")
    world.settle()
    seen.append(world.conditions)
    assert seen == [
        {"Created": "True"},
        {"Created": "True", "Running": "True"},
        {"Created": "True", "Running": "False", "Restarting": "True"},
        {"Created": "True", "Running": "True", "Restarting": "False"},
        {"Created": "True", "Running": "False", "Restarting": "False", "Succeeded": "True"},
    ]
    assert all(set(before) <= set(after) for before, after in pairwise(seen))


def test_a_transition_time_changes_only_with_its_status(simulate):
    world = simulate()
    world.run_all()
    world.settle()
    before = world.status.get("Running").last_transition_time
    world.advance(60)
    world.set_pod(index=0, restarts=0)
    world.settle()
    assert world.status.get("Running").last_transition_time == before


def test_a_created_suspended_job_has_nothing_but_its_conditions(make_job):
    world = Simulation(make_job(suspend=True), ToyJobKind())
    world.settle()
    assert (world.pods, world.services, world.objects) == ({}, {}, {})
    assert world.conditions == {"Created": "True", "Suspended": "True"}
    assert world.status.start_time is None
    assert world.status.attempt == 1


def test_suspension_deletes_all_pods_even_under_policy_none_and_says_so_once(simulate):
    world = simulate(deletes_at_once=False)
    world.run_all()
    world.settle()
    world.job.spec.run_policy.suspend = True
    world.settle()
    assert world.conditions == {"Created": "True", "Running": "False", "Suspended": "True"}
    assert world.status.replica_statuses["worker"].active == 2  # until they are gone
    world.finish_deletions()
    for _ in range(10):
        world.settle()
    assert world.status.replica_statuses["worker"].active == 0
    assert [event.reason for event in world.events].count("TestJobSuspended") == 1


def test_a_resumed_job_starts_its_clock_anew_and_uses_the_present_template(simulate):
    world = simulate(active_deadline_seconds=100)
    world.run_all()
    world.settle()
    world.advance(90)
    world.job.spec.run_policy.suspend = True
    world.settle()
    world.advance(1000)
    world.job.spec.run_policy.suspend = False
    template = world.job.spec.replica_specs["worker"].template
    template["spec"]["nodeSelector"] = {"flavor": "b"}
    world.settle()
    assert world.status.start_time == world.now
    suspended = world.status.get("Suspended")
    assert (suspended.status, suspended.reason) == ("False", "TestJobResumed")
    assert world.pod()["spec"]["nodeSelector"] == {"flavor": "b"}
    world.advance(90)
    assert not world.status.is_true("Failed")
    assert world.status.restart_count == 0


def test_pods_that_still_end_after_a_quick_resume_count_nowhere(simulate):
    world = simulate(deletes_at_once=False, restart=RestartPolicy.EXIT_CODE)
    world.run_all()
    world.settle()
    world.job.spec.run_policy.suspend = True
    world.settle()
    world.job.spec.run_policy.suspend = False
    for index in range(2):
        pod = world.pod(index=index)
        pod["status"] = {
            "phase": "Failed",
            "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 1}}}],
        }
    world.settle()
    assert not world.status.is_true("Failed")
    world.finish_deletions()
    world.settle()
    assert len(world.creates) == 4
    assert world.status.restart_count == 0


def test_a_finished_job_is_not_suspended(simulate):
    world = simulate()
    for index in range(2):
        world.set_pod(index=index, phase="Succeeded")
    world.settle()
    world.job.spec.run_policy.suspend = True
    world.settle()
    assert world.status.get("Suspended") is None


def test_a_job_that_another_controller_manages_is_not_touched(make_job):
    world = Simulation(make_job(managed_by="kueue.x-k8s.io/multikueue"), ToyJobKind())
    made = world.step()
    assert (made.creates, made.services, world.writes, world.events) == ((), (), [], [])


def test_events_are_sent_for_transitions_alone(simulate):
    world = simulate()
    world.run_all()
    world.settle()
    for index in range(2):
        world.set_pod(index=index, phase="Succeeded")
    world.settle()
    for _ in range(10):
        world.settle()
    reasons = [event.reason for event in world.events]
    assert reasons == ["TestJobCreated", "TestJobRunning", "TestJobSucceeded"]


def test_success_of_the_leader_is_success_of_the_job_though_others_run(simulate):
    world = simulate(roles={"launcher": 1, "worker": 2}, leader="launcher")
    world.run_all()
    world.set_pod("launcher", phase="Succeeded")
    world.settle()
    assert world.status.is_true("Succeeded")


def test_running_looks_at_the_main_container_and_not_at_an_unready_sidecar(simulate):
    world = simulate(workers=1)
    world.pod()["status"] = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "False"}],
        "containerStatuses": [
            {"name": "main", "ready": True, "state": {"running": {}}},
            {"name": "proxy", "ready": False, "state": {"running": {}}},
        ],
    }
    world.settle()
    assert world.status.is_true("Running")


def test_why_pods_cannot_be_scheduled_is_copied_up_into_one_condition(simulate):
    world = simulate(workers=4)
    message = "0/3 nodes: insufficient nvidia.com/gpu"
    for pod in world.pods.values():
        pod["status"] = {
            "phase": "Pending",
            "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
            ],
        }
    world.settle()
    running = world.status.get("Running")
    assert (running.status, running.reason) == ("False", "Unschedulable")
    assert running.message == f"{message} (worker-0 … worker-3)"
    for pod in world.pods.values():
        pod["status"] = {"phase": "Pending"}
    world.settle()
    assert world.status.get("Running").reason == "Waiting"


@pytest.mark.parametrize("reason", ["SchedulingGated", "SchedulerError", "AnyOther"])
def test_whatever_held_a_pod_is_no_longer_said_once_it_is_over(simulate, reason):
    world = simulate(workers=1)
    held = {"type": "PodScheduled", "status": "False", "reason": reason, "message": "blocked"}
    world.pod()["status"] = {"phase": "Pending", "conditions": [held]}
    world.settle()
    assert world.status.get("Running").reason == reason
    world.pod()["status"] = {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}]}
    world.settle()
    assert world.status.get("Running").reason == "Waiting"


def test_a_step_of_the_job_stays_said_while_its_pods_are_on_their_way(simulate):
    world = simulate(workers=1)
    world.run_all()
    world.settle()
    world.set_pod(phase="Failed", exit_code=137)
    world.settle()
    assert world.status.get("Running").reason == "TestJobRestarting"


def test_an_image_that_cannot_be_pulled_is_named(simulate):
    world = simulate(workers=1)
    world.set_pod(phase="Pending", waiting="ErrImagePull", waiting_message="no such image")
    world.settle()
    running = world.status.get("Running")
    assert (running.reason, running.message) == ("ImagePullBackOff", "no such image (worker-0)")
