# SPDX-License-Identifier: Apache-2.0
"""cleanPodPolicy, ttlSecondsAfterFinished and the end of a job."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dglop.common import CleanPodPolicy
from dglop.common.cleanup import is_cleaned
from dglop.testing.builders import at, container_status, make_pod, pod_template


def finish(world, *, workers):
    for index in range(workers):
        world.set_pod(index=index, phase="Succeeded")
    world.settle()


def test_policy_none_keeps_all_pods_and_services_of_a_succeeded_job(simulate):
    world = simulate(workers=3, clean_pod_policy=CleanPodPolicy.NONE)
    world.run_all()
    world.settle()
    finish(world, workers=3)
    assert world.status.is_true("Succeeded")
    assert world.status.completion_time == world.now
    assert world.deletes == []
    replica = world.status.replica_statuses["worker"]
    assert (replica.active, replica.succeeded, replica.failed) == (0, 3, 0)


@pytest.mark.parametrize("phase", ["Running", "Pending", "Failed", "Succeeded"])
@pytest.mark.parametrize(
    ("policy", "goes"),
    [
        (CleanPodPolicy.ALL, {"Running", "Pending", "Failed", "Succeeded"}),
        (CleanPodPolicy.RUNNING, {"Running", "Pending"}),
        (CleanPodPolicy.NONE, set()),
    ],
)
def test_each_policy_deletes_its_phases_and_keeps_the_others(policy, goes, phase):
    assert is_cleaned(policy, make_pod(phase=phase), is_serving=False) == (phase in goes)


def test_a_server_is_ended_with_the_job_whatever_the_policy_says():
    assert is_cleaned(CleanPodPolicy.NONE, make_pod(phase="Running"), is_serving=True)
    assert not is_cleaned(CleanPodPolicy.NONE, make_pod(phase="Succeeded"), is_serving=True)


def test_policy_running_deletes_running_and_pending_pods_and_their_services_alone(simulate):
    world = simulate(workers=4, clean_pod_policy=CleanPodPolicy.RUNNING)
    world.set_pod(index=0)
    world.set_pod(index=2, phase="Failed", exit_code=1)
    world.set_pod(index=3, phase="Succeeded")
    world.settle()
    assert world.status.is_true("Failed")
    assert sorted(world.deletes) == ["g-worker-0", "g-worker-1", "service/g-worker-0", "service/g-worker-1"]
    assert sorted(world.services) == ["g-worker-2", "g-worker-3"]


def test_policy_all_deletes_everything_and_a_second_sync_nothing_more(simulate):
    roles = {"launcher": 1, "worker": 3}
    world = simulate(roles=roles, clean_pod_policy=CleanPodPolicy.ALL, leader="launcher")
    world.run_all()
    world.set_pod("launcher", phase="Succeeded")
    world.settle()
    assert world.pods == {}
    assert world.services == {}
    before = list(world.deletes)
    world.settle()
    assert world.deletes == before


def test_the_terminal_condition_is_written_before_any_pod_is_deleted(simulate):
    world = simulate(clean_pod_policy=CleanPodPolicy.ALL)
    world.set_pod(phase="Failed", exit_code=1)
    made = world.step()
    assert made.status.is_true("Failed")
    assert made.status.completion_time == world.now
    assert (made.delete_pods, made.creates) == ((), ())


def test_policy_none_holds_where_the_backoff_limit_ends_the_job(simulate):
    world = simulate(clean_pod_policy=CleanPodPolicy.NONE, backoff_limit=0)
    world.set_pod(phase="Failed", exit_code=137)
    world.settle()
    assert world.status.is_true("Failed")
    assert world.deletes == []


def test_a_finished_job_is_deleted_when_its_ttl_is_over_and_not_before(simulate):
    world = simulate(ttl_seconds_after_finished=100)
    finish(world, workers=2)
    assert world.wakes_at == world.now + timedelta(seconds=100)
    world.advance(99)
    assert not world.is_deleted
    world.advance(2)
    assert world.is_deleted


def test_a_ttl_of_zero_deletes_only_after_success_was_written(simulate):
    world = simulate(ttl_seconds_after_finished=0)
    for index in range(2):
        world.set_pod(index=index, phase="Succeeded")
    assert not world.step().delete_job
    assert world.writes[-1].is_true("Succeeded")
    assert world.step().delete_job


def test_a_ttl_is_ignored_while_the_job_is_suspended(simulate):
    world = simulate(ttl_seconds_after_finished=10)
    world.run_all()
    world.settle()
    world.job.spec.run_policy.suspend = True
    world.settle()
    world.advance(1000)
    assert not world.is_deleted
    assert world.pods == {}


def test_a_completion_time_in_the_future_defers_the_deletion(simulate):
    world = simulate(ttl_seconds_after_finished=0)
    finish_at = at(3600)
    world.job.status.set("Succeeded", True, reason="TestJobSucceeded")
    world.job.status.completion_time = finish_at
    made = world.step()
    assert not made.delete_job
    assert "lies in the future" in made.warning
    assert world.wakes_at == finish_at


def test_a_finished_job_never_gets_a_pod_again(simulate):
    world = simulate()
    finish(world, workers=2)
    creates = list(world.creates)
    world.pods.clear()
    world.settle()
    world.advance(100_000)
    assert world.creates == creates
    assert world.status.replica_statuses["worker"].succeeded == 2


def test_later_pod_events_do_not_change_a_failed_job(simulate):
    world = simulate(active_deadline_seconds=30)
    world.run_all()
    world.settle()
    world.advance(31)
    world.settle()
    assert world.status.is_true("Failed")
    vector = world.conditions
    for index in range(2):
        world.set_pod(index=index, phase="Succeeded")
    world.settle()
    assert world.conditions == vector


def test_a_finished_job_without_completion_time_gets_one_and_its_ttl_runs(simulate):
    world = simulate(ttl_seconds_after_finished=5)
    world.job.status.set("Failed", True, reason="TestJobFailed")
    world.settle()
    assert world.status.completion_time == world.now
    world.advance(6)
    assert world.is_deleted


@pytest.mark.parametrize("code", [0, 1])
def test_a_pod_that_is_over_is_kept_though_the_kubelet_has_not_written_its_phase_yet(code):
    pod = make_pod(phase="Running", exit_code=code)
    assert pod.is_over
    assert not is_cleaned(CleanPodPolicy.RUNNING, pod, is_serving=False)


def test_a_pod_whose_sidecar_still_runs_is_not_over():
    pod = make_pod(containers=[container_status(exit_code=0), container_status("proxy")])
    assert not pod.is_over
    assert is_cleaned(CleanPodPolicy.RUNNING, pod, is_serving=False)


def test_a_container_that_the_kubelet_starts_again_is_not_over():
    assert not make_pod(phase="Running", exit_code=1, restart_policy="OnFailure").is_over
    assert make_pod(phase="Running", exit_code=0, restart_policy="OnFailure").is_over
    assert not make_pod(phase="Running", exit_code=0, restart_policy="Always").is_over


def test_a_sidecar_that_never_ends_does_not_keep_a_finished_job_running(simulate):
    template = pod_template("main", "proxy")
    world = simulate(workers=1, clean_pod_policy=CleanPodPolicy.RUNNING, template=template)
    world.set_pod(phase="Running", exit_code=0)
    world.settle()
    assert world.status.is_true("Succeeded")
    assert world.pods == {}


def test_a_job_that_is_being_deleted_is_left_alone(simulate):
    world = simulate()
    world.job.metadata.deletion_timestamp = world.now
    world.pods.clear()
    made = world.step()
    assert made.creates == ()
