# SPDX-License-Identifier: Apache-2.0
"""A gang: one failure makes an attempt anew; attempts never mix; the first failure decides."""

from __future__ import annotations

import json
from datetime import timedelta

from dglop.common import Gate, RestartPolicy
from dglop.common.failure import Cause, Failure
from dglop.common.restart import PEER_PATIENCE, Fate, judge
from dglop.testing.builders import T0, at
from dglop.testing.toyjob import ToyJobKind

PEER = json.dumps({"cause": "peer", "pod": "g-worker-1", "process": "trainer-0", "exitCode": 1})
SELF = json.dumps({"cause": "self", "process": "trainer-0", "exitCode": 1, "lines": ["ValueError: bad"]})


def attempts(world):
    return sorted(
        (pod["metadata"]["name"], pod["metadata"]["labels"]["training.kubeflow.org/attempt"])
        for pod in world.pods.values()
    )


def failure(cause=Cause.OWN, *, code=137, seconds=0, index=0, policy=RestartPolicy.EXIT_CODE):
    return Failure("worker", index, f"g-worker-{index}", cause, policy, exit_code=code, time=at(seconds))


def test_one_failure_restarts_all_and_counts_once(simulate):
    world = simulate(gang=True)
    world.run_all()
    world.settle()
    world.set_pod(index=1, phase="Failed", exit_code=137)
    world.settle()
    assert attempts(world) == [("g-worker-0", "2"), ("g-worker-1", "2")]
    assert (world.status.attempt, world.status.restart_count) == (2, 1)


def test_the_next_attempt_is_written_before_the_pods_of_the_last_one_are_deleted(simulate):
    world = simulate(gang=True)
    world.set_pod(index=1, phase="Failed", exit_code=137)
    made = world.step()
    assert made.status.attempt == 2
    assert (made.delete_pods, made.creates) == ((), ())
    assert made.requeue_after == timedelta(0)


def test_no_pod_of_the_new_attempt_is_made_before_all_of_the_old_one_are_gone(simulate):
    world = simulate(gang=True, deletes_at_once=False)
    world.run_all()
    world.settle()
    world.set_pod(index=1, phase="Failed", exit_code=137)
    world.settle()
    del world.pods["g-worker-1"]
    world.settle()
    assert world.creates == ["g-worker-0", "g-worker-1"]
    world.finish_deletions()
    world.settle()
    assert attempts(world) == [("g-worker-0", "2"), ("g-worker-1", "2")]
    assert world.status.restart_count == 1


def test_a_restart_that_was_written_survives_a_crash_before_its_deletes(simulate):
    world = simulate(gang=True)
    world.set_pod(index=1, phase="Failed", exit_code=137)
    world.step()
    made = world.step()  # another process, with nothing but the written status
    assert {each.name for each in made.delete_pods} == {"g-worker-0", "g-worker-1"}
    assert made.status.restart_count == 1


def test_what_a_gang_finished_in_the_last_attempt_is_run_again(simulate):
    world = simulate(gang=True)
    world.run_all()
    world.set_pod(index=0, phase="Succeeded")
    world.settle()
    world.set_pod(index=1, phase="Failed", exit_code=137)
    world.settle()
    assert attempts(world) == [("g-worker-0", "2"), ("g-worker-1", "2")]
    assert world.status.replica_statuses["worker"].completed_indexes == ""


def test_pods_of_a_gang_are_never_restarted_by_the_kubelet(simulate):
    world = simulate(gang=True, restart=RestartPolicy.ON_FAILURE)
    assert world.pod()["spec"]["restartPolicy"] == "Never"


def test_the_failure_without_a_peer_as_its_cause_decides(simulate):
    world = simulate(gang=True)
    world.run_all()
    world.set_pod(index=0, phase="Failed", exit_code=143, message=PEER)
    world.settle()
    assert world.status.attempt == 1  # its cause may still be seen
    assert not world.status.is_true("Restarting")
    world.set_pod(index=1, phase="Failed", exit_code=1, message=SELF)
    world.settle()
    message = world.status.get("Failed").message
    assert message == "g-worker-1: trainer-0 exited with code 1: ValueError: bad"
    assert world.status.last_failure.process == "trainer-0"


def test_with_only_peers_failures_the_attempt_is_tried_again_after_a_while(simulate):
    world = simulate(gang=True)
    world.run_all()
    world.settle()
    world.set_pod(index=0, phase="Failed", exit_code=143, message=PEER)
    world.settle()
    assert world.wakes_at == world.now + PEER_PATIENCE
    world.advance(PEER_PATIENCE.total_seconds() + 1)
    assert world.status.restart_count == 1
    assert world.status.attempt == 2


def test_with_no_pod_left_that_could_say_more_peers_failures_decide_at_once(simulate):
    world = simulate(gang=True)
    world.run_all()
    for index in range(2):
        world.set_pod(index=index, phase="Failed", exit_code=143, message=PEER)
    world.settle()
    assert world.status.restart_count == 1


def test_a_worker_deleted_while_its_peer_ends_because_of_it_is_one_restart(simulate):
    world = simulate(gang=True, deletes_at_once=False)
    world.run_all()
    world.settle()
    world.delete_pod(index=1)
    world.set_pod(index=0, phase="Failed", exit_code=1, finished=world.now + timedelta(seconds=3))
    world.settle()
    world.finish_deletions()
    world.settle()
    assert (world.status.attempt, world.status.restart_count) == (2, 1)
    assert not world.status.is_true("Failed")


def test_a_worker_evicted_is_one_disruption_for_the_gang(simulate):
    world = simulate(gang=True)
    world.run_all()
    world.settle()
    world.pod(index=1)["status"] = {
        "phase": "Failed",
        "conditions": [
            {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": "EvictionByEvictionAPI",
                "lastTransitionTime": "2026-01-01T12:00:00Z",
            }
        ],
        "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 143}}}],
    }
    world.set_pod(index=0, phase="Failed", exit_code=143, message=PEER)
    world.settle()
    assert (world.status.disruption_count, world.status.restart_count) == (1, 0)
    assert world.status.attempt == 2


def test_a_failure_that_came_before_a_deletion_still_decides():
    verdict = judge(
        [failure(code=1, seconds=0), failure(Cause.LOST, code=None, seconds=5, index=1)],
        others_alive=False,
        now=at(9),
    )
    assert (verdict.fate, verdict.failure.index) == (Fate.FAIL, 0)


def test_what_came_from_outside_first_excuses_the_programs_that_broke_because_of_it():
    verdict = judge(
        [failure(code=1, seconds=5), failure(Cause.DISRUPTION, code=None, seconds=0, index=1)],
        others_alive=True,
        now=at(9),
    )
    assert (verdict.fate, verdict.counts) == (Fate.RESTART, False)


def test_of_two_failures_the_earlier_decides_and_at_equal_times_the_final_one():
    late_final = [failure(code=137, seconds=0), failure(code=1, seconds=2, index=1)]
    assert judge(late_final, others_alive=False, now=at(9)).fate is Fate.RESTART
    together = [failure(code=137, seconds=2), failure(code=1, seconds=2, index=1)]
    assert judge(together, others_alive=False, now=at(9)).fate is Fate.FAIL


def test_no_failure_lets_the_attempt_go_on():
    assert judge([], others_alive=True, now=T0).fate is Fate.GO_ON


class PartitionedKind(ToyJobKind):
    """Workers wait for a server that outlives their restarts."""

    def __init__(self, *, latched=False, server=Gate.OPEN):
        self.latched = latched
        self.server = server

    def phases(self, job, observed):
        return {"server": self.server, "worker": Gate.OPEN if self.latched else Gate.HOLD}

    def serving(self, job):
        return ["server"]

    def restart_exempt(self, job, observed):
        return ["server"] if self.latched else []

    def deciding_roles(self, job):
        return ["worker"]


def partitioned(simulate, **kind):
    world = simulate(kind=PartitionedKind(**kind), roles={"server": 1, "worker": 2}, gang=True)
    return world, world.kind


def test_a_role_whose_gate_is_not_open_is_not_created(simulate):
    world, kind = partitioned(simulate)
    assert world.creates == ["g-server-0"]
    kind.latched = True
    world.settle()
    assert world.creates == ["g-server-0", "g-worker-0", "g-worker-1"]


def test_an_exempt_role_outlives_a_restart_of_the_gang(simulate):
    world, _ = partitioned(simulate, latched=True)
    world.run_all()
    world.settle()
    world.set_pod("worker", phase="Failed", exit_code=137)
    world.settle()
    assert attempts(world) == [("g-server-0", "1"), ("g-worker-0", "2"), ("g-worker-1", "2")]


def test_losing_an_exempt_role_behind_a_held_gate_is_no_failure_and_makes_nothing(simulate):
    world, kind = partitioned(simulate, latched=True)
    world.run_all()
    world.settle()
    kind.server = Gate.HOLD
    world.settle()
    world.delete_pod("server")
    world.settle()
    assert world.status.restart_count == 0
    assert world.creates.count("g-server-0") == 1
    assert world.status.is_true("Running")
    kind.server = Gate.OPEN
    world.settle()
    assert world.creates.count("g-server-0") == 2
    assert world.status.restart_count == 0


def test_losing_the_server_while_the_workers_wait_for_it_is_a_restart(simulate):
    world, _ = partitioned(simulate)
    world.run_all()
    world.settle()
    world.delete_pod("server")
    world.settle()
    assert world.status.restart_count == 1
    assert attempts(world) == [("g-server-0", "2")]


def test_a_closed_gate_ends_the_pods_behind_it_without_counting(simulate):
    world, kind = partitioned(simulate, latched=True)
    world.run_all()
    world.settle()
    kind.server = Gate.CLOSED
    world.settle()
    assert "g-server-0" not in world.pods
    assert world.status.restart_count == 0


def test_a_server_whose_main_container_is_done_is_not_finished(simulate):
    world, _ = partitioned(simulate)
    world.set_pod("server", phase="Running", exit_code=0)
    world.settle()
    assert world.status.replica_statuses["server"].completed_indexes == ""


def test_a_server_ends_with_the_job_under_policy_none(simulate):
    world, _ = partitioned(simulate, latched=True)
    world.run_all()
    for index in range(2):
        world.set_pod("worker", index, phase="Succeeded")
    world.settle()
    assert world.status.is_true("Succeeded")
    assert sorted(world.pods) == ["g-worker-0", "g-worker-1"]


def test_suspension_in_the_middle_of_a_restart_leaves_no_pod(simulate):
    world = simulate(gang=True)
    world.set_pod(index=1, phase="Failed", exit_code=137)
    world.step()
    world.job.spec.run_policy.suspend = True
    world.settle()
    assert world.pods == {}
    assert world.status.restart_count == 1
    assert world.conditions["Restarting"] == "False"
