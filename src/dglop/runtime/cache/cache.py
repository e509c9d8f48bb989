# SPDX-License-Identifier: Apache-2.0
"""Cache: the informers of one program, one for each kind and selection."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from dglop.errors import CacheNotSyncedError, ConfigError
from dglop.runtime.api.resource import Kind, Resource, resource_of
from dglop.runtime.cache.entry import Cached
from dglop.runtime.cache.informer import Informer
from dglop.runtime.cache.options import CacheOptions, scopes_of
from dglop.runtime.cache.reflector_runner import ReflectorRunner
from dglop.runtime.clock import Clock, SystemClock
from dglop.runtime.log import Log, make_log

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dglop.runtime.cache.metrics import CacheMetrics
    from dglop.runtime.cache.scope import Limits, Scope
    from dglop.runtime.cache.sink import Sink
    from dglop.runtime.cache.store import Indexer
    from dglop.runtime.client.client import Client

__all__ = ("Cache",)

Objects = list[Cached]
_RESYNC_SECONDS = 36_000.0


class Cache:
    """Reads from memory what informers keep up to date.

    `options` say what is kept. Every `resync_seconds`, a tenth more or less, handlers hear
    of all objects once more as unchanged updates, without a request; 0 is never. `place` is the name of the
    cluster in metrics and messages, if there are several. `pages` says that the API server gives lists page
    by page from memory (ask `serves_pages`): then that is how informers read everything, which costs least.
    Guarantees: one informer for each kind and selection; a reflector that dies ends `run` with its error.
    Assumptions: used inside one event loop; what is read is shared and never changed.
    """

    def __init__(
        self,
        client: Client,
        *,
        options: CacheOptions | None = None,
        metrics: CacheMetrics | None = None,
        clock: Clock | None = None,
        log: Log = None,
        streams: bool = True,
        pages: bool = False,
        limits: Limits | None = None,
        resync_seconds: float = _RESYNC_SECONDS,
        jitter: Callable[[], float] = random.random,
        place: str = "",
    ) -> None:
        self.options: CacheOptions = options or CacheOptions()
        self.pages: bool = pages
        self._client = client
        self._place = place
        self._metrics = metrics
        self._clock = clock or SystemClock()
        self._log = log or make_log()
        self._streams = streams
        self._limits = limits
        self._resync_seconds = resync_seconds
        self._jitter = jitter
        self._informers: dict[tuple[Scope, ...], Informer] = {}
        self._running: dict[Informer, asyncio.Task[None]] = {}
        self._first: dict[Resource, Informer] = {}
        self._group: asyncio.TaskGroup | None = None
        self._task: asyncio.Task[None] | None = None

    def informer(
        self,
        kind: Kind,
        *,
        labels: str | None = None,
        fields: str | None = None,
        indexers: Mapping[str, Indexer] | None = None,
        metadata_only: bool | None = None,
    ) -> Informer:
        """The informer of `kind` for this selection, made at the first call and started if the cache runs.

        The first one made for a kind is the one that `get` and `list` read, and what is meant where no
        selection is given; before, that is what the options say of the kind. Raises ConfigError for a
        selection that the options do not allow.
        """
        resource = resource_of(kind)
        known = self._first.get(resource)
        if known is not None and (labels, fields, metadata_only) == (None, None, None):
            scopes = known.scopes
        else:
            scopes = scopes_of(
                resource, self.options, labels=labels, fields=fields, metadata_only=metadata_only
            )
        informer = self._informers.get(scopes)
        if informer is None:
            informer = self._make(scopes, indexers)
        else:
            for name, indexer in (indexers or {}).items():
                informer.store.add_index(name, indexer)
        return informer

    def holds(self, kind: Kind) -> bool:
        """Whether there is an informer of `kind`, be it in sync or not."""
        return resource_of(kind) in self._first

    async def ensure(self, kind: Kind, seconds: float) -> Informer:
        """The informer of `kind`, made if need be, once it is in sync. Raises CacheNotSyncedError."""
        informer = self.informer(kind)
        await informer.wait_synced(seconds)
        return informer

    async def remove(self, kind: Kind) -> None:
        """Stops the informers of `kind`, all its selections, and forgets what they held.

        Handlers of it hear nothing any more; a later `informer` makes a new one. Nothing if there is none.
        """
        resource = resource_of(kind)
        self._first.pop(resource, None)
        for scopes, informer in list(self._informers.items()):
            if informer.resource != resource:
                continue
            del self._informers[scopes]
            task = self._running.pop(informer, None)
            if task is not None:
                task.cancel()
                await asyncio.wait((task,))
            informer.retire()

    @property
    def informers(self) -> tuple[Informer, ...]:
        return tuple(self._informers.values())

    def get(self, kind: Kind, name: str, namespace: str = "") -> Cached | None:
        """The object, or None where there is none. Raises CacheNotSyncedError before that is known."""
        return self._synced(kind).store.get((namespace, name))

    def list(
        self, kind: Kind, namespace: str | None = None, *, index: tuple[str, str] | None = None
    ) -> Objects:
        """The objects, of one namespace or found by an index's (name, value)."""
        store = self._synced(kind).store
        if index is None:
            return store.list() if namespace is None else store.by_index("namespace", namespace)
        found = store.by_index(*index)
        return found if namespace is None else [each for each in found if each.namespace == namespace]

    async def run(self) -> None:
        """Runs all informers, also those made meanwhile, until it is cancelled or one dies."""
        if self._group is not None:
            raise ConfigError("the cache runs already; start or run it once")
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                for informer in self._informers.values():
                    self._start(informer)
                # The group must outlive its first informers: more may come.
                await asyncio.Event().wait()
        finally:
            self._group = None
            self._running.clear()

    async def start(self) -> None:
        """Runs it in the background, until `stop`."""
        if self._task is not None:
            raise ConfigError("the cache runs already; start or run it once")
        self._task = asyncio.create_task(self.run(), name="cache")
        await asyncio.sleep(0)  # lets run begin, so that informers made next are started

    async def stop(self) -> None:
        """Ends what `start` began. Raises what a reflector died of."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))
            if not task.cancelled():
                task.result()

    async def wait_synced(self, seconds: float) -> None:
        """Until all informers of now are in sync.

        Raises CacheNotSyncedError, which names each that is not and its last error, or what a cache
        that was started died of.
        """
        waiting = asyncio.ensure_future(self._all_synced(seconds))
        try:
            await asyncio.wait(
                [waiting, self._task] if self._task else [waiting], return_when=asyncio.FIRST_COMPLETED
            )
            if self._task is not None and self._task.done():
                self._task.result()
            await waiting
        finally:
            waiting.cancel()

    async def _all_synced(self, seconds: float) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for informer in self.informers:
                    group.create_task(informer.wait_synced(seconds))
        except* CacheNotSyncedError as problems:
            behind = "; ".join(str(each.health) for each in self.informers if not each.has_synced())
            raise CacheNotSyncedError(f"not in sync within {seconds:g} s: {behind}") from problems

    def _synced(self, kind: Kind) -> Informer:
        resource = resource_of(kind)
        informer = self._first.get(resource)
        if informer is None:
            raise CacheNotSyncedError(
                f"{resource.group_resource} is not cached; ask for cache.informer({resource.kind}) at start, "
                "or read it with ctx.reader"
            )
        if not informer.has_synced():
            raise CacheNotSyncedError(str(informer.health))
        return informer

    def _make(self, scopes: tuple[Scope, ...], indexers: Mapping[str, Indexer] | None) -> Informer:
        resync = self.options.of(scopes[0].resource).resync_seconds
        informer = Informer(
            scopes,
            self._runner,
            clock=self._clock,
            log=self._log,
            indexers=indexers,
            metrics=self._metrics,
            resync_seconds=self._resync_seconds if resync is None else resync,
            jitter=self._jitter,
            place=self._place,
        )
        self._informers[scopes] = informer
        self._first.setdefault(informer.resource, informer)
        if self._group is not None:
            self._start(informer)
        return informer

    def _runner(self, scope: Scope, sink: Sink) -> ReflectorRunner:
        return ReflectorRunner(
            self._client,
            scope,
            sink,
            clock=self._clock,
            streams=self._streams,
            pages=lambda: self.pages,
            limits=self._limits,
        )

    def _start(self, informer: Informer) -> None:
        if self._group is not None:
            task = self._group.create_task(informer.run(), name=f"informer {informer.health.kind}")
            self._running[informer] = task
