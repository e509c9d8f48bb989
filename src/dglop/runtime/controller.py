# SPDX-License-Identifier: Apache-2.0
"""Controller: informers' events become requests, and workers have them reconciled."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from dglop.errors import CacheNotSyncedError
from dglop.runtime.api import resource_of
from dglop.runtime.handler import for_object
from dglop.runtime.late import OptionalKinds
from dglop.runtime.queue import WorkQueue
from dglop.runtime.source import Channel, EnqueueHandler, Owned, Watch, watch_of
from dglop.runtime.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import timedelta

    from dglop.runtime.api import Kind, Resource, Rule
    from dglop.runtime.cache import Cached, EventHandlerProtocol
    from dglop.runtime.clock import Clock
    from dglop.runtime.environment import Environment
    from dglop.runtime.invoke import Reconciler
    from dglop.runtime.metrics import Metrics
    from dglop.runtime.predicate import Predicate
    from dglop.runtime.queue import RateLimiter
    from dglop.runtime.reconcile import Request

    Indexes = Mapping[Kind, Mapping[str, Callable[[Cached], Iterable[str]]]]

__all__ = ("Controller",)

T = TypeVar("T")


class Controller(Generic[T]):
    """
    Reconciles the objects of one kind. Made by `Manager.controller`.

    Guarantees: level-based and deduplicated; one worker a key; status is written once, after the reconciler
    returned, and events follow it; an object older than the controller's own last write is not handed out.
    """

    def __init__(
        self,
        kind: type[T],
        reconcile: Reconciler[T],
        *,
        name: str,
        clock: Clock,
        metrics: Metrics,
        concurrency: int = 1,
        predicates: Sequence[Predicate] = (),
        reconcile_timeout: timedelta | None = None,
        on_gone: Callable[[Request], object] | None = None,
        indexes: Indexes | None = None,
        rate_limiter: RateLimiter[Request] | None = None,
        select: Callable[[Kind, str], None],
        rules: Sequence[Rule] = (),
    ) -> None:
        self.kind = kind
        self.resource: Resource = resource_of(kind)
        self.reconcile = reconcile
        self.name = name
        self.clock = clock
        self.metrics = metrics
        self.concurrency = concurrency
        self.reconcile_timeout = reconcile_timeout
        self.on_gone = on_gone or getattr(reconcile, "gone", None)
        self.on_unreadable = getattr(reconcile, "unreadable", None)
        self.queue: WorkQueue[Request] = WorkQueue(
            clock, limiter=rate_limiter, metrics=self._queue_metrics(metrics, name)
        )
        self.rules = tuple(rules)
        self._predicates = predicates
        self._indexes: dict[Resource, dict[str, Any]] = {
            resource_of(indexed): dict(indexers) for indexed, indexers in (indexes or {}).items()
        }
        self._watches: list[Watch] = []
        self._observers: list[tuple[Kind, EventHandlerProtocol]] = []
        self._channels: list[Channel] = []
        self._select = select
        self._env: Environment | None = None

    def __repr__(self) -> str:
        return f"Controller({self.name}, {self.queue!r})"

    def set_up(self, owns: Iterable[Kind | Owned], watches: Iterable[Watch | Channel]) -> Self:
        """Look at all these, and then let a reconciler that has a `setup` add more."""
        for owned in owns:
            self.own(owned)
        for watch in watches:
            self.watch(watch)
        setup = getattr(self.reconcile, "setup", None)
        if setup is not None:
            setup(self)
        return self

    def own(self, owned: Kind | Owned) -> None:
        """Reconcile the controlling owner of each changed object of a kind."""
        self.watch(watch_of(self.resource, owned if isinstance(owned, Owned) else Owned(owned)))

    def watch(self, source: Watch | Channel) -> None:
        """Reconcile whom a Watch's handler names, or who is pushed into a Channel."""
        if isinstance(source, Channel):
            self._channels.append(source)
            source.connect(self.queue)
            return
        if source.labels:
            self._select(source.kind, source.labels)
        self._watches.append(source)

    def observe(self, kind: Kind, handler: EventHandlerProtocol) -> None:
        """Have *handler* called with a kind's events, before they become requests."""
        self._observers.append((kind, handler))

    def index(self, kind: Kind, name: str, indexer: Callable[[Cached], Iterable[str]]) -> None:
        """Have the cache index a kind's objects by what *indexer* gives."""
        self._indexes.setdefault(resource_of(kind), {})[name] = indexer

    def kinds(self) -> list[Kind]:
        """All kinds that this controller looks at, its own first."""
        kinds = [self.kind, *(watch.kind for watch in self._watches), *(kind for kind, _ in self._observers)]
        return list({resource_of(kind): kind for kind in kinds}.values())

    def optional_kinds(self) -> set[Resource]:
        """Those of them that the server may not know."""
        return {resource_of(watch.kind) for watch in self._watches if watch.optional}

    def prepare(self, env: Environment) -> None:
        """Have the cache hold what the controller will look at, whether or not this process leads."""
        self._env = env
        for kind in self._needed():
            env.cache.informer(kind, indexers=self._indexes.get(resource_of(kind)))

    async def run(self, stop: asyncio.Event) -> None:
        """Work until *stop* is set, and then finish what was begun. Raises CacheNotSyncedError."""
        env = self._env
        if env is None:
            raise CacheNotSyncedError(f"controller {self.name} was not prepared")
        worker = Worker(self, env)
        log = env.log.bind(controller=self.name)
        registrations = self._register(env, worker)
        try:
            await self._wait_synced(env, log)
            optional = self._optional(env, registrations)
            await optional.begin()
            log.info("Started workers", workers=self.concurrency)
            async with asyncio.TaskGroup() as group:
                late = group.create_task(optional.keep_looking(), name=f"{self.name}/optional-kinds")
                for number in range(self.concurrency):
                    group.create_task(worker.run(), name=f"{self.name}/worker-{number}")
                await stop.wait()
                self.queue.close()
                late.cancel()
        finally:
            self.queue.close()
            for registration in registrations:
                registration.remove()
        log.info("Stopped workers")

    def _needed(self) -> list[Kind]:
        optional = self.optional_kinds()
        return [kind for kind in self.kinds() if resource_of(kind) not in optional]

    def _optional(self, env: Environment, registrations: list[Any]) -> OptionalKinds:
        def start(kind: Kind) -> None:
            env.cache.informer(kind, indexers=self._indexes.get(resource_of(kind)))
            registrations.extend(self._add_handlers(env, kind))

        optional = self.optional_kinds()
        return OptionalKinds(env, [kind for kind in self.kinds() if resource_of(kind) in optional], start)

    def _register(self, env: Environment, worker: Worker[T]) -> list[Any]:
        own = (worker.own_writes_handler(), EnqueueHandler(self.queue, for_object, self._predicates))
        # Observers come first: what they take down must be so before anyone is reconciled for it.
        registrations = self._add_handlers(env, self.kind, *own)
        for kind in self._needed()[1:]:
            registrations += self._add_handlers(env, kind)
        return registrations

    def _add_handlers(self, env: Environment, kind: Kind, *more: EventHandlerProtocol) -> list[Any]:
        """Register the observers of a kind, then *more*, then the watches."""
        resource, informer = resource_of(kind), env.cache.informer(kind)
        observers = [handler for observed, handler in self._observers if resource_of(observed) == resource]
        watches = [
            EnqueueHandler(self.queue, watch.handler, watch.predicates)
            for watch in self._watches
            if resource_of(watch.kind) == resource
        ]
        return [informer.add_handler(handler) for handler in (*observers, *more, *watches)]

    async def _wait_synced(self, env: Environment, log: Any) -> None:
        for kind in self._needed():
            informer = env.cache.informer(kind)
            if not informer.has_synced():
                log.info("Waiting for the first list", kind=resource_of(kind).group_resource)
                await informer.wait_synced(env.sync_seconds)

    def _queue_metrics(self, metrics: Metrics, name: str) -> Any:
        queue_metrics = metrics.queue(name)
        queue_metrics.observe_work(self._work_in_progress)
        return queue_metrics

    def _work_in_progress(self) -> list[float]:
        return self.queue.work_in_progress()
