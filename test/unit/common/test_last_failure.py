# SPDX-License-Identifier: Apache-2.0
"""What ended a job is in lastFailure, whatever it was: a start that never came, restarts by the kubelet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dglop.common import RestartPolicy
from dglop.testing.builders import container_status

if TYPE_CHECKING:
    from test.unit.common.conftest import Simulate

NO_NODE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes fit"}


def test_a_start_deadline_names_the_pod_the_container_and_what_it_waits_for(simulate: Simulate) -> None:
    world = simulate(workers=2, start_deadline_seconds=600)
    world.run_all()
    world.set_pod(index=1, phase="Pending", waiting="ImagePullBackOff", waiting_message="no such image")
    world.settle()
    world.advance(601)
    last = world.status.last_failure
    assert world.status.get("Failed").reason == "StartDeadlineExceeded"
    assert (last.pod_name, last.replica_type, last.index) == ("g-worker-1", "worker", 1)
    assert (last.reason, last.process, last.exit_code) == ("ImagePullBackOff", "main", None)
    assert last.message == "g-worker-1: main has not started (ImagePullBackOff): no such image"


@pytest.mark.parametrize("deadline", ["start_deadline_seconds", "active_deadline_seconds"])
def test_a_deadline_names_the_pod_that_has_no_node(simulate: Simulate, deadline: str) -> None:
    world = simulate(workers=1, **{deadline: 60})
    world.pod()["status"] = {"phase": "Pending", "conditions": [NO_NODE]}
    world.settle()
    world.advance(61)
    last = world.status.last_failure
    assert (last.pod_name, last.reason) == ("g-worker-0", "Unschedulable")
    assert last.message == "g-worker-0: pod has not started (Unschedulable): 0/3 nodes fit"


def test_a_pod_of_which_nobody_has_said_anything_is_named_too(simulate: Simulate) -> None:
    world = simulate(workers=1, start_deadline_seconds=60)
    world.advance(61)
    assert world.status.last_failure.message == "g-worker-0: pod has not started"


def test_a_deadline_of_a_job_that_nothing_hinders_is_no_pods_failure(simulate: Simulate) -> None:
    world = simulate(active_deadline_seconds=60)
    world.run_all()
    world.settle()
    world.advance(61)
    assert world.status.is_true("Failed")
    assert world.status.last_failure is None


def loop(simulate: Simulate, *, state: str, init: bool = False, **policy: int):
    """A pod whose container ran out of memory for the second time."""
    world = simulate(workers=1, restart=RestartPolicy.ON_FAILURE, **policy)
    ended = container_status(exit_code=137, reason="OOMKilled", message="epoch 3")
    now = {
        "ended": container_status(exit_code=137, reason="OOMKilled", message="epoch 3", restarts=2),
        "waits": container_status(waiting="CrashLoopBackOff", restarts=2, last=ended),
        "runs": container_status(restarts=2, last=ended),
    }[state]
    key = "initContainerStatuses" if init else "containerStatuses"
    world.pod()["status"] = {"phase": "Pending" if init else "Running", key: [now]}
    world.settle()
    return world


@pytest.mark.parametrize("state", ["ended", "waits", "runs"])
@pytest.mark.parametrize("init", [False, True])
def test_restarts_by_the_kubelet_say_how_the_container_ended(
    simulate: Simulate, state: str, init: bool
) -> None:
    world = loop(simulate, state=state, init=init, backoff_limit=1)
    last, failed = world.status.last_failure, world.status.get("Failed")
    assert failed.reason == "BackoffLimitExceeded"
    assert (last.pod_name, last.process, last.exit_code, last.signal) == ("g-worker-0", "main", 137, 9)
    assert (last.reason, last.time is None) == ("OOMKilled", False)
    assert failed.message == (
        "backoffLimit 1 is reached: g-worker-0 was restarted 2 times: "
        "main exited with code 137, SIGKILL (OOMKilled): epoch 3"
    )


def test_a_container_that_the_kubelet_restarts_is_what_a_deadline_names(simulate: Simulate) -> None:
    world = loop(simulate, state="waits", active_deadline_seconds=60)
    world.advance(61)
    assert world.status.get("Failed").reason == "DeadlineExceeded"
    assert (world.status.last_failure.reason, world.status.last_failure.exit_code) == ("OOMKilled", 137)


def test_no_progress_under_never_is_the_jobs_own_failure(simulate: Simulate) -> None:
    world = simulate(restart=RestartPolicy.NEVER, progress_deadline_seconds=60)
    world.run_all()
    world.settle()
    world.advance(61)
    assert world.status.get("Failed").reason == "NoProgress"
    assert (world.status.last_failure.reason, world.status.last_failure.pod_name) == ("NoProgress", "")
