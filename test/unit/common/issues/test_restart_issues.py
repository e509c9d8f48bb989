# SPDX-License-Identifier: Apache-2.0
"""Issues 6 to 13 of docs/issues.md: what counts as a failure, and against which limit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dglop.common import CleanPodPolicy, RestartPolicy
from dglop.common.constants import POD
from dglop.testing.builders import container_status
from dglop.testing.toyjob import ToyJob

if TYPE_CHECKING:
    from dglop.testing.simulation import Simulation
    from test.unit.common.conftest import Simulate
    from test.unit.testing.conftest import MemoryCases


def run(world: Simulation[ToyJob]) -> None:
    world.settle()
    world.run_all()
    world.settle()


def test_issue_06_restarts_by_the_operator_use_up_the_backoff_limit(simulate: Simulate) -> None:
    """The pod was made anew for ever: kubeflow/trainer#2045."""
    world = simulate(workers=1, backoff_limit=2)
    for failure in (1, 2, 3):
        run(world)
        world.set_pod(phase="Failed", exit_code=137)
        world.settle()
        assert world.status.is_true("Failed") == (failure == 3)
    assert world.status.restart_count == 2
    assert world.creates == ["g-worker-0"] * 3
    assert world.status.get("Failed").reason == "BackoffLimitExceeded"


def test_issue_07_running_out_of_memory_uses_it_up_too_and_is_named(simulate: Simulate) -> None:
    """137 was tried again for ever, and nothing said why: kubeflow/common#167."""
    world = simulate(workers=1, backoff_limit=1)
    for _ in range(2):
        run(world)
        world.set_pod(phase="Failed", exit_code=137, reason="OOMKilled")
        world.settle()
    failed = world.status.get("Failed")
    assert failed.status == "True"
    assert "OOMKilled" in failed.message
    assert world.status.last_failure.reason == "OOMKilled"
    assert world.status.last_failure.signal == 9


def loop(world: Simulation[ToyJob], phase: str, restarts: int) -> None:
    """The kubelet restarts a container, an init container where the pod is Pending."""
    pod = world.pod()
    listed = [container_status("main", waiting="CrashLoopBackOff", restarts=restarts)]
    key = "containerStatuses" if phase == "Running" else "initContainerStatuses"
    pod["status"] = {"phase": phase, key: listed}
    world.settle()


@pytest.mark.parametrize("phase", ["Running", "Pending"])
def test_issue_08_restarts_by_the_kubelet_use_it_up_in_whatever_phase(simulate: Simulate, phase: str) -> None:
    """Under OnFailure a limit of 1 had no effect: kubeflow/trainer#2342, #1589."""
    world = simulate(workers=1, restart=RestartPolicy.ON_FAILURE, backoff_limit=1)
    loop(world, phase, 1)
    assert not world.status.is_true("Failed")
    loop(world, phase, 2)
    assert world.status.get("Failed").reason == "BackoffLimitExceeded"


def test_issue_08_what_the_kubelet_counted_is_not_forgotten_with_its_pod(simulate: Simulate) -> None:
    world = simulate(workers=1, restart=RestartPolicy.ON_FAILURE, backoff_limit=2)
    loop(world, "Running", 2)
    assert world.status.restart_count == 2
    world.set_pod(phase="Failed", pod_reason="Evicted")
    run(world)
    assert (world.status.restart_count, world.status.disruption_count) == (2, 1)
    loop(world, "Running", 1)
    assert world.status.restart_count == 3
    assert world.status.is_true("Failed")


@pytest.mark.parametrize("policy", [RestartPolicy.ON_FAILURE, RestartPolicy.ALWAYS, RestartPolicy.EXIT_CODE])
@pytest.mark.parametrize("reason", ["Terminated", "NodeShutdown", "UnexpectedAdmissionError"])
def test_issue_09_a_pod_that_failed_without_an_exit_code_is_made_anew(
    simulate: Simulate, policy: RestartPolicy, reason: str
) -> None:
    """A node's graceful shutdown failed the whole job: kubeflow/trainer#1570."""
    world = simulate(restart=policy)
    run(world)
    old = world.pod()["metadata"]["uid"]
    world.set_pod(phase="Failed", pod_reason=reason)
    world.settle()
    assert not world.status.is_true("Failed")
    assert world.pod()["metadata"]["uid"] != old


@pytest.mark.parametrize("reason", ["Evicted", "Preempted", "NodeLost", "DisruptionTarget"])
def test_issue_10_five_disruptions_leave_the_backoff_limit_alone(simulate: Simulate, reason: str) -> None:
    """A job on preemptible nodes failed: kubeflow/trainer#999, volcano#2560."""
    world = simulate(workers=1, restart=RestartPolicy.ON_FAILURE, backoff_limit=1)
    for _ in range(5):
        run(world)
        if reason == "DisruptionTarget":
            told = {"type": reason, "status": "True", "reason": "EvictionByEvictionAPI"}
            world.pod()["status"] = {"phase": "Failed", "conditions": [told]}
        else:
            world.set_pod(phase="Failed", pod_reason=reason)
        world.settle()
        assert not world.status.is_true("Failed")
    assert (world.status.disruption_count, world.status.restart_count) == (5, 0)
    run(world)
    assert world.status.is_true("Running")


async def _run_on_a_node(cases: MemoryCases) -> None:
    """A job of two pods, of which one is on a node, and that deletes what does not end for 300 s."""
    await cases.toy(pod_force_delete_after_seconds=300)
    await cases.until(lambda: len(cases.pods()) == 2)
    await cases.bind("g-worker-0")
    await cases.run()


async def test_issue_11_a_pod_that_a_dead_node_never_ends_is_deleted_by_force_where_that_is_asked_for(
    cases: MemoryCases,
) -> None:
    """The job hung in Restarting: kubeflow/trainer#2072, #720."""
    await _run_on_a_node(cases)
    old = cases.pods()["g-worker-0"].uid
    await cases.client.delete(POD, "g-worker-0", cases.namespace)  # as the node's controller does
    await cases.cluster.advance(30.0 + 299.0)
    assert cases.pods()["g-worker-0"].uid == old
    assert cases.wire.count("DELETE", "/pods/g-worker-0") == 0
    await cases.cluster.advance(2.0)
    assert cases.pods()["g-worker-0"].uid != old
    (delete,) = [each for each in cases.wire.calls if str(each).endswith("/pods/g-worker-0")]
    assert json.loads(delete.body or b"")["gracePeriodSeconds"] == 0
    assert len(cases.events("ForcedDeletePod")) == 1


async def test_issue_11_a_pod_that_a_finalizer_keeps_is_deleted_by_force_once_and_told_once(
    cases: MemoryCases,
) -> None:
    await _run_on_a_node(cases)
    await cases.hold("g-worker-0")
    await cases.client.delete(POD, "g-worker-0", cases.namespace)
    for _ in range(10):
        await cases.cluster.advance(60.0)
        await cases.touch(ToyJob)
    assert cases.wire.count("DELETE", "/pods/g-worker-0") == 1
    (told,) = cases.events("ForcedDeletePod")
    assert "g-worker-0" in str(told)
    assert "(x" not in str(told)
    await cases.free("g-worker-0")
    await cases.rest()
    assert not cases.pods()["g-worker-0"].is_terminating


def test_issue_12_a_pod_on_its_way_out_has_not_failed(simulate: Simulate) -> None:
    """It was counted as failed, and the job failed: kubeflow/trainer#2124."""
    world = simulate(workers=4, deletes_at_once=False)
    run(world)
    world.delete_pod(index=3)
    world.settle()
    counts = world.status.replica_statuses["worker"]
    assert (counts.active, counts.terminating, counts.failed) == (3, 1, 0)
    assert not world.status.is_true("Failed")
    assert world.status.is_true("Restarting")
    world.finish_deletions()
    run(world)
    assert world.status.is_true("Running")
    assert world.status.restart_count == 1


@pytest.mark.parametrize("gone", ["after it was seen", "between two looks"])
def test_issue_13_what_has_succeeded_is_not_run_again_when_its_pod_is_gone(
    simulate: Simulate, gone: str
) -> None:
    """It was, when the garbage collector came: kubeflow/trainer#1186, #1997, #2453."""
    world = simulate(clean_pod_policy=CleanPodPolicy.ALL)
    run(world)
    world.set_pod(phase="Succeeded")
    world.settle()
    world.delete_pod()
    if gone == "between two looks":
        world.set_pod(index=1, phase="Failed", exit_code=137)  # and another is made anew meanwhile
    world.settle()
    assert world.creates.count("g-worker-0") == 1
    assert world.status.replica_statuses["worker"].completed_indexes == "0"
    run(world)
    world.set_pod(index=1, phase="Succeeded")
    world.settle()
    assert world.status.is_true("Succeeded")
    assert world.creates.count("g-worker-0") == 1
