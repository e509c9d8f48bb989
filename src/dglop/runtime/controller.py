# SPDX-License-Identifier: Apache-2.0
"""Controller: informers' events become requests, and workers have the objects reconciled."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, Self, TypeVar

from dglop.errors import ConfigError
from dglop.runtime.api import resource_of
from dglop.runtime.controlloop import ControlLoop
from dglop.runtime.environment import HOME
from dglop.runtime.handler import for_object
from dglop.runtime.loopoptions import LoopOptions
from dglop.runtime.objectworker import ObjectWorker
from dglop.runtime.reconcile import Request, Result
from dglop.runtime.source import Owned, watch_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from dglop.errors import SchemaError
    from dglop.runtime.api import Kind, Resource
    from dglop.runtime.cache import Cached
    from dglop.runtime.clock import Clock
    from dglop.runtime.cluster import Cluster
    from dglop.runtime.context import Context
    from dglop.runtime.controlloop import Hearing
    from dglop.runtime.environment import Environment
    from dglop.runtime.invoke import Reconciler
    from dglop.runtime.loopoptions import Limit
    from dglop.runtime.metrics import Metrics
    from dglop.runtime.predicate import Predicate
    from dglop.runtime.source import Source
    from dglop.runtime.worker import Worker

    Unreadable = Callable[[Cached, SchemaError, Context], Awaitable[Result | None]]

__all__ = ("Controller", "ControllerOptions")

T = TypeVar("T")


class ControllerOptions(LoopOptions, total=False):
    """
    What can be said of a Controller besides.

    Attributes
    ----------
        predicates: which events of the reconciled kind itself count.
        sees_own_writes: an object is not reconciled again before the cache shows what its last reconciliation
            wrote by `ctx.apply`, `ctx.create` and `ctx.patch`, of the kinds that are cached; after half a
            minute it is all the same. Its own status and what is patched in it is always waited for.
        on_gone: is called with the request for an object that is no more.
        clusters: where the objects are; by default in the Manager's own cluster. With None for that one,
            `clusters=[None, west]` reconciles the objects of both.
    """

    predicates: Sequence[Predicate]
    sees_own_writes: bool
    on_gone: Callable[[Request], object] | None
    clusters: Sequence[Cluster | None]


class Controller(ControlLoop[Request], Generic[T]):
    """
    Reconciles the objects of one kind. Made by `Manager.controller`.

    Guarantees: level-based and deduplicated; one worker a key; status is written once, after the reconciler
    returned, and events follow it; an object older than the controller's own last write is not handed out.

    Attributes
    ----------
        name: what metrics and logs call it; the kind in lower case by default.
        concurrency: how many objects are reconciled side by side.
        predicates: which changes of the kind itself are worth a reconciliation; all must agree.
        reconcile_timeout: a reconciliation that takes longer is cancelled and tried again.
        on_gone: called with the Request of an object that is no more.
        indexes: by kind and name, functions from a Cached to the keys that the cache finds it by.
        rate_limiter: the pauses after failures; by default 5 ms, doubled each time, up to 1000 s.
        rules: what the reconciler's calls must be allowed, beside what `needs` declares.
    """

    option_names: ClassVar[frozenset[str]] = ControllerOptions.__optional_keys__

    def __init__(
        self,
        kind: type[T],
        reconcile: Reconciler[T],
        *,
        name: str,
        clock: Clock,
        metrics: Metrics,
        limit: Limit,
        options: ControllerOptions,
    ) -> None:
        super().__init__(name, reconcile, clock=clock, metrics=metrics, limit=limit, options=options)
        self.kind = kind
        self.resource: Resource = resource_of(kind)
        gone = options.get("on_gone") or getattr(reconcile, "gone", None)
        self.on_gone: Callable[[Request], object] | None = gone
        self.on_unreadable: Unreadable | None = getattr(reconcile, "unreadable", None)
        self.sees_own_writes: bool = options.get("sees_own_writes", False)
        self._predicates = options.get("predicates", ())
        places = options.get("clusters") or (None,)
        self._clusters = tuple(dict.fromkeys(each.name if each else HOME for each in places))

    @property
    def clusters(self) -> tuple[str, ...]:
        return self._clusters

    def set_up(self, owns: Iterable[Kind | Owned], watches: Iterable[Source]) -> Self:
        """Look at all these, and then let a reconciler that has a `setup` add more."""
        for cluster in self.clusters:
            self._limit(cluster, self.kind, "", metadata_only=False)
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

    def enqueue(self, key: Request, *, after: float = 0.0, priority: int | None = None) -> None:
        """Have the object of a Request reconciled. Raises TypeError for anything else."""
        if not isinstance(key, Request):
            raise TypeError(f"controller {self.name} is asked by Request(namespace, name), not by {key!r}")
        super().enqueue(key, after=after, priority=priority)

    def prepare(self, env: Environment) -> None:
        """As for any controller. Raises ConfigError if no more than metadata is held of its own kind."""
        super().prepare(env)
        for cluster in self.clusters:
            scopes = env.sites[cluster].cache.informer(self.kind).scopes
            if isinstance(self.kind, type) and any(scope.metadata_only for scope in scopes):
                raise ConfigError(
                    f"of {self.resource.group_resource} only metadata is cached, so controller {self.name} "
                    f"cannot give out a {self.kind.__name__}; give it the Resource, or cache all of it"
                )

    def _default_kinds(self, cluster: str) -> list[Kind]:
        kinds = super()._default_kinds(cluster)
        return [self.kind, *kinds] if cluster in self.clusters else kinds

    def _make_worker(self, env: Environment) -> ObjectWorker[T]:
        return ObjectWorker(self, env)

    def _handlers(self, env: Environment, worker: Worker[Request]) -> list[Hearing]:
        own: list[Hearing] = []
        for cluster in self.clusters:
            informer = env.sites[cluster].cache.informer(self.kind)
            if isinstance(worker, ObjectWorker):
                own.append((informer, worker.own_writes_handler(cluster)))
            own.append((informer, self._enqueuing(for_object, self._predicates, cluster)))
        return [*self._observing(env), *own, *self._watching(env)]
