# SPDX-License-Identifier: Apache-2.0
"""Manager: runs controllers and whatever belongs to them, from start to an orderly end."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from dglop.errors import CacheNotSyncedError, ConfigError
from dglop.runtime.api import resource_of
from dglop.runtime.client import ClientConfig
from dglop.runtime.clock import SystemClock
from dglop.runtime.controller import Controller
from dglop.runtime.leader import exit_now
from dglop.runtime.lifecycle import Lifecycle
from dglop.runtime.log import make_log
from dglop.runtime.metrics import Metrics
from dglop.runtime.program import run_program
from dglop.runtime.rights import manifests_of, own_rules, rules_of
from dglop.runtime.servers import server_rules
from dglop.runtime.settings import Settings
from dglop.runtime.webhook import Webhooks

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import timedelta
    from types import TracebackType

    from dglop.runtime.api import Kind, Resource, Rule
    from dglop.runtime.cache import Cache
    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock
    from dglop.runtime.controller import Indexes
    from dglop.runtime.environment import Environment
    from dglop.runtime.events import EventRecorder
    from dglop.runtime.health import Check
    from dglop.runtime.invoke import Reconciler
    from dglop.runtime.log import Log
    from dglop.runtime.predicate import Predicate
    from dglop.runtime.queue import RateLimiter
    from dglop.runtime.reconcile import Request
    from dglop.runtime.runnable import Runnable
    from dglop.runtime.source import Channel, Owned, Watch
    from dglop.runtime.webhook import Defaulter, HookOptions, Spoke, Validator

__all__ = ("Manager",)

T = TypeVar("T")


class Manager:
    """
    The owner of a client, a cache, controllers, servers, metrics and a log.

    Nothing of it is global, and making one does no I/O, so several can live in one process. Run it as a
    program with `main`, inside another one with `await run()`, in a test with `async with manager:`. *name*
    is that of its lease, of the fields it applies, of its roles and in events: give each program its own.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        name: str = "dglop",
        client: Client | None = None,
        config: ClientConfig | None = None,
        clock: Clock | None = None,
        metrics: Metrics | None = None,
        log: Log = None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
        hard_exit: Callable[[int], None] = exit_now,
    ) -> None:
        self.settings: Settings = settings or Settings.from_environment()
        self.name = name
        self.clock: Clock = clock or SystemClock()
        self.metrics: Metrics = metrics or Metrics()
        self.log: Log = log or make_log(format_=self.settings.log_format, level=self.settings.log_level)
        self.new_id = new_id
        self.hard_exit = hard_exit
        self.given_client = client
        self.controllers: list[Controller[Any]] = []
        self.selectors: dict[Resource, str] = {}
        self.preparations: list[Callable[[Client], Awaitable[None]]] = []
        self.live_checks: dict[str, Check] = {}
        self.ready_checks: dict[str, Check] = {}
        self.ports: dict[str, int | None] = {}
        """The ports that the servers `metrics`, `health`, `debug` and `webhook` listen on."""
        self.webhooks: Webhooks = Webhooks()
        """What was registered with `webhook` and `conversion`; it makes the manifests, too."""
        self.elected: asyncio.Event = asyncio.Event()
        """Set while this process leads; never without leader election."""
        self._config = config
        self._runnables: list[tuple[Runnable, bool]] = []
        self._life: Lifecycle | None = None
        self._stopping = False

    def __repr__(self) -> str:
        return f"Manager({self.name}, controllers={[c.name for c in self.controllers]})"

    def controller(
        self,
        kind: type[T],
        reconcile: Reconciler[T],
        *,
        owns: Sequence[Kind | Owned] = (),
        watches: Sequence[Watch | Channel] = (),
        name: str | None = None,
        concurrency: int = 1,
        predicates: Sequence[Predicate] = (),
        reconcile_timeout: timedelta | None = None,
        on_gone: Callable[[Request], object] | None = None,
        indexes: Indexes | None = None,
        rate_limiter: RateLimiter[Request] | None = None,
        rules: Sequence[Rule] = (),
    ) -> Controller[T]:
        """Have *reconcile* called for each object of *kind*, and again when what it owns or watches changes.

        The options are Controller's. MaxOf(ExponentialBackoff(), TokenBucket(clock.monotonic)) as
        *rate_limiter* bounds all retries together too. Raises ConfigError if the name is taken.
        """
        self._only_before_start()
        controller = Controller(
            kind,
            reconcile,
            name=self._free_name(name or resource_of(kind).kind.lower()),
            clock=self.clock,
            metrics=self.metrics,
            concurrency=concurrency,
            predicates=predicates,
            reconcile_timeout=reconcile_timeout,
            on_gone=on_gone,
            indexes=indexes,
            rate_limiter=rate_limiter,
            select=self.select,
            rules=rules,
        )
        self.controllers.append(controller)
        return controller.set_up(owns, watches)

    def webhook(
        self,
        kind: type[T] | Resource,
        *,
        default: Defaulter[T] | Sequence[Defaulter[T]] = (),
        validate: Validator[T] | Sequence[Validator[T]] = (),
        default_options: HookOptions | None = None,
        validate_options: HookOptions | None = None,
    ) -> None:
        """
        Have *default* change objects of *kind* before they are stored, and *validate* refuse some.

        Several functions are called in their order. Of a Resource they get the wire dict. All replicas serve
        webhooks, at the paths that `webhooks.hooks` lists. Raises ConfigError for a path or name given twice.
        """
        self._only_before_start()
        self.webhooks.register(kind, default, default_options, mutating=True)
        self.webhooks.register(kind, validate, validate_options, mutating=False)

    def conversion(self, hub: type[T] | Resource, *spokes: Spoke[Any, T]) -> None:
        """Convert between the versions of one kind by way of *hub*; see Spoke. Raises ConfigError."""
        self._only_before_start()
        self.webhooks.conversion(hub, *spokes)

    def add(self, runnable: Runnable, *, needs_leader: bool = True) -> None:
        """Run *runnable* too; with *needs_leader* only while this process leads."""
        self._only_before_start()
        self._runnables.append((runnable, needs_leader))

    def on_start(self, prepare: Callable[[Client], Awaitable[None]]) -> None:
        """Have *prepare* awaited at start, before caches and controllers, on every replica."""
        self._only_before_start()
        self.preparations.append(prepare)

    def select(self, kind: Kind, labels: str) -> None:
        """Keep only *kind*'s objects with these labels in the cache. Raises ConfigError for two selectors."""
        self._only_before_start()
        resource = resource_of(kind)
        known = self.selectors.setdefault(resource, labels)
        if known != labels:
            raise ConfigError(f"{resource.group_resource} is selected by {known!r} already, not {labels!r}")

    def rules(self) -> list[Rule]:
        """What this program must be allowed where its objects are: for a ClusterRole, or a Role there."""
        return rules_of(self.controllers, server_rules(self))

    def own_rules(self) -> list[Rule]:
        """What it must be allowed in its own namespace: for a Role."""
        return own_rules(self.settings.lease_name(self.name))

    def rights(self, home: str, account: str = "") -> list[dict[str, Any]]:
        """The manifests that give it all that, as service *account* (its name by default) in *home*."""
        who = {"account": account or self.name, "home": home, "namespace": self.settings.namespace}
        return manifests_of(self.name, self.rules(), self.own_rules(), **who)

    def add_check(self, name: str, check: Check, *, ready: bool = True) -> None:
        """Add a check to /readyz, or else to /healthz."""
        (self.ready_checks if ready else self.live_checks)[name] = check

    def runnables(self, *, leader: bool) -> list[Runnable]:
        return [runnable for runnable, needs_leader in self._runnables if needs_leader is leader]

    def client_config(self) -> ClientConfig:
        return self._config or ClientConfig(kubeconfig=self.settings.kubeconfig or None)

    @property
    def client(self) -> Client:
        """The client. Raises CacheNotSyncedError before the start."""
        return self.given_client or self._env().client

    @property
    def cache(self) -> Cache:
        """The cache. Raises CacheNotSyncedError before the start."""
        return self._env().cache

    @property
    def recorder(self) -> EventRecorder:
        """The event recorder. Raises CacheNotSyncedError before the start."""
        return self._env().recorder

    async def start(self) -> None:
        """Start all in order, and return when it runs; with leader election before this process leads."""
        self._only_before_start()
        self._life = Lifecycle(self)
        try:
            await self._life.start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop all in order; nothing if it does not run. It cannot be started again: make another one."""
        life, self._stopping = None if self._stopping else self._life, True
        if life is not None:
            await life.stop()
        self.elected.clear()

    async def wait(self) -> NoReturn:
        """Once it runs, wait until something fails, and raise that: LeaderLostError or a runnable's error."""
        raise await asyncio.shield(self._failure())

    async def run(self, stop: asyncio.Event | None = None) -> None:
        """Run until *stop* is set or something fails, and stop in order. Raises as `start` and `wait` do."""
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
            await self.stop()

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
        await self.stop()
        if error is None and failure is not None and failure.done():
            raise failure.result()

    def main(self, argv: Sequence[str] | None = None) -> NoReturn:
        """Run as a program: flags on top of the settings, signals, an exit code."""
        raise SystemExit(run_program(self, argv))

    def reconfigure(self, settings: Settings, log: Log) -> None:
        """Take other settings and another log, before the start."""
        self._only_before_start()
        self.settings, self.log = settings, log

    def _free_name(self, name: str) -> str:
        if any(name == controller.name for controller in self.controllers):
            raise ConfigError(f"there is a controller named {name} already; give one of them another name")
        return name

    def _only_before_start(self) -> None:
        if self._life is not None:
            raise ConfigError("the manager runs already; this must be done before")

    def _env(self) -> Environment:
        if self._life is None or self._life.env is None:
            raise CacheNotSyncedError(
                "the manager does not run yet; its client and cache come with the start"
            )
        return self._life.env

    def _failure(self) -> asyncio.Future[BaseException]:
        if self._life is None:
            raise ConfigError("the manager does not run")
        return self._life.failure
