# SPDX-License-Identifier: Apache-2.0
"""The tests of all three kinds in one Manager, word for word those for a real API server, in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest_asyncio

from dglop.cli.operator import add_kinds
from dglop.cli.settings import ProgramSettings
from test.envtest.kinds.test_three_kinds import *  # noqa: F403
from test.envtest.kinds.world import KINDS, KindsWorld

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dglop.testing.memory import MemoryCluster


class _MemoryWorld(KindsWorld):
    """The same world, where waiting takes no time."""

    def __init__(self, cluster: MemoryCluster, *parts: Any) -> None:
        super().__init__(*parts)
        self._cluster = cluster

    async def until(self, what: Callable[[], Any]) -> Any:
        return await self._cluster.until(what)


@pytest_asyncio.fixture
async def kinds_world(memory_cluster: MemoryCluster) -> AsyncIterator[KindsWorld]:
    await memory_cluster.install(*KINDS.values())
    await memory_cluster.client.create(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}
    )
    settings = ProgramSettings(kinds=list(KINDS), metrics_bind="0", health_bind="0", progress_bind="0")
    manager = memory_cluster.manager(settings)
    add_kinds(manager, settings)
    async with manager:
        yield _MemoryWorld(memory_cluster, manager, memory_cluster.client, ("default", "other"))
