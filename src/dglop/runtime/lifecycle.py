# SPDX-License-Identifier: Apache-2.0
"""The order in which a Manager's parts start and stop, in one place."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from dglop.errors import DglopError, LeaderLostError
from dglop.runtime.client import Client
from dglop.runtime.consistency import ConsistencyCheck
from dglop.runtime.election import LeaseTimes
from dglop.runtime.environment import Environment
from dglop.runtime.leader import KubeLeaseStore, LeaderElector
from dglop.runtime.looplag import LoopLag
from dglop.runtime.runnable import RunnableFunction, RunnableGroup
from dglop.runtime.servers import http_servers, install, webhook_server
from dglop.runtime.sites import Sites
from dglop.runtime.usercode import call_coroutine, failure_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop.runtime.election import LeaseStore
    from dglop.runtime.manager import Manager
    from dglop.runtime.runnable import Runnable
    from dglop.runtime.serving import Server

__all__ = ("Lifecycle",)

EVENTS_SECONDS = 3.0


class Lifecycle:
    """
    One life of a Manager.

    Start: client, servers, webhooks, preparations, caches, the runnables that need no leader, election, and
    once this process leads the controllers and the other runnables. Stop, within the graceful time:
    runnables, then controllers, caches, webhooks and the other servers; the lease is given back only after
    all that wrote has ended, and events are posted last. With the lease lost there is no graceful time and
    nothing to give back; nor is it given back while something goes on that nothing ends, which holds up the
    stop no longer than a few seconds.
    """

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._log = manager.log
        self._settings = manager.settings
        self._servers: list[Server] = []
        self._keepers: list[Runnable] = []
        self._groups: dict[str, RunnableGroup] = {}
        self._elector: LeaderElector | None = None
        self._leading: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._sites = Sites(manager, self._fail)
        self._failure: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        self.env: Environment | None = None
        self.stuck: list[str] = []
        """What goes on after `stop`, since nothing ends it."""

    @property
    def failure(self) -> asyncio.Future[BaseException]:
        """Completes with the first error that ends the Manager."""
        return self._failure

    async def start(self) -> None:
        """Start all; with leader election, return before this process leads."""
        manager = self._manager
        # First of all: a kubeconfig that cannot be used is told before anything is seen to start.
        await self._sites.open()
        await self._start_servers()
        self.env = self._make_env()
        client = self.env.home.client
        await self._start_webhooks()
        if self._settings.install_crds:
            self._keepers = await install(manager, client)
        for prepare in manager.preparations:
            await call_coroutine(prepare, client)
        await self._start_cache()
        self._group("others").start(self._other_runnables())
        leaders = self._group("leaders")
        if self._settings.leader_elect:
            self._elector = self._make_elector()
            self._elector.start()
            self._leading = asyncio.create_task(self._lead(leaders, self._elector), name="leading")
            self._leading.add_done_callback(self._on_leading_done)
        else:
            leaders.start(self._leader_runnables())

    async def stop(self) -> list[str]:
        """Stop all, in order; may be called in any state of the start.

        Gives the names of the runnables that had graceful time and outlived it.
        """
        is_lost = self._elector is not None and self._elector.lost.is_set()
        graceful = 0.0 if is_lost else self._settings.graceful_shutdown_seconds
        deadline = asyncio.get_running_loop().time() + graceful
        self._is_stopping = True
        # First of all: a process that does not lead yet must not begin to now.
        if self._leading is not None:
            self._leading.cancel()
        for group in self._groups.values():
            group.tell_to_stop()
        late: list[str] = []
        for name in ("others", "leaders"):
            if name in self._groups:
                late += await self._groups[name].stop(deadline=deadline)
        if late and not is_lost:
            self._log.warning("Cancelled what did not stop in time", runnables=late)
        self.stuck = [name for group in self._groups.values() for name in group.stuck]
        if self.stuck:
            self._log.error("Gave up on what did not end though it was cancelled", runnables=self.stuck)
        if self._elector is not None:
            await self._elector.stop(release=not (is_lost or self.stuck))
        await self._sites.stop_caches()
        await self._sites.stop_recorders(seconds=min(EVENTS_SECONDS, graceful))
        for server in reversed(self._servers):
            await server.stop()
        await self._sites.close()
        return late if graceful else []

    async def _start_servers(self) -> None:
        manager = self._manager
        manager.live_checks["ping"] = lambda: None
        manager.ready_checks["informers"] = self._sites.check
        for name, server in http_servers(manager).items():
            await self._serve(name, server)

    async def _start_webhooks(self) -> None:
        # Before the caches: to list a kind, the API server may have to convert it, and asks us.
        server = webhook_server(self._manager)
        if server is not None:
            self._manager.ready_checks["webhook"] = server.check
            await self._serve("webhook", server)

    async def _serve(self, name: str, server: Server) -> None:
        self._servers.append(server)
        await server.start(self._fail)
        self._manager.ports[name] = server.port

    def _make_env(self) -> Environment:
        manager = self._manager
        return Environment(
            sites=self._sites.all,
            metrics=manager.metrics,
            clock=manager.clock,
            log=self._log,
            new_id=manager.new_id,
            may_write=self._may_write,
            sync_seconds=self._settings.cache_sync_seconds,
        )

    async def _start_cache(self) -> None:
        if self.env is None:
            raise DglopError("the cache needs a client first")
        for controller in self._manager.controllers:
            controller.prepare(self.env)
        # A standby waits too: its caches are warm when it becomes the leader.
        await self._sites.fill_caches()

    def _group(self, name: str) -> RunnableGroup:
        group = self._groups[name] = RunnableGroup(name, log=self._log)
        group.failed.add_done_callback(lambda done: None if done.cancelled() else self._fail(done.result()))
        return group

    def _other_runnables(self) -> list[Runnable]:
        manager = self._manager
        everywhere: list[Runnable] = []
        for controller in manager.controllers:
            if not controller.needs_leader:
                everywhere.append(controller)
            elif controller.warm_up:
                controller.begin()
                everywhere.append(RunnableFunction(controller.feed))
        always: list[Runnable] = [LoopLag(manager.metrics, self._log)]
        if self._settings.cache_check_seconds:
            always.append(
                ConsistencyCheck(
                    self._sites.all,
                    self._settings.cache_check_seconds,
                    clock=manager.clock,
                    log=self._log,
                    metrics=manager.metrics,
                )
            )
        return [*always, *everywhere, *manager.runnables(leader=False)]

    def _leader_runnables(self) -> list[Runnable]:
        controllers = [each for each in self._manager.controllers if each.needs_leader]
        return [*self._keepers, *controllers, *self._manager.runnables(leader=True)]

    def _make_elector(self) -> LeaderElector:
        manager, settings = self._manager, self._settings
        if self.env is None:
            raise DglopError("the election needs a client first")
        namespace = settings.leader_election_namespace or self.env.home.client.namespace
        lease = settings.lease_name(manager.name)

        @asynccontextmanager
        async def open_store() -> AsyncIterator[LeaseStore]:
            # A client belongs to one loop, and the election has its own.
            config = manager.client_config()
            agent = f"{manager.name} leader-election"
            async with await Client.connect(config, user_agent=agent, log=self._log) as client:
                yield KubeLeaseStore(client, namespace, lease)

        elector = LeaderElector(
            open_store,
            f"{socket.gethostname()}_{manager.new_id()}",
            LeaseTimes(settings.lease_duration, settings.renew_deadline, settings.retry_period),
            clock=manager.clock,
            log=self._log.bind(lease=f"{namespace}/{lease}"),
            metrics=manager.metrics.leader(lease),
            hard_exit=manager.hard_exit,
        )
        manager.live_checks["leaderElection"] = elector.check
        return elector

    async def _lead(self, group: RunnableGroup, elector: LeaderElector) -> None:
        self._log.info("Waiting for the lease", lease=self._settings.lease_name(self._manager.name))
        await _first(elector.elected, elector.lost)
        if not elector.lost.is_set():
            group.start(self._leader_runnables())
            self._manager.elected.set()
            await elector.lost.wait()
        self._fail(LeaderLostError(elector.reason))

    def _on_leading_done(self, task: asyncio.Task[None]) -> None:
        if (error := failure_of(task, is_ours=self._is_stopping)) is not None:
            self._fail(error)

    def _may_write(self) -> bool:
        return self._elector is None or self._elector.holds()

    def _fail(self, error: BaseException) -> None:
        if not self._failure.done():
            self._failure.set_result(error)


async def _first(*events: asyncio.Event) -> None:
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
