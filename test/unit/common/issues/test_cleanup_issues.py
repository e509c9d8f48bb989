# SPDX-License-Identifier: Apache-2.0
"""Issues 1 to 5 and 14 to 18 of docs/issues.md: how a job ends, and what is left of it then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop.common import CleanPodPolicy, RestartPolicy
from dglop.common.cleanup import is_cleaned
from dglop.common.constants import POD
from dglop.common.plan import fail_plan
from dglop.common.unreadable import failed_status
from dglop.errors import SchemaError
from dglop.testing.builders import T0, make_pod, pod_template
from dglop.testing.toyjob import ToyJob, ToyJobKind

if TYPE_CHECKING:
    from test.unit.common.conftest import MakeJob, Simulate
    from test.unit.testing.conftest import MemoryCases

DELETE = "DELETE /apis/example.dev/v1/namespaces/default/testjobs/g"


def test_issue_01_policy_none_keeps_the_pods_of_a_job_over_its_backoff_limit(simulate: Simulate) -> None:
    """All were deleted, for the condition was not written yet: kubeflow/trainer#3419."""
    world = simulate(backoff_limit=1, clean_pod_policy=CleanPodPolicy.NONE)
    world.run_all()
    world.settle()
    world.set_pod(phase="Failed", exit_code=137)
    world.settle()
    assert world.deletes == ["g-worker-0"]  # the restart
    world.run_all()
    world.settle()
    world.set_pod(phase="Failed", exit_code=137)
    world.settle()
    assert world.status.is_true("Failed")
    assert world.deletes == ["g-worker-0"]
    assert sorted(world.pods) == ["g-worker-0", "g-worker-1"]


def test_issue_01_policy_none_keeps_the_pods_of_a_job_over_its_deadline(simulate: Simulate) -> None:
    world = simulate(active_deadline_seconds=30, clean_pod_policy=CleanPodPolicy.NONE)
    world.run_all()
    world.settle()
    world.advance(31)
    assert world.status.is_true("Failed")
    assert world.deletes == []


async def test_issue_02_a_ttl_of_60_s_is_over_after_60_s_also_with_another_operator(
    cases: MemoryCases,
) -> None:
    """Nobody looked again, and the job went seven hours later: kubeflow/trainer#1533."""
    await cases.toy(workers=1, ttl_seconds_after_finished=60)
    await cases.run()
    await cases.set_pod("g-worker-0", "Succeeded", exit_code=0)
    await cases.cluster.advance(30.0)
    await cases.restart()
    await cases.cluster.advance(29.0)
    assert cases.job() is not None
    await cases.cluster.advance(2.0)
    assert cases.job() is None
    assert cases.wire.sent.count(DELETE) == 1


class Forgetful(ToyJobKind):
    """A kind that cannot tell the replicas."""

    def replicas(self, job):
        raise SchemaError("nobody knows the replicas")


ENDS: dict[str, dict[str, Any]] = {
    "an exit code": {},
    "the backoff limit": {"backoff_limit": 0},
    "the deadline": {"active_deadline_seconds": 30},
    "the start deadline": {"start_deadline_seconds": 30},
    "the disruption limit": {"disruption_limit": 0},
    "no progress": {"progress_deadline_seconds": 30, "restart": RestartPolicy.NEVER},
    "the spec": {"template": pod_template("Not_A_Name"), "name": "Not-A-Name"},
    "replicas that cannot be told": {"kind": Forgetful()},
}


@pytest.mark.parametrize("how", ENDS)
def test_issue_03_whatever_ends_a_job_writes_its_completion_time_at_once(
    simulate: Simulate, how: str
) -> None:
    """It was not there, and the operator crashed at the TTL: kubeflow/trainer#994."""
    world = simulate(**ENDS[how], ttl_seconds_after_finished=10)
    if how in ("an exit code", "the backoff limit"):
        world.set_pod(phase="Failed", exit_code=1 if how == "an exit code" else 137)
    if how == "the disruption limit":
        world.set_pod(phase="Failed", pod_reason="Evicted")
    world.settle()
    world.advance(31)
    ends = [each for each in world.writes if each.is_true("Failed")]
    assert ends
    assert all(each.completion_time is not None for each in ends)


def test_issue_03_a_child_that_is_refused_and_a_job_that_cannot_be_read_have_one_too(
    make_job: MakeJob, simulate: Simulate
) -> None:
    world = simulate()
    refused = fail_plan(world.job, world.observed(), world.now, world.kind, "Pod g-worker-0 was refused")
    assert refused.status.is_true("Failed")
    assert refused.status.completion_time == T0
    unread = failed_status({"spec": {}}, "no number", T0, managed_by="")
    assert unread is not None
    assert unread["completionTime"] == "2026-01-01T12:00:00Z"


async def test_issue_04_a_job_with_a_ttl_that_a_queue_suspends_lets_its_pods_go(cases: MemoryCases) -> None:
    """The TTL of a job that had not ended was an error, and preemption hung: kubeflow/trainer#2239."""
    await cases.toy(ttl_seconds_after_finished=10)
    await cases.run()
    await cases.change(ToyJob, suspend=True)
    await cases.cluster.advance(60.0)
    assert cases.job().status.is_true("Suspended")
    assert cases.pods() == {}
    assert cases.count() == {}
    assert cases.job().status.completion_time is None
    assert cases.wire.sent.count(DELETE) == 0
    labels = {"controller": "testjob"}
    metrics = cases.manager.metrics.registry
    assert not metrics.get_sample_value("controller_runtime_reconcile_errors_total", labels)


async def test_issue_05_a_deadline_fires_though_nothing_else_happens(cases: MemoryCases) -> None:
    """The wake-up went into a queue that did nothing: kubeflow/trainer#3358."""
    await cases.toy(active_deadline_seconds=30, clean_pod_policy="Running")
    await cases.run()
    await cases.cluster.advance(31.0)
    assert cases.job().status.get("Failed").reason == "DeadlineExceeded"
    assert cases.pods() == {}


@pytest.mark.parametrize("end", ["Succeeded", "Failed"])
async def test_issue_14_a_finished_jobs_pods_are_never_made_again(cases: MemoryCases, end: str) -> None:
    """They were, hours later, and the work ran again: kubeflow/trainer#2981, #3737, mpi-operator#86."""
    await cases.toy()
    await cases.run()
    for name in ("g-worker-0", "g-worker-1"):
        await cases.set_pod(name, end, exit_code=int(end == "Failed"))
    await cases.cluster.advance(5.0)
    assert cases.has(end)
    for name in ("g-worker-0", "g-worker-1"):
        await cases.remove_pod(name)
    await cases.restart()
    await cases.touch(ToyJob)
    await cases.cluster.advance(3600.0)
    assert cases.wire.count("POST", "/pods") == 2
    assert cases.pods() == {}


def test_issue_15_one_evicted_worker_that_ends_the_job_ends_the_seven_others(simulate: Simulate) -> None:
    """They ran on, for completionTime was not set: mpi-operator#647."""
    world = simulate(workers=8, restart=RestartPolicy.NEVER, clean_pod_policy=CleanPodPolicy.RUNNING)
    world.run_all()
    world.settle()
    world.set_pod(index=3, phase="Failed", pod_reason="Evicted")
    world.settle()
    assert world.status.is_true("Failed")
    assert world.status.completion_time is not None
    assert len([each for each in world.deletes if not each.startswith("service/")]) == 7
    assert sorted(world.pods) == ["g-worker-3"]


def test_issue_16_policy_all_deletes_the_pods_of_every_role(simulate: Simulate) -> None:
    """The launcher's stayed: mpi-operator#643."""
    roles = {"launcher": 1, "partitioner": 1, "worker": 2}
    world = simulate(roles=roles, leader="launcher", clean_pod_policy=CleanPodPolicy.ALL)
    world.run_all()
    world.set_pod("launcher", phase="Succeeded")
    world.settle()
    assert world.status.is_true("Succeeded")
    assert len([each for each in world.deletes if not each.startswith("service/")]) == 4
    assert world.pods == {}


GOES = {
    "All": {"Running", "Pending", "Succeeded", "Failed"},
    "Running": {"Running", "Pending"},
    "None": set(),
}


@pytest.mark.parametrize("policy", GOES)
@pytest.mark.parametrize("phase", ["Running", "Pending", "Succeeded", "Failed"])
def test_issue_17_policy_running_keeps_what_has_ended_for_its_logs(policy: str, phase: str) -> None:
    """It deleted a Worker that had run out of memory: mpi-operator#312."""
    pod = make_pod(phase=phase, exit_code=137 if phase == "Failed" else None)
    assert is_cleaned(CleanPodPolicy(policy), pod, is_serving=False) == (phase in GOES[policy])


async def test_issue_18_a_ttl_deletes_the_job_itself_and_in_the_background(cases: MemoryCases) -> None:
    """It went to the launcher alone, and the job stayed: mpi-operator#644."""
    await cases.toy(workers=1, ttl_seconds_after_finished=0)
    await cases.run()
    await cases.set_pod("g-worker-0", "Succeeded", exit_code=0)
    await cases.rest()
    (delete,) = [each for each in cases.wire.calls if each.method == "DELETE"]
    assert str(delete) == DELETE
    assert b"Background" in (delete.body or b"")
    assert cases.job() is None
    assert len(await cases.client.list(POD, cases.namespace)) == 1  # the garbage collector's
