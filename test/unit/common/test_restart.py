# SPDX-License-Identifier: Apache-2.0
"""Restarts, exit codes, counting and limits."""

from __future__ import annotations

import pytest

from dglop.common import RestartPolicy
from dglop.common.exitcodes import is_retryable, signal_of


@pytest.mark.parametrize("code", [1, 2, 126, 127])
def test_under_exit_code_the_codes_to_127_are_final(code):
    assert not is_retryable(RestartPolicy.EXIT_CODE, code)


@pytest.mark.parametrize("code", [128, 130, 137, 139, 143, 255, None])
def test_under_exit_code_the_codes_from_128_and_no_code_are_tried_again(code):
    assert is_retryable(RestartPolicy.EXIT_CODE, code)


@pytest.mark.parametrize(("code", "number"), [(137, 9), (143, 15), (128, None), (255, None), (None, None)])
def test_an_exit_code_above_128_stands_for_a_signal(code, number):
    assert signal_of(code) == number


def test_an_exit_code_of_one_ends_the_job_at_once(simulate):
    world = simulate()
    world.run_all()
    world.set_pod(index=1, phase="Failed", exit_code=1, message="ValueError: no such column")
    creates = list(world.creates)
    world.settle()
    failed = world.status.get("Failed")
    assert failed.status == "True"
    assert failed.reason == "TestJobFailed"
    assert "g-worker-1: main exited with code 1: ValueError: no such column" in failed.message
    assert world.status.completion_time == world.now
    assert world.creates == creates


def test_a_killed_replica_is_made_anew_and_counted(simulate):
    world = simulate()
    world.run_all()
    world.settle()
    world.set_pod(index=1, phase="Failed", exit_code=137)
    made = world.step()
    assert (made.delete_pods, made.creates) == ((), ())  # the decision is written first
    assert world.status.restart_count == 1
    assert world.conditions == {"Created": "True", "Running": "False", "Restarting": "True"}
    world.settle()
    assert world.deletes == ["g-worker-1"]
    assert world.creates == ["g-worker-0", "g-worker-1", "g-worker-1"]
    world.run_all()
    world.settle()
    assert world.conditions == {"Created": "True", "Running": "True", "Restarting": "False"}
    assert world.status.get("Restarting").reason == "TestJobRestarted"
    assert world.status.restart_count == 1


def test_limit_two_allows_two_restarts_and_the_third_failure_fails_the_job(simulate):
    world = simulate(workers=1, backoff_limit=2)
    for expected in (1, 2):
        world.run_all()
        world.set_pod(phase="Failed", exit_code=137)
        world.settle()
        assert world.status.restart_count == expected
        assert not world.status.is_true("Failed")
    world.run_all()
    world.set_pod(phase="Failed", exit_code=137, reason="OOMKilled")
    world.settle()
    failed = world.status.get("Failed")
    assert failed.reason == "BackoffLimitExceeded"
    assert "OOMKilled" in failed.message
    assert world.status.restart_count == 2
    assert len(world.creates) == 3


def test_restarts_by_the_kubelet_count_against_the_limit(simulate):
    world = simulate(workers=1, backoff_limit=1, restart=RestartPolicy.ON_FAILURE)
    world.set_pod(restarts=1)
    world.settle()
    assert world.status.restart_count == 1
    assert not world.status.is_true("Failed")
    world.set_pod(restarts=2)
    world.settle()
    assert world.status.get("Failed").reason == "BackoffLimitExceeded"
    assert "g-worker-0 was restarted 2 times" in world.status.get("Failed").message


def test_restarts_of_a_pending_pod_count_too(simulate):
    world = simulate(workers=1, backoff_limit=1, restart=RestartPolicy.ON_FAILURE)
    world.set_pod(phase="Pending", restarts=2, waiting="CrashLoopBackOff")
    world.settle()
    assert world.status.is_true("Failed")


def test_the_kubelets_restarts_are_kept_when_the_pod_is_made_anew(simulate):
    world = simulate(workers=1, backoff_limit=10, restart=RestartPolicy.ON_FAILURE)
    world.set_pod(restarts=3)
    world.settle()
    world.set_pod(phase="Failed", restarts=3, exit_code=1)
    world.settle()
    assert world.status.restart_count == 4
    world.run_all()
    world.set_pod(restarts=2)
    world.settle()
    assert world.status.restart_count == 6


def test_an_evicted_pod_is_a_disruption_and_no_restart(simulate):
    world = simulate(restart=RestartPolicy.ON_FAILURE)
    world.run_all()
    world.set_pod(index=0, phase="Failed", pod_reason="Evicted")
    world.settle()
    assert (world.status.disruption_count, world.status.restart_count) == (1, 0)
    assert world.creates[-1] == "g-worker-0"


def test_five_evictions_do_not_use_up_a_backoff_limit_of_one(simulate):
    world = simulate(workers=1, restart=RestartPolicy.ON_FAILURE, backoff_limit=1)
    for _ in range(5):
        world.run_all()
        world.set_pod(phase="Failed", pod_reason="Preempted")
        world.settle()
    assert world.status.disruption_count == 5
    assert not world.status.is_true("Failed")


def test_a_disruption_limit_ends_the_job(simulate):
    world = simulate(workers=1, disruption_limit=1)
    for _ in range(2):
        world.run_all()
        world.set_pod(phase="Failed", pod_reason="Evicted")
        world.settle()
    assert world.status.get("Failed").reason == "DisruptionLimitExceeded"


def test_a_graceful_node_shutdown_restarts_the_replica(simulate):
    world = simulate(restart=RestartPolicy.ON_FAILURE)
    world.set_pod(phase="Failed", pod_reason="Terminated")
    world.settle()
    assert not world.status.is_true("Failed")
    assert world.creates[-1] == "g-worker-0"


def test_the_main_container_decides_and_not_its_sidecar(simulate):
    world = simulate(workers=1)
    pod = world.pod()
    pod["status"] = {
        "phase": "Failed",
        "containerStatuses": [
            {"name": "sidecar", "state": {"terminated": {"exitCode": 1}}},
            {"name": "main", "state": {"terminated": {"exitCode": 137}}},
        ],
    }
    world.settle()
    assert world.status.restart_count == 1


def test_a_sidecar_that_fails_after_the_main_container_succeeded_changes_nothing(simulate):
    world = simulate(workers=1)
    world.pod()["status"] = {
        "phase": "Failed",
        "containerStatuses": [
            {"name": "sidecar", "state": {"terminated": {"exitCode": 1}}},
            {"name": "main", "state": {"terminated": {"exitCode": 0}}},
        ],
    }
    world.settle()
    assert world.status.is_true("Succeeded")


def test_a_failed_init_container_decides_where_the_main_one_never_ran(simulate):
    world = simulate(workers=1)
    world.pod()["status"] = {
        "phase": "Failed",
        "initContainerStatuses": [
            {"name": "fetch", "state": {"terminated": {"exitCode": 3, "message": "sha256 differs"}}}
        ],
        "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "PodInitializing"}}}],
    }
    world.settle()
    assert "fetch exited with code 3: sha256 differs" in world.status.get("Failed").message


def test_a_main_container_that_failed_beside_a_running_sidecar_has_failed(simulate):
    world = simulate(workers=1)
    world.pod()["status"] = {
        "phase": "Running",
        "containerStatuses": [
            {"name": "sidecar", "state": {"running": {}}},
            {"name": "main", "state": {"terminated": {"exitCode": 1}}},
        ],
    }
    world.settle()
    assert world.status.is_true("Failed")


@pytest.mark.parametrize("restart", [RestartPolicy.ON_FAILURE, RestartPolicy.EXIT_CODE])
def test_a_pod_deleted_by_hand_counts_as_a_restart(simulate, restart):
    world = simulate(restart=restart)
    world.run_all()
    world.settle()
    world.delete_pod(index=1)
    world.settle()
    assert (world.status.restart_count, world.status.disruption_count) == (1, 0)
    assert world.creates[-1] == "g-worker-1"
    assert world.status.last_failure.pod_name == "g-worker-1"


def test_a_terminating_pod_is_neither_active_nor_failed_and_counts_once(simulate):
    world = simulate(deletes_at_once=False)
    world.run_all()
    world.settle()
    world.delete_pod(index=1)
    world.settle()
    replica = world.status.replica_statuses["worker"]
    assert (replica.active, replica.failed, replica.terminating) == (1, 0, 1)
    assert not world.status.is_true("Failed")
    assert world.status.restart_count == 1
    creates = list(world.creates)
    world.finish_deletions()
    world.settle()
    assert world.status.restart_count == 1
    assert world.creates == [*creates, "g-worker-1"]


def test_under_never_a_failure_ends_the_job(simulate):
    world = simulate(restart=RestartPolicy.NEVER)
    world.set_pod(phase="Failed", exit_code=137)
    world.settle()
    assert world.status.is_true("Failed")


def test_a_succeeded_replica_whose_pod_is_gone_is_not_run_again(simulate):
    world = simulate()
    world.run_all()
    world.set_pod(index=0, phase="Succeeded")
    world.settle()
    assert world.status.replica_statuses["worker"].completed_indexes == "0"
    world.delete_pod(index=0)
    world.settle()
    assert world.creates == ["g-worker-0", "g-worker-1"]
    world.set_pod(index=1, phase="Succeeded")
    world.settle()
    assert world.status.is_true("Succeeded")


def test_two_replicas_that_fail_at_once_count_twice(simulate):
    world = simulate()
    world.run_all()
    for index in range(2):
        world.set_pod(index=index, phase="Failed", exit_code=137)
    world.settle()
    assert world.status.restart_count == 2
    assert world.creates == ["g-worker-0", "g-worker-1"] * 2


def test_a_failed_sibling_of_an_earlier_restart_counts_when_it_fails_later(simulate):
    world = simulate()
    world.run_all()
    world.settle()
    world.set_pod(index=0, phase="Failed", exit_code=137)
    world.settle()
    world.run_all()
    world.set_pod(index=1, phase="Failed", exit_code=137)
    world.settle()
    assert world.status.restart_count == 2
    assert world.deletes == ["g-worker-0", "g-worker-1"]


def test_no_restart_is_decided_while_the_cache_lags_behind_our_own_writes(simulate):
    from dglop.common.observed import Observed
    from dglop.common.plan import plan

    world = simulate()
    world.set_pod(index=0, phase="Failed", exit_code=137)
    seen = Observed(world.observed().pods, world.observed().services, frozenset({"worker"}))
    made = plan(world.job, seen, world.now, world.kind)
    assert made.status.attempt == 1
    assert (made.creates, made.delete_pods) == ((), ())


def test_disruptions_that_the_kind_took_down_itself_count_against_the_limit(simulate):
    world = simulate(disruption_limit=1)
    world.job.status.disruption_count = 1
    world.settle()
    assert not world.status.is_true("Failed")
    world.job.status.disruption_count = 2
    world.settle()
    assert world.status.get("Failed").reason == "DisruptionLimitExceeded"
