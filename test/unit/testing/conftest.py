# SPDX-License-Identifier: Apache-2.0
"""In-memory clusters, and the world of the job tests on one of them."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
import yaml

from dglop.common import JobReconciler
from dglop.dgljob import DGLJob
from dglop.runtime.client import ClientConfig
from dglop.runtime.manager import Manager
from dglop.runtime.settings import Settings
from dglop.testing.memory import MemoryServer, connect
from dglop.testing.plugin import _make_chosen_cluster, all_namespaces, cluster, manager, memory_cluster
from dglop.testing.scripted_clock import EagerClock
from dglop.testing.toyjob import ToyJob, ToyJobKind
from test.envtest.common.case_world import control_both
from test.envtest.common.clocked import ClockedCases, Said
from test.envtest.common.world import World
from test.wire import Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dglop.common.gang import GangScheduler
    from dglop.runtime.client import Client
    from dglop.testing.memory import MemoryCluster

_CRDS = Path(__file__).resolve().parents[3] / "config" / "crd" / "bases"

__all__ = (
    "MemoryCases",
    "_make_chosen_cluster",
    "all_namespaces",
    "cases",
    "client",
    "cluster",
    "manager",
    "memory_cluster",
    "namespace",
    "timed",
    "world",
)


class _MemoryWorld(World):
    """The same world, where waiting takes no time."""

    def __init__(self, cluster: MemoryCluster, *parts: Any) -> None:
        super().__init__(*parts)
        self._cluster = cluster

    async def until(self, what: Callable[[], Any]) -> Any:
        return await self._cluster.until(what)


@pytest_asyncio.fixture
async def world(memory_cluster: MemoryCluster) -> AsyncIterator[World]:
    await memory_cluster.install(ToyJob)
    manager = memory_cluster.manager(Settings(namespace="default", metrics_bind="0", health_bind="0"))
    manager.controller(ToyJob, JobReconciler(ToyJobKind()), concurrency=4)
    async with manager:
        yield _MemoryWorld(memory_cluster, manager, memory_cluster.client, "default")


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client, whose pauses take no time, of a server with the shipped CRDs."""
    async with await connect(MemoryServer(EagerClock())) as opened:
        for path in sorted(_CRDS.glob("*.yaml")):
            await opened.create(yaml.safe_load(path.read_text()))
        yield opened


@pytest_asyncio.fixture
async def namespace(client: Client) -> str:
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "test"}})
    return "test"


class MemoryCases(ClockedCases):
    """The same, where nothing passes by itself and time only when a test says so."""

    def __init__(
        self,
        cluster: MemoryCluster,
        running: AsyncExitStack,
        manager: Manager,
        wire: Wire,
        *,
        said: Said,
        gang: GangScheduler | None = None,
    ) -> None:
        self.cluster = cluster
        self.gang = gang
        self._running = running
        super().__init__(manager, cluster.client, "default", wire, said=said)

    async def restart(self) -> None:
        """End the Manager, and begin another that knows nothing of it."""
        await self._running.aclose()
        self.follow(await started(self.cluster, self._running, self.wire, self.said, self.gang))
        await self.cluster.settle()

    async def until(self, what: Callable[[], Any]) -> Any:
        return await self.cluster.until(what)

    async def rest(self) -> None:
        await self.cluster.settle()

    async def advance(self, seconds: float) -> None:
        await self.cluster.advance(seconds)


async def started(
    cluster: MemoryCluster,
    running: AsyncExitStack,
    wire: Wire,
    said: Said,
    gang: GangScheduler | None = None,
) -> Manager:
    """A Manager of both kinds, which *running* ends."""
    settings = Settings(namespace="default", metrics_bind="0", health_bind="0")
    client = cluster.client.intercepted(wire.carry)
    config = ClientConfig(host=client.host)
    manager = Manager(settings, client=client, config=config, clock=cluster.clock, log=said.log)
    control_both(manager, gang)
    return await running.enter_async_context(manager)


@pytest_asyncio.fixture
async def cases(memory_cluster: MemoryCluster) -> AsyncIterator[MemoryCases]:
    await memory_cluster.install(ToyJob, DGLJob)
    wire, said = Wire(), Said()
    async with AsyncExitStack() as running:
        manager = await started(memory_cluster, running, wire, said)
        yield MemoryCases(memory_cluster, running, manager, wire, said=said)


@pytest.fixture
def timed(cases: MemoryCases) -> MemoryCases:
    """The same by the name that they have where not every world has a clock of its own."""
    return cases
