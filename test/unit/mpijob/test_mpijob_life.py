# SPDX-License-Identifier: Apache-2.0
"""Lives of MPIJobs: when the Launcher is made, what ends a job and what it leaves, and refused specs."""

from __future__ import annotations

from typing import Any

import pytest

from test.unit.mpijob.mpi_world import config_of, make_job, role, simulate

_AWAIT, _VOLUME = {"name": "dglop-await", "image": "mine"}, {"name": "dglop-ssh", "emptyDir": {}}
_WAITS: dict[str, Any] = {"launcherCreationPolicy": "WaitForWorkersReady"}


def _mounts(path: str) -> dict[str, Any]:
    made = role()
    made["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "mine", "mountPath": path}]
    return made


def _with(**spec: Any) -> dict[str, Any]:
    made = role()
    made["template"]["spec"] |= spec
    return made


def test_at_startup_the_launcher_is_made_with_the_workers() -> None:
    assert simulate().creates == ["g-worker-0", "g-worker-1", "g-launcher-0"]


def test_a_launcher_that_waits_is_made_when_all_workers_are_ready() -> None:
    world = simulate(**_WAITS)
    world.set_pod("Worker", 0)
    world.set_pod("Worker", 1, ready=False)
    world.settle()
    assert "g-launcher-0" not in world.creates
    world.set_pod("Worker", 1)
    world.settle()
    assert world.creates[-1] == "g-launcher-0"


def test_a_launcher_that_waits_does_so_again_after_a_suspension() -> None:
    world = simulate(**_WAITS)
    world.run_all()
    world.settle()
    world.job.spec.run_policy.suspend = True
    world.settle()
    assert not world.pods
    world.job.spec.run_policy.suspend = False
    world.settle()
    assert sorted(world.pods) == ["g-worker-0", "g-worker-1"]
    world.run_all()
    world.settle()
    assert "g-launcher-0" in world.pods


def test_a_worker_that_is_not_ready_later_does_not_take_the_launcher_away() -> None:
    world = simulate(**_WAITS)
    world.run_all()
    world.settle()
    world.set_pod("Worker", 0, ready=False)
    world.settle()
    assert "g-launcher-0" in world.pods
    assert world.deletes == []


def test_the_launcher_ends_the_job_and_workers_that_run_are_deleted() -> None:
    world = simulate()
    world.run_all()
    world.settle()
    assert world.status.state == "Running"
    world.set_pod("Launcher", phase="Succeeded")
    world.settle()
    assert world.status.state == "Succeeded"
    assert sorted(world.deletes) == ["g-worker-0", "g-worker-1"]
    assert list(world.pods) == ["g-launcher-0"], "its log stays"


def test_cleaning_all_takes_the_launcher_too_and_cleaning_none_takes_nothing() -> None:
    for policy, left in (("All", 0), ("None", 3)):
        world = simulate(runPolicy={"cleanPodPolicy": policy})
        world.run_all()
        world.set_pod("Launcher", phase="Succeeded")
        world.settle()
        assert len(world.pods) == left


def test_a_launcher_is_restarted_until_the_limit_and_a_worker_never() -> None:
    world = simulate(runPolicy={"backoffLimit": 1})
    assert world.pod("Launcher")["spec"]["restartPolicy"] == "OnFailure"
    assert world.pod("Worker")["spec"]["restartPolicy"] == "Never"
    world.run_all()
    world.set_pod("Launcher", restarts=1)
    world.settle()
    assert world.status.state == "Running"
    world.set_pod("Launcher", restarts=2)
    world.settle()
    assert world.status.get("Failed").reason == "BackoffLimitExceeded"


def test_a_worker_that_fails_ends_the_job_with_its_words() -> None:
    world = simulate()
    world.run_all()
    world.set_pod("Worker", 1, phase="Failed", exit_code=137)
    world.settle()
    assert world.status.state == "Failed"
    assert (world.status.last_failure.pod_name, world.status.last_failure.signal) == ("g-worker-1", 9)


def test_a_job_of_another_size_after_a_suspension_has_another_host_file() -> None:
    world = simulate(runPolicy={"suspend": True})
    assert not world.objects
    world.job.spec.run_policy.suspend = False
    world.settle()
    before = config_of(world)
    world.job.spec.run_policy.suspend = True
    world.settle()
    world.job.spec.mpi_replica_specs["Worker"].replicas = 1
    world.job.spec.run_policy.suspend = False
    world.settle()
    assert len(before["hostfile"].splitlines()) == 2
    assert len(config_of(world)["hostfile"].splitlines()) == 1
    assert len([each for each in world.objects if each.startswith("Secret/")]) == 1


def test_a_finished_job_goes_when_its_time_is_over() -> None:
    world = simulate(runPolicy={"ttlSecondsAfterFinished": 100})
    world.run_all()
    world.set_pod("Launcher", phase="Succeeded")
    world.settle()
    world.advance(99)
    assert not world.is_deleted
    world.advance(2)
    assert world.is_deleted


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"mpiReplicaSpecs": {"Worker": role()}}, "Launcher is needed: it runs mpirun"),
        ({"mpiReplicaSpecs": {"Launcher": role(2)}}, "Launcher.replicas is 2; it must be 1"),
        (
            {"mpiReplicaSpecs": {"Launcher": role(), "Worker": role(0)}},
            "Worker.replicas must be 1 or more",
        ),
        ({"mpiReplicaSpecs": {"Launcher": role(), "Boss": role()}}, "it may have only Launcher, Worker"),
        ({"mpiReplicaSpecs": {"Launcher": role(restartPolicy="ExitCode")}}, "it may be Never or OnFailure"),
        ({"mpiReplicaSpecs": {"Launcher": {"template": {"spec": {}}}}}, "spec.containers is empty"),
        ({"mpiReplicaSpecs": {"Launcher": {"template": {}}}}, "spec must be an object with containers"),
        ({"mpiReplicaSpecs": {"Launcher": _mounts("/root/.ssh/")}}, "mounts something at /root/.ssh,"),
        (
            {"mpiReplicaSpecs": {"Launcher": _with(initContainers=[_AWAIT])}},
            "dglop-await is the operator's",
        ),
        ({"mpiReplicaSpecs": {"Launcher": _with(volumes=[_VOLUME])}}, "volume names with dglop- are"),
        ({"mpiReplicaSpecs": {"Launcher": _mounts("/etc/mpi")}}, "mounts something at /etc/mpi,"),
    ],
)
def test_what_cannot_run_ends_the_job_with_a_sentence(spec: dict[str, Any], said: str) -> None:
    world = simulate(make_job(**spec))
    failed = world.status.get("Failed")
    assert (failed.status, failed.reason) == ("True", "InvalidSpec")
    assert said in failed.message
    assert world.creates == []
