# SPDX-License-Identifier: Apache-2.0
"""Jobs in a queue on the in-memory server, where the test is Kueue: what needs a clock, or faults."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from dglop.common import JobReconciler
from dglop.common.constants import POD
from dglop.common.kueue.names import FLAVOR, LABEL_QUEUE, WORKLOAD, WORKLOAD_PRIORITY
from dglop.runtime.api import Resource
from dglop.runtime.client import ClientConfig
from dglop.runtime.crdinstall import install_crds
from dglop.runtime.manager import Manager
from dglop.runtime.settings import Settings
from dglop.testing.loosecrd import loose_crd
from dglop.testing.memory import MemoryCluster, connect
from dglop.testing.toyjob import ToyJob, ToyJobKind
from test.envtest.kueue.world import QueueWorld

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dglop.runtime.client import Client

CRD = Resource(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False
)
_KINDS = (FLAVOR, WORKLOAD, WORKLOAD_PRIORITY)


class _MemoryQueueWorld(QueueWorld):
    """The same world, where waiting takes no time."""

    def __init__(self, cluster: MemoryCluster, *parts: Any) -> None:
        super().__init__(*parts)
        self.cluster = cluster

    async def until(self, what: Callable[[], Any]) -> Any:
        return await self.cluster.until(what)

    async def set_conditions(self, admission: dict[str, Any] | None, /, **values: bool) -> None:
        """Be Kueue: the Workload's conditions by type, and what it was given."""
        held = await self.until(self.workload)
        listed = held.get("status", {}).get("conditions", [])
        kept = [each for each in listed if each["type"] not in values]
        said = {"reason": "Because", "message": "so", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        made = [{"type": type_, "status": str(value), **said} for type_, value in values.items()]
        status = {"conditions": [*kept, *made], "admission": admission}
        name = held["metadata"]["name"]
        await self.client.patch(WORKLOAD, name, self.namespace, {"status": status}, subresource="status")

    async def admit(self) -> None:
        given = [{"name": "worker", "flavors": {"cpu": "a"}}]
        admission = {"clusterQueue": "cq", "podSetAssignments": given}
        await self.set_conditions(admission, QuotaReserved=True, Admitted=True, Evicted=False)

    async def evict(self) -> None:
        held = self.workload()
        await self.set_conditions(held["status"]["admission"], Evicted=True)


@asynccontextmanager
async def _running(cluster: MemoryCluster, *, has_kueue: bool = True) -> AsyncIterator[_MemoryQueueWorld]:
    crds = [loose_crd(each) for each in _KINDS]
    await install_crds(cluster.client, [ToyJob], cluster.clock, manifests=crds if has_kueue else [])
    if has_kueue:
        await _make_flavor(cluster)
    async with _manager(cluster) as manager:
        yield _MemoryQueueWorld(cluster, manager, cluster.client, "default")


async def _make_flavor(cluster: MemoryCluster) -> None:
    flavor = {"metadata": {"name": "a"}, "spec": {"nodeLabels": {"pool": "a"}}}
    wire = {"apiVersion": FLAVOR.api_version, "kind": FLAVOR.kind, **flavor}
    await cluster.client.create(wire, resource=FLAVOR)


def _manager(cluster: MemoryCluster, client: Client | None = None, *, kueue: bool = True) -> Any:
    settings = Settings(namespace="default", metrics_bind="0", health_bind="0")
    manager = cluster.manager(settings)
    if client is not None:
        config = ClientConfig(host="http://memory")
        manager = Manager(settings, name="test", client=client, config=config, clock=cluster.clock)
    manager.controller(ToyJob, JobReconciler(ToyJobKind(), kueue=kueue), concurrency=4)
    return manager


async def _live(world: _MemoryQueueWorld) -> None:
    """Queued, let in, thrown out, let in again and done."""
    await world.queue()
    await world.until(lambda: world.is_suspended() and world.workload())
    await world.admit()
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))
    await world.evict()
    await world.until(lambda: world.is_suspended() and world.says("QuotaReserved")[0] == "False")
    await world.admit()
    await world.run_all(2)
    await world.until(lambda: world.is_true("Running"))
    await world.finish()
    await world.until(lambda: world.says("Finished") == ("True", "Succeeded"))


async def test_a_whole_life_in_a_queue(memory_cluster: MemoryCluster):
    async with _running(memory_cluster) as world:
        await _live(world)
        assert world.job().status.restart_count == 0


async def test_a_server_that_fails_at_each_kind_of_write_changes_nothing(memory_cluster: MemoryCluster):
    faults = memory_cluster.server.faults
    async with _running(memory_cluster) as world:
        for status in (409, 500, 429):
            faults.add(status, "POST", WORKLOAD)
            faults.add(status, "PATCH", WORKLOAD, subresource="status", skip=1, times=2)
            faults.add(status, "PATCH", ToyJob, skip=1, times=2)
        await _live(world)
        assert len(world.workloads()) == 1
        assert (world.job().status.restart_count, world.job().status.disruption_count) == (0, 0)


async def test_a_workload_whose_deletion_conflicts_is_deleted_a_moment_later(memory_cluster: MemoryCluster):
    async with _running(memory_cluster) as world:
        await world.queue()
        await world.until(lambda: world.is_suspended() and world.workload())
        order = memory_cluster.server.faults.add(409, "DELETE", WORKLOAD, times=2)
        await world.client.patch(ToyJob, "g", "default", {"metadata": {"labels": {LABEL_QUEUE: None}}})
        await memory_cluster.advance(3)
        assert (order.hits, world.workloads()) == (2, [])


async def test_an_operator_that_was_away_during_an_eviction_ends_the_pods_before_the_quota(
    memory_cluster: MemoryCluster,
):
    async with _running(memory_cluster) as world:
        await world.queue()
        await world.admit()
        await world.run_all(2)
        await world.until(lambda: world.is_true("Running"))
        await _hold(world, ["example.dev/ending"])
        held, admission = world.workload()["metadata"]["name"], world.workload()["status"]["admission"]
    await _evict_by_hand(memory_cluster, held, admission)
    async with _manager(memory_cluster) as manager:
        world = _MemoryQueueWorld(memory_cluster, manager, memory_cluster.client, "default")
        await world.until(lambda: world.is_true("Suspended"))
        await memory_cluster.advance(1)
        assert world.says("QuotaReserved")[0] == "True", "its pods are still ending"
        await _hold(world, None)
        await world.until(lambda: world.says("QuotaReserved")[0] == "False")


async def test_without_kueue_a_job_with_a_queue_waits_and_says_so_once(memory_cluster: MemoryCluster):
    async with _running_without(memory_cluster) as world:
        await world.queue()
        before = memory_cluster.server.requests
        await memory_cluster.advance(60)
        assert memory_cluster.server.requests - before < 20
        assert len(world.events("ErrWorkloadCompose")) == 1
        assert "Kueue is not there" in world.job().status.get("Suspended").message
        assert world.pods() == {}
        crds = [loose_crd(each) for each in _KINDS]
        await install_crds(memory_cluster.client, [], memory_cluster.clock, manifests=crds)
        await _make_flavor(memory_cluster)
        await memory_cluster.advance(40)
        await world.admit()
        await world.run_all(2)
        await world.until(lambda: world.is_true("Running"))


async def test_a_job_that_runs_goes_on_when_kueue_is_taken_away(memory_cluster: MemoryCluster):
    async with _running(memory_cluster) as world:
        await world.queue()
        await world.admit()
        await world.run_all(2)
        await world.until(lambda: world.is_true("Running"))
    for kind in _KINDS:
        await memory_cluster.client.delete(CRD, kind.group_resource)
    # A client of its own, as of a new process: the other one remembers what was served.
    async with await connect(memory_cluster.server) as fresh, _manager(memory_cluster, fresh) as manager:
        late = _LateWorld(memory_cluster, manager, memory_cluster.client, "default")
        await memory_cluster.advance(60)
        assert len(late.pods()) == 2
        assert late.is_true("Running")
        assert len(late.events("ErrWorkloadCompose")) == 1


async def test_a_job_at_rest_asks_the_server_for_nothing(memory_cluster: MemoryCluster):
    async with _running(memory_cluster) as world:
        default = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "usual"},
        }
        await memory_cluster.client.create({**default, "value": 3, "globalDefault": True})
        await world.queue()
        await world.admit()
        await world.run_all(2)
        await world.until(lambda: world.says("PodsReady")[0] == "True")
        assert world.workload()["spec"]["priorityClassRef"]["name"] == "usual"
        await memory_cluster.settle()
        for labels in ({"look": "once"}, {"look": "again"}):
            before = memory_cluster.server.requests
            await world.client.patch(ToyJob, "g", "default", {"metadata": {"labels": labels}})
            await memory_cluster.settle()
            assert memory_cluster.server.requests - before == 1, "the test's own"


class _LateWorld(_MemoryQueueWorld):
    """A world that hears of Workloads only by asking."""

    def __init__(self, cluster: MemoryCluster, *parts: Any) -> None:
        super(QueueWorld, self).__init__(*parts)
        self.cluster = cluster


@asynccontextmanager
async def _running_without(cluster: MemoryCluster) -> AsyncIterator[_MemoryQueueWorld]:
    await install_crds(cluster.client, [ToyJob], cluster.clock)
    async with _manager(cluster) as manager:
        yield _LateWorld(cluster, manager, cluster.client, "default")


async def _hold(world: _MemoryQueueWorld, finalizers: list[str] | None) -> None:
    """Keep the pods from being gone once they are deleted, or let them go."""
    for pod in list(world.pods()):
        await world.client.patch(POD, pod, "default", {"metadata": {"finalizers": finalizers}})


async def _evict_by_hand(cluster: MemoryCluster, name: str, admission: dict[str, Any]) -> None:
    held = await cluster.client.get(WORKLOAD, name, "default")
    said = {"reason": "Preempted", "message": "so", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    listed = [each for each in held["status"]["conditions"] if each["type"] != "Evicted"]
    conditions = [*listed, {"type": "Evicted", "status": "True", **said}]
    body = {"status": {"conditions": conditions, "admission": admission}}
    await cluster.client.patch(WORKLOAD, name, "default", body, subresource="status")


async def test_a_job_without_a_queue_costs_no_request_more_than_without_kueue():
    async def cost(**options: Any) -> int:
        async with MemoryCluster() as cluster:
            crds = [loose_crd(each) for each in _KINDS]
            await install_crds(cluster.client, [ToyJob], cluster.clock, manifests=crds)
            async with _manager(cluster, **options) as manager:
                world = _MemoryQueueWorld(cluster, manager, cluster.client, "default")
                await cluster.settle()
                before = cluster.server.requests
                await world.queue(labels={})
                await world.run_all(2)
                await world.finish()
                await cluster.settle()
                return cluster.server.requests - before

    assert await cost() == await cost(kueue=False)
