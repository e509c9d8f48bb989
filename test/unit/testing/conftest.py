# SPDX-License-Identifier: Apache-2.0
"""In-memory clusters, and the world of the job tests on one of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest_asyncio
import yaml

from dglop.common import JobReconciler
from dglop.runtime.settings import Settings
from dglop.testing.memory import MemoryServer, connect
from dglop.testing.plugin import _make_chosen_cluster, cluster, manager, memory_cluster
from dglop.testing.scripted_clock import EagerClock
from dglop.testing.toyjob import ToyJob, ToyJobKind
from test.envtest.common.world import World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dglop.runtime.client import Client
    from dglop.testing.memory import MemoryCluster

_CRDS = Path(__file__).resolve().parents[3] / "config" / "crd" / "bases"

__all__ = ("_make_chosen_cluster", "client", "cluster", "manager", "memory_cluster", "namespace", "world")


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
