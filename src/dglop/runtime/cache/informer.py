# SPDX-License-Identifier: Apache-2.0
"""Informer: one kind's store, kept right by reflectors, and those who hear of its changes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dglop.errors import CacheNotSyncedError, DglopError
from dglop.runtime.cache.delta import Delta, EventHandlerProtocol, tell
from dglop.runtime.cache.health import InformerHealth
from dglop.runtime.cache.reflector_runner import ReflectorRunner
from dglop.runtime.cache.scope import Scope
from dglop.runtime.cache.shown import Shown
from dglop.runtime.cache.store import Indexer, Store
from dglop.runtime.cache.telling import is_unserved, telling
from dglop.runtime.clock import Clock, within

if TYPE_CHECKING:
    from dglop.runtime.api.resource import Resource
    from dglop.runtime.cache.entry import Cached
    from dglop.runtime.cache.metrics import CacheMetrics
    from dglop.runtime.log import Log

__all__ = ("Informer", "Registration")

_CHUNK = 500
_RESYNC_CHUNK = 100  # nobody waits for it

MakeRunner = Callable[[Scope, Any], ReflectorRunner]


class Registration:
    """One handler's place in an informer."""

    def __init__(self, informer: Informer, handler: EventHandlerProtocol) -> None:
        self.informer = informer
        self.handler = handler
        self.is_removed: bool = False
        self._is_behind = not informer.has_synced()

    def has_synced(self) -> bool:
        """Whether the handler has heard of everything in the first list."""
        return self.informer.has_synced() or not self._is_behind

    def remove(self) -> None:
        self.is_removed = True
        self.informer.forget(self)


class Informer:
    """Objects of one kind in memory, and their changes as calls.

    Handlers are plain functions, called in order in the event loop; one that raises is logged and
    hurts no other. A change is in `store` before anyone hears of it. Every `resync_seconds`, a tenth more or
    less by `jitter` in [0, 1), handlers hear of every object once more, from memory; 0 is never. `place` goes
    before the kind in metrics and messages.
    """

    def __init__(
        self,
        scopes: Sequence[Scope],
        make_runner: MakeRunner,
        *,
        clock: Clock,
        log: Log,
        indexers: Mapping[str, Indexer] | None = None,
        metrics: CacheMetrics | None = None,
        resync_seconds: float = 0.0,
        jitter: Callable[[], float] = random.random,
        place: str = "",
    ) -> None:
        self.scopes: tuple[Scope, ...] = tuple(scopes)
        self.store: Store = Store(indexers)
        name = self.resource.group_resource
        self.health: InformerHealth = InformerHealth(f"{place}:{name}" if place else name)
        self._clock = clock
        self._metrics = metrics
        self._log = log.bind(kind=self.health.kind)
        self._registrations: list[Registration] = []
        self._synced = asyncio.Event()
        self._resync_seconds = resync_seconds
        self._jitter = jitter
        self._in_order = asyncio.Lock()
        """Held while a whole state is told: nobody hears of an object again before he has heard of it."""
        self._sinks = [_ScopeSink(self, scope) for scope in self.scopes]
        self._runners = [make_runner(sink.scope, sink) for sink in self._sinks]
        if metrics is not None:
            metrics.kept(self.health.kind)

    @property
    def resource(self) -> Resource:
        return self.scopes[0].resource

    def has_synced(self) -> bool:
        """Whether the first list is in the store and all handlers of then have heard of it."""
        return self._synced.is_set()

    async def wait_synced(self, seconds: float) -> None:
        """Raises CacheNotSyncedError, which names the kind and its last error, when the time is up."""
        try:
            await within(self._clock, seconds, self._synced.wait())
        except TimeoutError as problem:
            raise CacheNotSyncedError(f"not in sync within {seconds:g} s: {self.health}") from problem

    def has_shown(self, version: str, namespace: str = "") -> bool:
        """Whether what was written in a namespace as resourceVersion *version* is in the store by now.

        True also where it never will be: for a namespace that is not looked at.
        """
        return all(sink.shown.has(version) for sink in self._sinks if sink.scope.covers(namespace))

    async def wait_shown(self, version: str, namespace: str, seconds: float) -> None:
        """Until `has_shown`. Raises CacheNotSyncedError when the time is up."""
        for sink in self._sinks:
            if sink.scope.covers(namespace):
                try:
                    await within(self._clock, seconds, sink.shown.wait(version))
                except TimeoutError as problem:
                    raise CacheNotSyncedError(
                        f"{self.health.kind} was not shown at {version} within {seconds:g} s"
                    ) from problem

    def add_handler(self, handler: EventHandlerProtocol) -> Registration:
        """Adds a handler; it is told of what is there already at once, as of the first list."""
        registration = Registration(self, handler)
        for obj in self.store.list():
            self._tell(registration, Delta(None, obj, is_initial=True))
        self._registrations = [*self._registrations, registration]
        return registration

    def forget(self, registration: Registration) -> None:
        self._registrations = [each for each in self._registrations if each is not registration]

    async def run(self) -> None:
        """Keeps the store right until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            for runner, scope in zip(self._runners, self.scopes, strict=True):
                where = scope.namespace or ("other" if scope.except_namespaces else "all") + " namespaces"
                group.create_task(runner.run(), name=f"reflector {self.health.kind} in {where}")
            if self._resync_seconds > 0:
                group.create_task(self._keep_resyncing(), name=f"resync {self.health.kind}")

    async def resync(self) -> None:
        """Tells all handlers of every object as an update to itself, giving way to others now and then."""
        async with self._in_order:
            for index, key in enumerate([obj.key for obj in self.store]):
                # As it is by now: while others had their turn it may have changed, or gone.
                obj = self.store.get(key)
                if obj is not None:
                    await self.deliver([Delta(obj, obj)], self._registrations)
                if index % _RESYNC_CHUNK == _RESYNC_CHUNK - 1:
                    await asyncio.sleep(0)

    async def replace(
        self, objects: list[Cached], covers: Callable[[str], bool] | None, *, is_initial: bool
    ) -> None:
        """Makes `objects` the whole state of the namespaces that `covers` says, and tells what changed.

        The list is emptied. Others have their turn meanwhile, and see many changes come in parts.
        """
        fresh = {obj.key: obj for obj in objects}
        objects.clear()
        async with self._in_order:
            for deltas in self.store.replacing(fresh, covers=covers, is_initial=is_initial):
                await self.deliver(deltas, self._registrations)
                await asyncio.sleep(0)

    async def _keep_resyncing(self) -> None:
        while True:
            due = asyncio.Event()
            # Drawn anew each round: kinds, and replicas that began together, do not stay in step.
            pause = self._resync_seconds * (0.9 + 0.2 * self._jitter())
            timer = self._clock.call_later(pause, due.set)
            try:
                await due.wait()
            finally:
                timer.cancel()
            await self.resync()

    async def deliver(self, deltas: Sequence[Delta], registrations: Sequence[Registration]) -> None:
        """Tells `registrations` of `deltas`, giving way to others now and then.

        They are those of the moment of the change: who came later has it from the store.
        """
        for index, delta in enumerate(deltas):
            for registration in registrations:
                self._tell(registration, delta)
            if index % _CHUNK == _CHUNK - 1:
                await asyncio.sleep(0)

    @property
    def registrations(self) -> Sequence[Registration]:
        return self._registrations

    def changed(self) -> None:
        """Brings health and metrics up to date after a change of the store."""
        synced = all(sink.is_whole for sink in self._sinks)
        if self._metrics is not None:
            self._metrics.items(self.health.kind, len(self.store))
        if synced and not self._synced.is_set():
            self._synced.set()
            self.health.synced = True
            if self._metrics is not None:
                self._metrics.synced(self.health.kind, value=True)
            self._log.info("Synced cache", objects=len(self.store))

    def retire(self) -> None:
        """Says in health and metrics that nothing is kept any more."""
        self._synced.clear()
        self.health.synced = False
        if self._metrics is not None:
            self._metrics.synced(self.health.kind, value=False)
            self._metrics.items(self.health.kind, 0)

    def alive(self) -> None:
        self.health.last_activity = self._clock.monotonic()
        self.health.consecutive_failures = 0
        self.health.is_unserved = False

    def failed(self, error: DglopError) -> None:
        now = self._clock.monotonic()
        if not self.health.consecutive_failures:
            self.health.failing_since = now
        self.health.consecutive_failures += 1
        self.health.last_error = str(error)
        self.health.is_unserved = is_unserved(error)
        if self._metrics is not None:
            self._metrics.failure(self.health.kind, getattr(error, "reason", type(error).__name__))
        said = telling(error, now - self.health.failing_since)
        (self._log.info if said.level == "info" else self._log.warning)(said.message, error=str(error))

    def restarting(self, reason: str) -> None:
        self.health.relists += 1
        if self._metrics is not None:
            self._metrics.relist(self.health.kind, reason)

    def awaiting(self, seconds: float) -> None:
        self._log.warning("Still waiting for the end of the initial events", seconds=round(seconds))

    def counted(self, type_: str) -> None:
        if self._metrics is not None:
            self._metrics.event(self.health.kind, type_)

    def _tell(self, registration: Registration, delta: Delta) -> None:
        if registration.is_removed:
            return
        try:
            tell(registration.handler, delta)
        except Exception:  # noqa: BLE001 - one handler's bug must not cost the others an event
            self._log.exception("Event handler raised", handler=type(registration.handler).__qualname__)


class _ScopeSink:
    """One scope's way into the informer's store."""

    def __init__(self, informer: Informer, scope: Scope) -> None:
        self._informer = informer
        self.scope = scope
        self.shown = Shown()
        self.is_whole = False

    async def replace(self, objects: list[Cached], version: str) -> None:
        informer = self._informer
        await informer.replace(objects, self.scope.covers, is_initial=not self.is_whole)
        self.shown.see(version)
        self.is_whole = True
        informer.changed()

    async def events(self, events: Sequence[tuple[str, Cached]]) -> None:
        informer = self._informer
        for type_, obj in events:
            informer.counted(type_)
            deltas = informer.store.remove(obj) if type_ == "DELETED" else informer.store.put(obj)
            self.shown.see(obj.resource_version)
            await informer.deliver(deltas, informer.registrations)
        informer.changed()

    def alive(self) -> None:
        self._informer.alive()

    def failed(self, error: DglopError) -> None:
        self._informer.failed(error)

    def restarting(self, reason: str) -> None:
        self._informer.restarting(reason)

    def awaiting(self, seconds: float) -> None:
        self._informer.awaiting(seconds)
