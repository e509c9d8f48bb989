# SPDX-License-Identifier: Apache-2.0
"""Manager: runs controllers and whatever belongs to them, from start to an orderly end."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, Self

from dglop.errors import CacheNotSyncedError, ConfigError, StopTimeoutError
from dglop.runtime.assembly import Assembly
from dglop.runtime.client import ClientConfig
from dglop.runtime.clock import SystemClock
from dglop.runtime.leader import exit_now
from dglop.runtime.lifecycle import Lifecycle
from dglop.runtime.log import make_log
from dglop.runtime.metrics import Metrics
from dglop.runtime.names import is_object_name
from dglop.runtime.program import run_program
from dglop.runtime.rights import declared_rules, manifests_of, own_rules, rules_of
from dglop.runtime.servers import server_rules
from dglop.runtime.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from dglop.runtime.api import Rule
    from dglop.runtime.cache import Cache, CacheOptions
    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock
    from dglop.runtime.cluster import Cluster
    from dglop.runtime.environment import Site
    from dglop.runtime.events import EventRecorder
    from dglop.runtime.log import Log
    from dglop.runtime.loopoptions import LoopOptions
    from dglop.runtime.reader import Reader

__all__ = ("Manager",)

_UNNAMED = "dglop"


class Manager(Assembly):
    """
    The owner of a client, a cache, controllers, servers, metrics and a log.

    *cache* says what the cache keeps; `--namespace` goes before the namespaces in it. *controllers* is what
    holds for every controller that does not say otherwise, such as {"concurrency": 4}.

    Nothing of it is global, and making one does no I/O, so several can live in one process. Run it as a
    program with `main`, inside another one with `await run()`, in a test with `async with manager:`. *name*
    is that of its lease, of the fields it applies, of its roles and in events: give each program its own.
    Without one, it cannot stand for election unless `--leader-election-id` names the lease.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        name: str = "",
        client: Client | None = None,
        config: ClientConfig | None = None,
        cache: CacheOptions | None = None,
        controllers: LoopOptions | None = None,
        clock: Clock | None = None,
        metrics: Metrics | None = None,
        log: Log = None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
        hard_exit: Callable[[int], None] = exit_now,
    ) -> None:
        super().__init__(
            clock=clock or SystemClock(),
            metrics=metrics or Metrics(),
            cache=cache,
            controllers=controllers,
        )
        self._problem: ConfigError | None = None
        """What is wrong with the environment: `main` reads it again, with flags on top that may mend it."""
        self.settings: Settings = settings or self._from_environment()
        self.name: str = name or _UNNAMED
        self._is_named = bool(name)
        self.log: Log = log or make_log(format_=self.settings.log_format, level=self.settings.log_level)
        self.new_id = new_id
        self.hard_exit = hard_exit
        self.given_client = client
        self.ports: dict[str, int | None] = {}
        """The ports that the servers `metrics`, `health`, `debug` and `webhook` listen on."""
        self.elected: asyncio.Event = asyncio.Event()
        """Set while this process leads; never without leader election."""
        self._config = config
        self._life: Lifecycle | None = None
        self._stopping = False

    def __repr__(self) -> str:
        return f"Manager({self.name}, controllers={[c.name for c in self.controllers]})"

    def rules(self) -> list[Rule]:
        """What this program must be allowed where its objects are: for a ClusterRole, or a Role there."""
        self._tell_settings()
        options = self.cache_options
        if self.settings.namespaces:
            # These go before the namespaces of the cache, and `rights` makes Roles of the rest in each.
            options = replace(options, namespaces=())
        return rules_of(self.controllers, server_rules(self), cache=options)

    def rules_in(self, cluster: Cluster) -> list[Rule]:
        """What it must be allowed in a further cluster."""
        self._tell_settings()
        return rules_of(self.controllers, cluster=cluster.name, cache=cluster.options)

    def own_rules(self) -> list[Rule]:
        """What it must be allowed in its own namespace: for a Role; what `on_start` calls declares itself."""
        declared = (rule for prepare in self.preparations for rule in declared_rules(prepare))
        return own_rules(self.settings.lease_name(self.name), declared)

    def rights(self, home: str, account: str = "") -> list[dict[str, Any]]:
        """The manifests that give it all that, as service *account* (its name by default) in *home*."""
        return manifests_of(
            self.name,
            self.rules(),
            self.own_rules(),
            home=home,
            account=account or self.name,
            namespaces=self.settings.namespaces,
        )

    def home_options(self) -> CacheOptions:
        """What the cache of its own cluster keeps."""
        options, names = self.cache_options, self.settings.namespaces
        return options.only_in(names) if names else options

    def client_config(self) -> ClientConfig:
        return self._config or ClientConfig(kubeconfig=self.settings.kubeconfig or None)

    @property
    def is_running(self) -> bool:
        """Whether it has started, at least its client and cache, and nobody has stopped it."""
        return self._life is not None and self._life.env is not None and not self._stopping

    @property
    def stuck(self) -> tuple[str, ...]:
        """What goes on after `stop` since nothing ends it, such as a plain function that never returns."""
        return tuple(self._life.stuck) if self._life else ()

    @property
    def client(self) -> Client:
        """The client. Raises CacheNotSyncedError before the start."""
        return self.given_client or self._home().client

    @property
    def cache(self) -> Cache:
        """The cache. Raises CacheNotSyncedError before the start."""
        return self._home().cache

    @property
    def reader(self) -> Reader:
        """Reads from the cache where they may. Raises CacheNotSyncedError before the start."""
        return self._home().reader

    @property
    def recorder(self) -> EventRecorder:
        """The event recorder. Raises CacheNotSyncedError before the start."""
        return self._home().recorder

    async def start(self) -> None:
        """Start all in order, and return when it runs; with leader election before this process leads.

        Raises ConfigError where it could share its lease unasked, and for variables that do not fit.
        """
        self._only_before_start()
        if self._problem is not None:
            raise self._problem
        self._check_lease_name()
        self._tell_settings()
        for variable, meant in self.settings.misspelt_variables().items():
            self.log.warning("Ignored a variable that is no setting", variable=variable, did_you_mean=meant)
        self._is_closed = True
        self._life = Lifecycle(self)
        try:
            await self._life.start()
        except BaseException:
            await self._stop()
            raise

    async def stop(self) -> None:
        """Stop all in order; nothing if it does not run. It cannot be started again: make another one.

        Raises StopTimeoutError, after all is stopped, where something outlived its graceful time.
        """
        if late := await self._stop():
            raise self._too_late(late)

    async def wait(self) -> NoReturn:
        """Once it runs, wait until something fails, and raise that: LeaderLostError or a runnable's error."""
        raise await asyncio.shield(self._failure())

    async def run(self, stop: asyncio.Event | None = None) -> None:
        """Run until *stop* is set or something fails, and stop in order.

        Raises as `start` and `wait` do; where nothing failed, as `stop` does.
        """
        late: list[str] = []
        wanted = asyncio.create_task((stop or asyncio.Event()).wait(), name="stop")
        running = asyncio.create_task(self._run(), name="manager")
        try:
            await asyncio.wait({wanted, running}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()
        finally:
            for task in (wanted, running):
                task.cancel()
            await asyncio.wait({wanted, running})
            late = await self._stop()
        if late:
            raise self._too_late(late)

    async def _run(self) -> None:
        await self.start()
        await self.wait()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        failure = self._failure() if self._life else None
        late = await self._stop()
        if error is not None:
            return
        if failure is not None and failure.done():
            raise failure.result()
        if late:
            raise self._too_late(late)

    async def _stop(self) -> list[str]:
        life, self._stopping = None if self._stopping else self._life, True
        late = [] if life is None else await life.stop()
        self.elected.clear()
        return late

    def _too_late(self, late: list[str]) -> StopTimeoutError:
        seconds = self.settings.graceful_shutdown_seconds
        return StopTimeoutError(
            f"cancelled after {seconds:g} s: {', '.join(late)}; let them end when they are told to stop, "
            "or give them more --graceful-shutdown-seconds"
        )

    def main(self, argv: Sequence[str] | None = None) -> NoReturn:
        """Run as a program: flags on top of the settings, signals, an exit code."""
        raise SystemExit(run_program(self, argv))

    def reconfigure(self, settings: Settings, log: Log) -> None:
        """Take other settings and another log, before the start."""
        self._only_before_start()
        self.settings, self.log, self._problem = settings, log, None

    def _from_environment(self) -> Settings:
        try:
            return Settings.from_environment()
        except ConfigError as problem:
            self._problem = problem
            return Settings.unread()

    def _tell_settings(self) -> None:
        """Let reconcilers know what was set, now that flags have been read. Raises ConfigError."""
        for each in self.controllers:
            told = getattr(each.reconcile, "apply_settings", None)
            if told is not None:
                told(each, self.settings)

    def _check_lease_name(self) -> None:
        if self.settings.leader_elect and not (self._is_named or self.settings.leader_election_id):
            raise ConfigError(
                'with leader election a Manager needs a name of its own, as in Manager(name="greeter"), or '
                "--leader-election-id: two programs without one would share a lease, and one would never work"
            )
        lease = self.settings.lease_name(self.name)
        if self.settings.leader_elect and not is_object_name(lease):
            raise ConfigError(f"{lease!r} cannot be the name of a lease; say --leader-election-id")

    def _home(self) -> Site:
        if self._life is None or self._life.env is None:
            raise CacheNotSyncedError(
                "the manager does not run yet; its client and cache come with the start"
            )
        return self._life.env.home

    def _failure(self) -> asyncio.Future[BaseException]:
        if self._life is None:
            raise ConfigError("the manager does not run")
        return self._life.failure
