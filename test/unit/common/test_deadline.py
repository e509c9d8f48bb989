# SPDX-License-Identifier: Apache-2.0
"""Deadlines fire without any event, and always with a completion time."""

from __future__ import annotations

from datetime import timedelta

from dglop.testing.builders import at
from dglop.testing.toyjob import ToyJobKind


def test_an_active_deadline_ends_the_job_without_any_event(simulate):
    world = simulate(active_deadline_seconds=30)
    assert world.wakes_at == at(30)
    world.advance(29)
    assert not world.status.is_true("Failed")
    world.advance(2)
    failed = world.status.get("Failed")
    assert failed.reason == "DeadlineExceeded"
    assert "deadline" in failed.message
    assert world.status.completion_time == at(30)


def test_an_image_that_never_comes_ends_the_job_at_its_start_deadline(simulate):
    world = simulate(workers=1, start_deadline_seconds=600)
    world.set_pod(phase="Pending", waiting="ImagePullBackOff", waiting_message="no such image")
    world.settle()
    world.advance(601)
    failed = world.status.get("Failed")
    assert failed.reason == "StartDeadlineExceeded"
    assert "ImagePullBackOff: no such image" in failed.message


def test_a_pod_whose_init_container_works_has_started(simulate):
    world = simulate(workers=1, start_deadline_seconds=60)
    world.pod()["status"] = {
        "phase": "Pending",
        "initContainerStatuses": [{"name": "fetch", "state": {"running": {}}}],
    }
    world.settle()
    world.advance(3600)
    world.settle()
    assert not world.status.is_true("Failed")


def test_no_progress_for_too_long_is_a_restart(simulate):
    world = simulate(gang=True, progress_deadline_seconds=120, backoff_limit=1)
    world.run_all()
    world.settle()
    world.advance(121)
    assert (world.status.attempt, world.status.restart_count) == (2, 1)
    last = world.status.last_failure
    assert (last.reason, last.pod_name) == ("NoProgress", "")
    assert last.message.startswith("job g: attempt failed (NoProgress): no start and no progress within")
    world.advance(120)
    assert world.status.get("Failed").reason == "BackoffLimitExceeded"


class ReportingKind(ToyJobKind):
    reported = None

    def last_progress(self, job, observed):
        return self.reported


def test_a_report_of_progress_defers_the_deadline(simulate):
    world = simulate(kind=ReportingKind(), gang=True, progress_deadline_seconds=120)
    world.run_all()
    world.advance(100)
    world.kind.reported = world.now
    world.settle()
    assert world.wakes_at == world.now + timedelta(seconds=120)
    world.advance(100)
    assert world.status.attempt == 1


def test_a_pod_on_a_lost_node_is_deleted_by_force_where_the_policy_says_so(simulate):
    world = simulate(gang=True, deletes_at_once=False, pod_force_delete_after_seconds=300)
    world.run_all()
    world.settle()
    world.delete_pod(index=1)
    world.settle()
    world.advance(329)
    assert "g-worker-1" in world.pods
    world.advance(2)
    labels = [pod["metadata"]["labels"] for pod in world.pods.values()]
    assert [each["training.kubeflow.org/attempt"] for each in labels] == ["2", "2"]
    assert "ForcedDeletePod" in [event.reason for event in world.events]


def test_without_that_policy_nothing_is_forced(simulate):
    world = simulate(gang=True, deletes_at_once=False)
    world.delete_pod(index=1)
    world.settle()
    world.advance(100_000)
    world.settle()
    assert "g-worker-1" in world.pods
