# SPDX-License-Identifier: Apache-2.0
"""The clients, caches and recorders of all clusters of a Manager, through one life of it."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

from dglop.errors import DglopError
from dglop.runtime.cache import Cache, Limits, serves_pages
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.environment import HOME, Site
from dglop.runtime.events import EventRecorder
from dglop.runtime.reader import Reader
from dglop.runtime.usercode import failure_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.cache import CacheOptions
    from dglop.runtime.manager import Manager

__all__ = ("Sites",)


class Sites:
    """
    Opens and closes them in the order in which they need each other.

    *fail* is called with what a cache died of.
    """

    def __init__(self, manager: Manager, fail: Callable[[BaseException], None]) -> None:
        self._manager = manager
        self._fail = fail
        self._own_clients: list[Client] = []
        self._caches: list[asyncio.Task[None]] = []
        self._is_stopping = False
        self.all: dict[str, Site] = {}
        """By the cluster's name."""

    async def open(self) -> None:
        """Connect, so that everything can be written but nothing is read yet. Raises ConfigError."""
        manager = self._manager
        self.all[HOME] = await self._open(
            HOME, manager.given_client, manager.client_config(), manager.home_options()
        )
        for name, cluster in manager.clusters.items():
            config = cluster.config or ClientConfig()
            site = await self._open(name, cluster.given_client, config, cluster.options)
            self.all[name] = site
            cluster.started(site)

    async def fill_caches(self) -> None:
        """Run the caches, and return when they are in sync.

        Raises CacheNotSyncedError, and what a cache dies of.
        """
        for name, site in self.all.items():
            site.cache.pages = await serves_pages(site.client)
            task = asyncio.create_task(site.cache.run(), name=f"cache {name}".rstrip())
            task.add_done_callback(self._on_cache_done)
            self._caches.append(task)
        sync = asyncio.ensure_future(self._all_synced(self._manager.settings.cache_sync_seconds))
        try:
            waited_for: set[asyncio.Future[Any]] = {sync, *self._caches}
            await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
            for task in self._caches:
                if task.done() and not task.cancelled():
                    task.result()
            await sync
        finally:
            sync.cancel()

    async def stop_caches(self) -> None:
        self._is_stopping = True
        for task in self._caches:
            task.cancel()
        if self._caches:
            await asyncio.wait(self._caches)

    async def stop_recorders(self, *, seconds: float) -> None:
        """Post what is left of events, for at most so long."""
        await asyncio.gather(*(site.recorder.stop(seconds=seconds) for site in self.all.values()))

    async def close(self) -> None:
        """Close the clients that were made here."""
        for client in self._own_clients:
            await client.close()

    def check(self) -> None:
        """The readiness check: raises DglopError while a first list is awaited."""
        if not self._caches:
            raise DglopError("not started yet")
        informers = [each for site in self.all.values() for each in site.cache.informers]
        behind = [str(each.health) for each in informers if not each.has_synced()]
        if behind:
            raise DglopError("; ".join(behind))

    async def _open(
        self, name: str, given: Client | None, config: ClientConfig, options: CacheOptions
    ) -> Site:
        client, manager = given, self._manager
        settings, log = manager.settings, manager.log.bind(cluster=name) if name else manager.log
        if client is None:
            client = await Client.connect(
                config, user_agent=manager.name, metrics=manager.metrics.client, clock=manager.clock, log=log
            )
            self._own_clients.append(client)
            # Of two programs under one name, each would take away what the other applied.
            client = client.with_field_manager(manager.name)
        cache = Cache(
            client,
            options=options,
            metrics=manager.metrics.cache,
            clock=manager.clock,
            log=log,
            limits=Limits(watch=settings.cache_watch_seconds),
            resync_seconds=settings.cache_resync_seconds,
            place=name,
        )
        recorder = EventRecorder(
            client,
            controller=manager.name,
            instance=f"{manager.name}-{socket.gethostname()}",
            clock=manager.clock,
            log=log,
            new_id=lambda: manager.new_id().replace("-", "")[:16],
            metrics=manager.metrics,
            on_failure=self._fail,
        )
        recorder.start()
        return Site(client, cache, recorder, Reader(client, cache, sync_seconds=settings.cache_sync_seconds))

    async def _all_synced(self, seconds: float) -> None:
        waits = [asyncio.ensure_future(site.cache.wait_synced(seconds)) for site in self.all.values()]
        try:
            await asyncio.gather(*waits)
        finally:
            for wait in waits:
                wait.cancel()

    def _on_cache_done(self, task: asyncio.Task[None]) -> None:
        if (error := failure_of(task, is_ours=self._is_stopping)) is not None:
            self._fail(error)
