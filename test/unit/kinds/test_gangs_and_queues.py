# SPDX-License-Identifier: Apache-2.0
"""PyTorchJobs and MPIJobs that are scheduled in gangs, and that wait in queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop.common.gang import SchedulerPlugins, Volcano
from dglop.pytorchjob import PyTorchJobKind
from dglop.testing.simulation import Simulation
from test.unit.common.queue_world import QUEUE, QueueWorld
from test.unit.mpijob import mpi_world
from test.unit.pytorchjob import pytorch_world

if TYPE_CHECKING:
    from dglop.common.gang import GangScheduler
    from dglop.mpijob import MPIJob
    from dglop.pytorchjob import PyTorchJob

GROUP_NAME = "scheduling.k8s.io/group-name"
LATE = "WaitForWorkersReady"


def _torch(gang: GangScheduler) -> Simulation[PyTorchJob]:
    world = Simulation(pytorch_world.make_job(), PyTorchJobKind(), gang=gang)
    world.settle()
    return world


def _mpi(gang: GangScheduler, **fields: Any) -> Simulation[MPIJob]:
    world = Simulation(mpi_world.make_job(**fields), mpi_world.make_kind(), gang=gang)
    world.settle()
    return world


def _take_up(world: Simulation[Any]) -> None:
    world.set_group("g", "Inqueue")
    world.settle()


def _marks(world: Simulation[Any]) -> dict[str, str]:
    """Which group each pod is in."""
    return {name: pod["metadata"]["annotations"][GROUP_NAME] for name, pod in world.pods.items()}


def test_a_pytorchjobs_master_and_workers_are_one_group_and_wait_for_it() -> None:
    world = _torch(Volcano())
    assert (list(world.groups), world.groups["g"]["spec"]["minMember"], world.pods) == (["g"], 3, {})
    _take_up(world)
    assert _marks(world) == dict.fromkeys(("g-master-0", "g-worker-0", "g-worker-1"), "g")
    world.run_all()
    world.settle()
    world.set_pod("master", 0, phase="Succeeded", exit_code=0)
    world.settle()
    assert (world.conditions["Succeeded"], world.groups) == ("True", {})


def test_an_mpijobs_launcher_and_workers_are_one_group() -> None:
    world = _mpi(SchedulerPlugins())
    assert world.groups["g"]["spec"]["minMember"] == 3
    labels = {name: pod["metadata"]["labels"] for name, pod in world.pods.items()}
    assert set(labels) == {"g-launcher-0", "g-worker-0", "g-worker-1"}
    assert {each["scheduling.x-k8s.io/pod-group"] for each in labels.values()} == {"g"}


def test_a_launcher_that_waits_for_the_workers_is_in_their_group_and_not_waited_for() -> None:
    world = _mpi(Volcano(), launcherCreationPolicy=LATE)
    assert world.groups["g"]["spec"]["minMember"] == 2
    _take_up(world)
    assert set(world.pods) == {"g-worker-0", "g-worker-1"}
    world.run_all()
    world.settle()
    assert _marks(world) == dict.fromkeys(("g-launcher-0", "g-worker-0", "g-worker-1"), "g")


def test_a_launcher_without_workers_is_a_group_of_its_own_whatever_it_would_wait_for() -> None:
    world = _mpi(Volcano(), workers=0, launcherCreationPolicy=LATE)
    assert world.groups["g"]["spec"]["minMember"] == 1
    _take_up(world)
    assert set(world.pods) == {"g-launcher-0"}


def _queued(job: Any, kind: Any) -> QueueWorld:
    job.metadata.labels = {QUEUE: "q"}
    world = QueueWorld(job, kind)
    world.settle()
    return world


def _admit(world: QueueWorld, flavor: str) -> None:
    world.admit(flavor)
    world.settle()


@pytest.mark.parametrize("kind", ["PyTorchJob", "MPIJob"])
def test_a_job_waits_in_its_queue_runs_where_that_says_and_ends_its_pods_when_it_is_thrown_out(
    kind: str,
) -> None:
    if kind == "PyTorchJob":
        world, sets = _queued(pytorch_world.make_job(), PyTorchJobKind()), {"master": 1, "worker": 2}
    else:
        world, sets = _queued(mpi_world.make_job(), mpi_world.make_kind()), {"launcher": 1, "worker": 2}
    assert (world.job.spec.run_policy.suspend, world.pods) == (True, {})
    assert {each["name"]: each["count"] for each in world.workload["spec"]["podSets"]} == sets
    _admit(world, "a")
    assert [pod["spec"]["nodeSelector"] for pod in world.pods.values()] == [{"pool": "a"}] * 3
    world.run_all()
    world.settle()
    assert world.says("PodsReady") == ("True", "Started")
    world.evict()
    assert (world.job.spec.run_policy.suspend, world.pods) == (True, {})
    assert world.says("QuotaReserved") == ("False", "Pending")
    _admit(world, "b")
    assert [pod["spec"]["nodeSelector"] for pod in world.pods.values()] == [{"pool": "b"}] * 3


def test_a_launcher_that_waits_for_the_workers_has_its_quota_from_the_start() -> None:
    world = _queued(mpi_world.make_job(launcherCreationPolicy=LATE), mpi_world.make_kind())
    assert {each["name"]: each["count"] for each in world.workload["spec"]["podSets"]} == {
        "launcher": 1,
        "worker": 2,
    }
    _admit(world, "a")
    assert set(world.pods) == {"g-worker-0", "g-worker-1"}
    world.run_all()
    world.settle()
    assert world.pod("launcher")["spec"]["nodeSelector"] == {"pool": "a"}
