# SPDX-License-Identifier: Apache-2.0
"""What controllers of every sort have in common: sources that fill a queue, and workers that empty it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from dglop.errors import CacheNotSyncedError, ConfigError
from dglop.runtime.api import resource_of
from dglop.runtime.enqueue import EnqueueHandler
from dglop.runtime.environment import HOME
from dglop.runtime.late import OptionalKinds, check_optional
from dglop.runtime.loopoptions import LoopOptions
from dglop.runtime.predicate import all_of
from dglop.runtime.queue import WorkQueue
from dglop.runtime.source import Channel, Watch
from dglop.runtime.usercode import UserCodeError, call_coroutine

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from datetime import timedelta

    from dglop.runtime.api import Kind, Resource, Rule
    from dglop.runtime.cache import Cache, Cached, EventHandlerProtocol, Informer, Registration
    from dglop.runtime.clock import Clock
    from dglop.runtime.environment import Environment
    from dglop.runtime.loopoptions import Limit
    from dglop.runtime.metrics import Metrics
    from dglop.runtime.predicate import Predicate
    from dglop.runtime.source import FunctionSource, Source
    from dglop.runtime.worker import Worker

    Hearing = tuple[Informer, EventHandlerProtocol]

__all__ = ("ControlLoop",)

K = TypeVar("K")


class ControlLoop(Generic[K]):
    """A queue of keys, what fills it, and how many workers empty it. Strictly for controllers."""

    option_names: ClassVar[frozenset[str]] = LoopOptions.__optional_keys__
    """What may be said of it by keyword; a type checker knows, but not everyone asks one."""

    def __init__(
        self, name: str, reconcile: Any, *, clock: Clock, metrics: Metrics, limit: Limit, options: LoopOptions
    ) -> None:
        unknown = sorted(options.keys() - self.option_names)
        if unknown:
            known = ", ".join(sorted(self.option_names))
            raise TypeError(f"controller {name} has no option {', '.join(unknown)}; there are {known}")
        self.name = name
        self.given: frozenset[str] = frozenset(options)
        """The names of the options that were given, to it or for all controllers of its Manager."""
        self.reconcile: Any = reconcile
        self.clock = clock
        self.metrics = metrics
        self.concurrency: int = options.get("concurrency", 1)
        if self.concurrency < 1:
            raise ConfigError(f"controller {name} needs a concurrency of 1 or more, not {self.concurrency}")
        self.reconcile_timeout: timedelta | None = options.get("reconcile_timeout")
        self.rules: tuple[Rule, ...] = tuple(options.get("rules", ()))
        self.needs_leader: bool = options.get("needs_leader", True)
        self.warm_up: bool = options.get("warm_up", False)
        queue_metrics = metrics.queue(name)
        self.queue: WorkQueue[K] = WorkQueue(
            clock, limiter=options.get("rate_limiter"), metrics=queue_metrics
        )
        queue_metrics.observe_work(self.queue.work_in_progress)
        debounce = options.get("debounce")
        self._debounce = debounce.total_seconds() if debounce else 0.0
        self._filters = tuple(options.get("filters", ()))
        self._indexes: dict[Resource, dict[str, Any]] = {
            resource_of(kind): dict(indexers) for kind, indexers in (options.get("indexes") or {}).items()
        }
        self._limit = limit
        self._watches: list[Watch] = []
        self._optional: list[Watch] = []
        self._observers: list[tuple[Kind, EventHandlerProtocol]] = []
        self._channels: list[Channel[Any]] = []
        self._idle_functions: list[FunctionSource] = []
        self._env: Environment | None = None
        self._worker: Worker[K] | None = None
        self._registrations: list[Registration] = []

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}, {self.queue!r})"

    @property
    def clusters(self) -> tuple[str, ...]:
        """The names of the clusters that it looks at where a source names none."""
        return (HOME,)

    def watch(self, source: Source) -> None:
        """Reconcile whom a Watch's handler names, who is pushed into a Channel, or whom a function finds.

        Raises ConfigError for an optional kind that is not of the Manager's own cluster alone.
        """
        if isinstance(source, Channel):
            self._channels.append(source)
            source.connect(self.enqueue)
        elif isinstance(source, Watch):
            check_optional(source, self.name, self.clusters)
            for cluster in self._clusters_of(source):
                self._limit(cluster, source.kind, source.labels, metadata_only=source.metadata_only)
            (self._optional if source.optional else self._watches).append(source)
        else:
            self._idle_functions.append(source)

    def enqueue(self, key: K, *, after: float = 0.0, priority: int | None = None) -> None:
        """Have *key* reconciled, as a source asks for it. Raises TypeError for what can be no key of this."""
        self.queue.add(key, after=after, priority=priority)

    def observe(self, kind: Kind, handler: EventHandlerProtocol) -> None:
        """Have *handler* called with a kind's events, before they become requests."""
        self._observers.append((kind, handler))

    def index(self, kind: Kind, name: str, indexer: Callable[[Cached], Iterable[str]]) -> None:
        """Have the cache index a kind's objects by what *indexer* gives."""
        self._indexes.setdefault(resource_of(kind), {})[name] = indexer

    def kinds(self, cluster: str = HOME) -> list[Kind]:
        """All kinds that this controller looks at in a cluster."""
        kinds = [*self._default_kinds(cluster), *(each.kind for each in self._choosy(cluster))]
        kinds += [each.kind for each in self._optional] if cluster == HOME else []
        return list({resource_of(kind): kind for kind in kinds}.values())

    def kinds_looked_for_otherwise(self, cluster: str = HOME) -> list[Kind]:
        """Those that a watch finds by an informer of its own, so that the cache's options do not limit it."""
        return [each.kind for each in self._choosy(cluster)]

    def prepare(self, env: Environment) -> None:
        """Have the caches hold what the controller will look at, whether or not this process leads."""
        self._env = env
        for channel in self._channels:
            channel.opened()
        for cluster, site in env.sites.items():
            for kind in self._default_kinds(cluster):
                site.cache.informer(kind, indexers=self._indexes.get(resource_of(kind)))
            for watch in self._choosy(cluster):
                store = self._informer_of(watch, site.cache).store
                for name, indexer in self._indexes.get(resource_of(watch.kind), {}).items():
                    store.add_index(name, indexer)

    def begin(self) -> Worker[K]:
        """Let the caches' events fill the queue from now on; for warming up, and by `run` itself."""
        if self._worker is None:
            env = self._environment()
            self._worker = self._make_worker(env)
            self._registrations = [
                informer.add_handler(handler) for informer, handler in self._handlers(env, self._worker)
            ]
        return self._worker

    async def run(self, stop: asyncio.Event) -> None:
        """Work until *stop* is set, and then finish what was begun. Raises CacheNotSyncedError."""
        env = self._environment()
        log = env.log.bind(controller=self.name)
        worker = self.begin()
        try:
            await self._wait_synced(env, log)
            optional = OptionalKinds(env, self._optional_kinds(), self._start_optional)
            await optional.begin()
            log.info("Started workers", workers=self.concurrency)
            async with asyncio.TaskGroup() as group:

                def start(work: Callable[[], Awaitable[None]], name: str) -> asyncio.Task[None]:
                    return group.create_task(self._lasting(work, name), name=f"{self.name}/{name}")

                late = start(optional.keep_looking, "optional-kinds")
                for number in range(self.concurrency):
                    start(worker.run, f"worker-{number}")
                start(partial(self.feed, stop), "sources")
                try:
                    await stop.wait()
                finally:
                    self.queue.close()
                late.cancel()
        finally:
            self.queue.close()
            for registration in self._registrations:
                registration.remove()
        log.info("Stopped workers")

    async def _lasting(self, work: Callable[[], Awaitable[None]], name: str) -> None:
        """Await *work*, which nobody may cancel but this loop: a missing worker would be missed by nobody."""
        try:
            await work()
        except asyncio.CancelledError as error:
            if self.queue.is_closed:
                raise
            self.queue.close()
            raise UserCodeError(f"{name} of controller {self.name} was cancelled from outside") from error
        except BaseException:
            self.queue.close()  # so that the others, which are cancelled now, are cancelled by this loop
            raise

    async def feed(self, stop: asyncio.Event) -> None:
        """Run the functions among the sources until *stop* is set, if they do not run yet.

        For warming up, and by `run` itself.
        """
        functions, self._idle_functions = self._idle_functions, []
        async with asyncio.TaskGroup() as group:
            for function in functions:
                group.create_task(call_coroutine(function, self.enqueue, stop), name=f"{self.name}/source")

    def _make_worker(self, env: Environment) -> Worker[K]:
        raise NotImplementedError

    def _handlers(self, env: Environment, worker: Worker[K]) -> list[Hearing]:
        """What hears of which informer, in the order in which an event reaches them."""
        del worker
        return [*self._observing(env), *self._watching(env)]

    def _observing(self, env: Environment) -> list[Hearing]:
        return [
            (env.sites[cluster].cache.informer(kind), handler)
            for cluster in self.clusters
            for kind, handler in self._needed_observers()
        ]

    def _optional_kinds(self) -> list[Kind]:
        return list({resource_of(each.kind): each.kind for each in self._optional}.values())

    def _needed_observers(self) -> list[tuple[Kind, EventHandlerProtocol]]:
        late = {resource_of(kind) for kind in self._optional_kinds()}
        return [each for each in self._observers if resource_of(each[0]) not in late]

    def _start_optional(self, kind: Kind) -> None:
        """Make the informer of a kind that is served by now, and let observers and watches hear of it."""
        wanted, cache = resource_of(kind), self._environment().sites[HOME].cache
        informer = cache.informer(kind, indexers=self._indexes.get(wanted))
        handlers = [handler for observed, handler in self._observers if resource_of(observed) == wanted]
        handlers += [
            self._enqueuing(watch.handler, watch.predicates, HOME)
            for watch in self._optional
            if resource_of(watch.kind) == wanted
        ]
        self._registrations += [informer.add_handler(each) for each in handlers]

    def _watching(self, env: Environment) -> list[Hearing]:
        found: list[Hearing] = []
        for watch in self._watches:
            for cluster in self._clusters_of(watch):
                informer = self._informer_of(watch, env.sites[cluster].cache)
                about = HOME if watch.cluster else cluster
                found.append((informer, self._enqueuing(watch.handler, watch.predicates, about)))
        return found

    def _enqueuing(self, handler: Any, predicates: Sequence[Predicate], cluster: str) -> EnqueueHandler:
        return EnqueueHandler(
            self.enqueue,
            handler,
            (all_of(*self._filters), *predicates) if self._filters else predicates,
            cluster=cluster,
            debounce=self._debounce,
        )

    def _default_kinds(self, cluster: str) -> list[Kind]:
        """The kinds of which it needs the informer that a cache has for each kind."""
        kinds = [
            each.kind for each in self._watches if cluster in self._clusters_of(each) and not each.informer
        ]
        return (
            [*kinds, *(kind for kind, _ in self._needed_observers())] if cluster in self.clusters else kinds
        )

    def _choosy(self, cluster: str) -> list[Watch]:
        """The watches that choose an informer of their own."""
        return [each for each in self._watches if each.informer and cluster in self._clusters_of(each)]

    def _informer_of(self, watch: Watch, cache: Cache) -> Informer:
        return watch.informer(cache) if watch.informer else cache.informer(watch.kind)

    def _clusters_of(self, watch: Watch) -> tuple[str, ...]:
        return (watch.cluster.name,) if watch.cluster else self.clusters

    def _environment(self) -> Environment:
        if self._env is None:
            raise CacheNotSyncedError(f"controller {self.name} was not prepared")
        return self._env

    async def _wait_synced(self, env: Environment, log: Any) -> None:
        for registration in self._registrations:
            informer = registration.informer
            if not informer.has_synced():
                log.info("Waiting for the first list", kind=informer.health.kind)
                await informer.wait_synced(env.sync_seconds)
