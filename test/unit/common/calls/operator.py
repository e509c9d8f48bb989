# SPDX-License-Identifier: Apache-2.0
"""An operator of one kind on an in-memory cluster, which may die at any of its calls."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from dglop.common import JobReconciler
from dglop.runtime.client import ClientConfig
from dglop.runtime.manager import Manager
from dglop.runtime.settings import Settings
from dglop.testing.memory import connect
from test.wire import Wire

if TYPE_CHECKING:
    from dglop.common import JobKind
    from dglop.testing.memory import MemoryCluster

__all__ = ("AGENT", "NAMESPACE", "Operator")

AGENT = "the-operator"
NAMESPACE = "default"


class Operator:
    """
    A Manager with a client of its own, and its successor once its wire is cut.

    Death is the wire's: nothing that the Manager still does on its way out arrives anywhere.
    """

    def __init__(
        self, cluster: MemoryCluster, resource: type, kind: JobKind[Any], wire: Wire, **options: Any
    ) -> None:
        self.wire = wire
        self._options = options
        self._cluster = cluster
        self._resource = resource
        self._kind = kind
        self._running = AsyncExitStack()
        self._is_successor = False

    async def start(self) -> None:
        settings = Settings(
            namespace=NAMESPACE, metrics_bind="0", health_bind="0", graceful_shutdown_seconds=0
        )
        client = await connect(self._cluster.server, user_agent=AGENT)
        self._running.push_async_callback(client.close)
        config, clock = ClientConfig(host=client.host), self._cluster.clock
        manager = Manager(settings, client=client.intercepted(self.wire.carry), config=config, clock=clock)
        manager.controller(self._resource, JobReconciler(self._kind, **self._options), concurrency=2)
        self.manager = await self._running.enter_async_context(manager)

    async def resync(self) -> None:
        """Have every job looked at again, as an operator does now and then."""
        for informer in self.manager.cache.informers:
            await informer.resync()

    async def stop(self) -> None:
        await self._running.aclose()

    async def revive(self) -> None:
        """Let another take over where this one has died."""
        if self.wire.is_cut and not self._is_successor:
            self._is_successor = True
            await self.stop()
            self.wire = Wire()
            await self.start()
