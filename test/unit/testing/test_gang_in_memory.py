# SPDX-License-Identifier: Apache-2.0
"""The tests of PodGroups for a real API server on the in-memory one, and those that need its clock."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest_asyncio

from dglop.common import JobReconciler
from dglop.common.constants import POD
from dglop.common.gang import SchedulerPlugins, Volcano
from dglop.runtime.crdinstall import install_crds
from dglop.runtime.settings import Settings
from dglop.testing.loosecrd import loose_crd
from dglop.testing.toyjob import ToyJob, ToyJobKind
from test.envtest.gang.test_pod_groups import *  # noqa: F403
from test.envtest.gang.world import GangWorld

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dglop.common.gang import GangScheduler
    from dglop.testing.memory import MemoryCluster


class _MemoryGangWorld(GangWorld):
    """The same world, where waiting takes no time."""

    def __init__(self, cluster: MemoryCluster, *parts: Any) -> None:
        super().__init__(*parts)
        self.cluster = cluster

    async def until(self, what: Callable[[], Any]) -> Any:
        return await self.cluster.until(what)


def _crd(scheduler: GangScheduler) -> dict[str, Any]:
    return loose_crd(scheduler.resource, has_status=isinstance(scheduler, SchedulerPlugins))


@asynccontextmanager
async def _running(
    cluster: MemoryCluster, scheduler: GangScheduler, *, is_served: bool = True
) -> AsyncIterator[_MemoryGangWorld]:
    crds = [_crd(scheduler)] if is_served else []
    await install_crds(cluster.client, [ToyJob], cluster.clock, manifests=crds)
    manager = cluster.manager(Settings(namespace="default", metrics_bind="0", health_bind="0"))
    manager.controller(ToyJob, JobReconciler(ToyJobKind(), gang=scheduler), concurrency=4)
    async with manager:
        yield _MemoryGangWorld(cluster, scheduler, manager, cluster.client, "default")


@pytest_asyncio.fixture
async def volcano(memory_cluster: MemoryCluster) -> AsyncIterator[GangWorld]:
    async with _running(memory_cluster, Volcano()) as world:
        yield world


@pytest_asyncio.fixture
async def scheduler_plugins(memory_cluster: MemoryCluster) -> AsyncIterator[GangWorld]:
    async with _running(memory_cluster, SchedulerPlugins()) as world:
        yield world


async def test_without_the_crd_there_is_an_event_for_each_try_and_no_storm(memory_cluster: MemoryCluster):
    async with _running(memory_cluster, Volcano(), is_served=False) as world:
        await world.submit()
        before = memory_cluster.server.requests
        await memory_cluster.advance(60)
        asked = memory_cluster.server.requests - before
        events = world.events("FailedCreatePodGroup")
        tries = sum((each.get("series") or {}).get("count", 1) for each in events)
        assert 4 <= tries <= 7, "after 0, 1, 3, 7, 15 and 31 s"
        assert asked < 40
        assert "podgroups.scheduling.volcano.sh installed" in events[0]["note"]
        running = world.job().status.get("Running")
        assert (running.status, running.reason) == ("False", "FailedCreatePodGroup")
        assert world.pods() == {}


async def test_a_crd_that_comes_later_lets_the_job_go_on(memory_cluster: MemoryCluster):
    async def live(scheduler: GangScheduler, name: str) -> None:
        async with _running(memory_cluster, scheduler, is_served=False) as world:
            await world.submit(name)
            await memory_cluster.advance(10)
            await install_crds(memory_cluster.client, [], memory_cluster.clock, manifests=[_crd(scheduler)])
            await world.group(name)
            await world.set_phase("Inqueue", name)
            await world.run_all(2, name)
            await world.until(lambda: world.is_true("Running", name))

    await live(Volcano(), "one")
    await live(SchedulerPlugins(), "two")


async def test_a_pod_that_is_denied_is_told_as_a_pod_where_its_group_was_just_made(
    memory_cluster: MemoryCluster,
):
    memory_cluster.server.faults.add(403, "POST", POD, times=2)
    async with _running(memory_cluster, SchedulerPlugins()) as world:
        await world.submit(workers=1)
        await world.until(lambda: (job := world.job()) and job.status.get("Running"))
        assert world.job().status.get("Running").reason == "FailedCreatePod"
        assert world.events("FailedCreatePodGroup") == []
        assert _counted(world, "failed_pod_creations_total") == 1
        assert _counted(world, "created_pod_groups_total") == 1


async def test_a_job_that_runs_goes_on_when_its_group_may_not_be_changed(memory_cluster: MemoryCluster):
    async with _running(memory_cluster, Volcano()) as world:
        await _run(world)
        memory_cluster.server.faults.add(422, "PATCH", world.kind)
        await world.client.patch(ToyJob, "g", "default", _THREE)
        await world.until(lambda: world.events("FailedCreatePodGroup"))
        assert "PodGroup g stays as it is" in world.events("FailedCreatePodGroup")[0]["note"]
        assert world.is_true("Running")
        await memory_cluster.advance(5)
        await world.until(lambda: world.groups()["g"]["spec"]["minMember"] == 3)
        assert len(world.pods()) == 3


async def test_a_group_that_goes_while_it_is_changed_is_made_anew(memory_cluster: MemoryCluster):
    async with _running(memory_cluster, Volcano()) as world:
        await _run(world)
        memory_cluster.server.faults.add(404, "PATCH", world.kind)
        await world.client.patch(ToyJob, "g", "default", _THREE)
        await world.client.delete(world.kind, "g", "default")
        await world.until(lambda: (seen := world.groups().get("g")) and seen["spec"]["minMember"] == 3)
        assert world.events("FailedCreatePodGroup") == []
        assert (_counted(world, "created_pod_groups_total"), _counted(world, "deleted_pod_groups_total")) == (
            2,
            0,
        ), "it was another who deleted it"


_THREE = {"spec": {"replicaSpecs": {"worker": {"replicas": 3}}}}


async def _run(world: GangWorld) -> None:
    await world.submit()
    await world.group()
    await world.set_phase("Inqueue")
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))


def _counted(world: GangWorld, name: str) -> float:
    labels = {"job_namespace": "default", "framework": "TestJob"}
    return world.manager.metrics.registry.get_sample_value(name, labels) or 0
