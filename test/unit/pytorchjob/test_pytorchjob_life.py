# SPDX-License-Identifier: Apache-2.0
"""Lives of PyTorchJobs, and specs that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from test.unit.pytorchjob.pytorch_world import make_job, role, simulate


def _without_containers() -> dict[str, Any]:
    return {"replicas": 1, "template": {"spec": {}}}


def _port(number: Any) -> dict[str, Any]:
    made = role()
    made["template"]["spec"]["containers"][0]["ports"] = [
        {"name": "pytorchjob-port", "containerPort": number}
    ]
    return made


def test_the_master_ends_the_job_and_its_workers_stay_as_they_are() -> None:
    world = simulate()
    assert world.status.state == "Created"
    world.run_all()
    world.settle()
    assert (world.status.state, world.conditions) == ("Running", {"Created": "True", "Running": "True"})
    world.set_pod("Master", phase="Succeeded")
    world.settle()
    assert world.status.state == "Succeeded"
    assert world.status.completion_time == world.now
    assert world.deletes == [], "cleanPodPolicy is None by default"


def test_without_a_master_all_workers_end_the_job() -> None:
    world = simulate(master=0)
    world.run_all()
    world.settle()
    world.set_pod("Worker", 0, phase="Succeeded")
    world.settle()
    assert world.status.state == "Running"
    world.set_pod("Worker", 1, phase="Succeeded")
    world.settle()
    assert world.status.state == "Succeeded"


def test_a_pod_that_fails_is_made_again_and_the_others_go_on() -> None:
    world = simulate()
    world.run_all()
    world.settle()
    world.set_pod("Worker", 1, phase="Failed", exit_code=1)
    world.settle()
    assert world.deletes == ["g-worker-1"]
    assert world.creates.count("g-worker-1") == 2
    assert world.creates.count("g-master-0") == 1
    assert world.status.restart_count == 1
    assert "PyTorchJobRestarting" in [each.reason for each in world.events]
    assert world.status.state == "Restarting", "though the Master runs, which decides"
    world.run_all()
    world.settle()
    assert world.status.state == "Running"


def test_under_exit_code_a_small_code_ends_the_job() -> None:
    specs = {"Master": role(restartPolicy="ExitCode"), "Worker": role(restartPolicy="ExitCode")}
    world = simulate(make_job(pytorchReplicaSpecs=specs))
    world.run_all()
    world.set_pod("Worker", phase="Failed", exit_code=2)
    world.settle()
    assert world.status.state == "Failed"
    assert world.status.last_failure.exit_code == 2


def test_a_suspended_job_has_no_pods_and_a_resumed_one_is_made_from_the_present_spec() -> None:
    world = simulate(runPolicy={"suspend": True})
    assert (world.creates, world.status.state, world.status.start_time) == ([], "Suspended", None)
    for suspend in (False, True, False):
        world.job.spec.run_policy.suspend = suspend
        world.job.spec.pytorch_replica_specs["Worker"].replicas = 1
        world.settle()
        assert bool(world.pods) is not suspend
    assert sorted(world.pods) == ["g-master-0", "g-worker-0"]
    assert world.status.state == "Created"
    world.run_all()
    world.settle()
    assert world.status.state == "Running"


def test_a_finished_job_goes_when_its_time_is_over() -> None:
    world = simulate(runPolicy={"ttlSecondsAfterFinished": 100})
    world.run_all()
    world.set_pod("Master", phase="Succeeded")
    world.settle()
    world.advance(99)
    assert not world.is_deleted
    world.advance(2)
    assert world.is_deleted


@pytest.mark.parametrize(("by", "is_left"), [("kueue.x-k8s.io/multikueue", True), (None, False)])
def test_a_job_that_another_manages_is_left_alone(by: str | None, is_left: bool) -> None:
    world = simulate(runPolicy={"managedBy": by} if by else {})
    assert (not world.creates and not world.writes) is is_left


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"elasticPolicy": {"minReplicas": 1}}, "elasticPolicy is not supported"),
        ({"pytorchReplicaSpecs": {"Master": role(), "Chief": role()}}, "it may have only Master, Worker"),
        ({"pytorchReplicaSpecs": {"Master": role(2)}}, "Master.replicas is 2; it must be 1"),
        (
            {"pytorchReplicaSpecs": {"Worker": role(0)}},
            "has no replicas; it needs a Master",
        ),
        (
            {"pytorchReplicaSpecs": {"Master": role(1, "main")}},
            "which decides; there are: main",
        ),
        ({"pytorchReplicaSpecs": {"Master": _without_containers()}}, "which decides; there are: none"),
        ({"pytorchReplicaSpecs": {"Master": _port("http")}}, "must be a port's number, not 'http'"),
        ({"pytorchReplicaSpecs": {"Master": {"template": {"spec": []}}}}, "spec must be an object"),
    ],
)
def test_what_cannot_run_ends_the_job_with_a_sentence(spec: dict[str, Any], said: str) -> None:
    world = simulate(make_job(**spec))
    failed = world.status.get("Failed")
    assert (failed.status, failed.reason) == ("True", "InvalidSpec")
    assert said in failed.message
    assert world.creates == []
