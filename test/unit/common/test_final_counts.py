# SPDX-License-Identifier: Apache-2.0
"""The counts of a job that is over agree with the pods that ended, before its end or after it."""

from __future__ import annotations

from typing import Any

from dglop.common.pacing import StatusPace
from dglop.common.types import CleanPodPolicy, JobStatus, ReplicaStatus
from dglop.testing.builders import container_status, pod_template
from dglop.testing.toyjob import ToyJobKind

ROLES = {"launcher": 1, "worker": 2}


def counts(world, role="worker"):
    found = world.status.replica_statuses[role]
    return found.active, found.succeeded, found.failed, found.terminating, found.ready


def led(simulate, **fields):
    """A job whose leader has just ended well, while its Workers run."""
    world = simulate(roles=ROLES, leader="launcher", **fields)
    world.run_all()
    world.settle()
    world.set_pod("launcher", phase="Succeeded")
    world.settle()
    assert world.status.is_true("Succeeded")
    return world


def test_workers_that_end_after_their_leader_are_counted(simulate):
    world = led(simulate)
    assert counts(world) == (2, 0, 0, 0, "2/2")
    for index in range(2):
        world.set_pod(index=index, phase="Succeeded")
    world.settle()
    assert counts(world) == (0, 2, 0, 0, "2/2")
    assert world.status.replica_statuses["worker"].completed_indexes == "0-1"
    assert counts(world, "launcher") == (0, 1, 0, 0, "1/1")


def test_a_worker_that_fails_after_its_leader_is_counted_and_changes_nothing_else(simulate):
    world = led(simulate)
    world.set_pod(index=0, phase="Failed", exit_code=1)
    world.set_pod(index=1, phase="Succeeded")
    world.settle()
    assert counts(world) == (0, 1, 1, 0, "1/2")
    assert world.conditions["Succeeded"] == "True"
    assert world.creates == ["g-launcher-0", "g-worker-0", "g-worker-1"]


def test_workers_that_are_deleted_while_they_run_are_in_no_count(simulate):
    world = led(simulate, clean_pod_policy=CleanPodPolicy.RUNNING)
    assert counts(world) == (0, 0, 0, 0, "0/2")


def test_counts_stay_when_the_pods_go(simulate):
    world = led(simulate)
    world.set_pod(index=0, phase="Succeeded")
    world.set_pod(index=1, phase="Failed", exit_code=1)
    world.settle()
    world.pods.clear()
    world.settle()
    assert counts(world) == (0, 1, 1, 0, "1/2")


def test_what_a_failed_job_finished_is_counted(simulate):
    world = simulate(workers=3, gang=True)
    world.run_all()
    world.settle()
    world.set_pod(index=0, phase="Failed", exit_code=1)
    world.settle()
    world.set_pod(index=1, phase="Succeeded")
    world.set_pod(index=2, phase="Failed", exit_code=1)
    world.settle()
    assert world.status.is_true("Failed")
    assert counts(world) == (0, 1, 2, 0, "1/3")


class ServingKind(ToyJobKind):
    """The source makes what the others need, and serves it from a second container."""

    def serving(self, job):
        return ["source"]

    def deciding_roles(self, job):
        return ["worker"]

    def restart_exempt(self, job, observed):
        return ["source"]


def test_a_pod_that_serves_on_counts_as_succeeded_once_its_work_is_done_and_after_its_end(simulate):
    world = simulate(
        roles={"source": 1, "worker": 1},
        kind=ServingKind(),
        template=pod_template("main", "serve"),
        deletes_at_once=False,
    )
    world.run_all()
    world.settle()
    assert counts(world, "source") == (1, 0, 0, 0, "1/1")
    serving = [container_status("main", exit_code=0), container_status("serve", ready=True)]
    world.pod("source")["status"] = {"phase": "Running", "containerStatuses": serving}
    world.settle()
    assert counts(world, "source") == (0, 1, 0, 0, "1/1")
    assert world.status.replica_statuses["source"].completed_indexes == ""
    world.set_pod("worker", phase="Succeeded")
    world.settle()
    assert counts(world, "source") == (0, 1, 0, 1, "1/1")
    world.finish_deletions()
    world.settle()
    assert counts(world, "source") == (0, 1, 0, 0, "1/1")


def test_what_a_gang_finished_in_an_attempt_before_is_in_no_count(simulate):
    world = simulate(gang=True, deletes_at_once=False)
    world.run_all()
    world.set_pod(index=0, phase="Succeeded")
    world.settle()
    assert counts(world)[1] == 1
    world.set_pod(index=1, phase="Failed", exit_code=137)
    world.settle()
    assert counts(world)[1] == 0


def test_after_the_jobs_end_one_pods_end_after_another_is_no_write_each():
    pace = StatusPace()
    pace.wrote("a", 10)
    before, after = over(active=2), over(active=1, succeeded=1, completed_indexes="0")
    assert pace.wait("a", before, after, 10.25) == 0.75


def over(**count: Any) -> JobStatus:
    status = JobStatus(attempt=1, replica_statuses={"worker": ReplicaStatus(**count)})
    status.set("Succeeded", True)
    return status
