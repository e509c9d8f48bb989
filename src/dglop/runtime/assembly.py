# SPDX-License-Identifier: Apache-2.0
"""Assembly: what a Manager is put together from, before it starts."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from dglop.errors import ConfigError
from dglop.runtime.api import resource_of
from dglop.runtime.cache import CacheOptions
from dglop.runtime.cluster import Cluster
from dglop.runtime.controller import Controller, ControllerOptions
from dglop.runtime.environment import HOME
from dglop.runtime.keycontroller import KeyController
from dglop.runtime.runnable import Runnable, RunnableFunction
from dglop.runtime.webhook import Webhooks

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Sequence

    from dglop.runtime.api import Kind, Resource
    from dglop.runtime.client import Client, ClientConfig
    from dglop.runtime.clock import Clock
    from dglop.runtime.controlloop import ControlLoop
    from dglop.runtime.health import Check
    from dglop.runtime.invoke import Reconciler
    from dglop.runtime.keycontroller import KeyReconciler
    from dglop.runtime.loopoptions import LoopOptions
    from dglop.runtime.metrics import Metrics
    from dglop.runtime.source import Owned, Source
    from dglop.runtime.webhook import Defaulter, HookOptions, Spoke, Validator

__all__ = ("Assembly",)

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Assembly:
    """The part of a Manager that takes controllers, webhooks, clusters and runnables; strictly for it."""

    def __init__(
        self, *, clock: Clock, metrics: Metrics, cache: CacheOptions | None, controllers: LoopOptions | None
    ) -> None:
        self.clock = clock
        self.metrics = metrics
        self.controllers: list[ControlLoop[Any]] = []
        self.clusters: dict[str, Cluster] = {}
        self.cache_options: CacheOptions = cache or CacheOptions()
        self.preparations: list[Callable[[Client], Awaitable[None]]] = []
        self.live_checks: dict[str, Check] = {}
        self.ready_checks: dict[str, Check] = {}
        self.webhooks: Webhooks = Webhooks()
        """What was registered with `webhook` and `conversion`; it makes the manifests, too."""
        self._loop_defaults: LoopOptions = controllers or {}
        self._runnables: list[tuple[Runnable, bool]] = []
        self._is_closed = False

    def controller(
        self,
        kind: type[T],
        reconcile: Reconciler[T],
        *,
        owns: Sequence[Kind | Owned] = (),
        watches: Sequence[Source] = (),
        name: str | None = None,
        **options: Unpack[ControllerOptions],
    ) -> Controller[T]:
        """Have *reconcile* called for each object of *kind*, and again when what it owns or watches changes.

        ControllerOptions and LoopOptions say what the other options mean. Raises ConfigError if the name,
        which labels metrics, is taken, and TypeError for an option that there is not.
        """
        self._only_before_start()
        controller = Controller(
            kind,
            reconcile,
            name=self._free_name(name or resource_of(kind).kind.lower()),
            clock=self.clock,
            metrics=self.metrics,
            limit=self._limit,
            options=cast("ControllerOptions", {**self._loop_defaults, **options}),
        )
        self.controllers.append(controller)
        return controller.set_up(owns, watches)

    def keys(
        self,
        name: str,
        reconcile: KeyReconciler[K],
        *,
        watches: Sequence[Source],
        **options: Unpack[LoopOptions],
    ) -> KeyController[K]:
        """
        Have *reconcile* called with keys of any hashable type, which the handlers of *watches* give.

        For what is no object: a node's pool, a tenant, an image. LoopOptions says what the other options
        mean. Raises ConfigError if the name is taken.
        """
        self._only_before_start()
        controller: KeyController[K] = KeyController(
            self._free_name(name),
            reconcile,
            clock=self.clock,
            metrics=self.metrics,
            limit=self._limit,
            options=cast("LoopOptions", {**self._loop_defaults, **options}),
        )
        self.controllers.append(controller)
        for watch in watches:
            controller.watch(watch)
        return controller

    def cluster(
        self,
        name: str,
        *,
        config: ClientConfig | None = None,
        client: Client | None = None,
        cache: CacheOptions | None = None,
    ) -> Cluster:
        """
        One more cluster, by a config or a client of its own, with a cache and a recorder.

        Controllers look at it by `clusters=[None, it]` or by `Watch(cluster=it)`; requests about it have its
        name. Raises ConfigError for a name that is empty or taken.
        """
        self._only_before_start()
        if not name or name in self.clusters:
            raise ConfigError(f"a cluster needs a name of its own, not {name!r}")
        cluster = self.clusters[name] = Cluster(name, config=config, client=client, cache=cache)
        return cluster

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

    def add(
        self, runnable: Runnable | Callable[[asyncio.Event], Awaitable[None]], *, needs_leader: bool = True
    ) -> None:
        """
        Run *runnable* too, or a coroutine function that ends when the event that it gets is set.

        With *needs_leader* it runs only while this process leads.
        """
        self._only_before_start()
        added = runnable if isinstance(runnable, Runnable) else RunnableFunction(runnable)
        self._runnables.append((added, needs_leader))

    def on_start(self, prepare: Callable[[Client], Awaitable[None]]) -> None:
        """Have *prepare* awaited at start, before caches and controllers, on every replica."""
        self._only_before_start()
        self.preparations.append(prepare)

    def select(self, kind: Kind, labels: str) -> None:
        """Keep only *kind*'s objects with these labels in the cache. Raises ConfigError for two selectors."""
        self._only_before_start()
        self._limit(HOME, kind, labels, metadata_only=False)

    def add_check(self, name: str, check: Check, *, ready: bool = True) -> None:
        """Add a check to /readyz, or else to /healthz."""
        (self.ready_checks if ready else self.live_checks)[name] = check

    def runnables(self, *, leader: bool) -> list[Runnable]:
        return [runnable for runnable, needs_leader in self._runnables if needs_leader is leader]

    def _limit(self, cluster: str, kind: Kind, labels: str, *, metadata_only: bool) -> None:
        if cluster != HOME and cluster not in self.clusters:
            raise ConfigError(f"the cluster {cluster} is not this manager's; make it with manager.cluster()")
        if not labels and not metadata_only:
            return
        if cluster == HOME:
            self.cache_options = self.cache_options.limited(kind, labels=labels, metadata_only=metadata_only)
        else:
            further = self.clusters[cluster]
            further.options = further.options.limited(kind, labels=labels, metadata_only=metadata_only)

    def _free_name(self, name: str) -> str:
        if any(name == controller.name for controller in self.controllers):
            raise ConfigError(f"there is a controller named {name} already; give one of them another name")
        return name

    def _only_before_start(self) -> None:
        if self._is_closed:
            raise ConfigError("the manager runs already; this must be done before")
