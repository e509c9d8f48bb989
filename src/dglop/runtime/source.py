# SPDX-License-Identifier: Apache-2.0
"""Where requests come from: events of kinds, a channel, a function of one's own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from dglop.runtime.handler import NORMAL_PRIORITY, for_owner
from dglop.runtime.usercode import call_here, plain_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dglop.runtime.api import Kind, Resource
    from dglop.runtime.cache import Cache, Informer
    from dglop.runtime.cluster import Cluster
    from dglop.runtime.handler import Handler
    from dglop.runtime.predicate import Predicate

__all__ = ("Channel", "Enqueue", "FunctionSource", "Owned", "Source", "Watch", "watch_of")

E = TypeVar("E")


class Enqueue(Protocol):
    """Has a request reconciled, or a key of the controller's own type."""

    def __call__(self, request: Any, /, *, after: float = 0.0, priority: int | None = None) -> None:
        """
        Queue *request*, *after* seconds from now; a higher *priority* comes first.

        If it is queued already, the earlier time and the higher priority hold.
        """
        ...


FunctionSource: TypeAlias = Callable[[Enqueue, asyncio.Event], Awaitable[None]]
"""
A coroutine function that calls *enqueue* whenever it finds something, until *stop* is set.

It runs while its controller does, so with leader election only in the leader, unless the controller warms up:
then in every process, from the start. It may end early; one that raises ends the Manager.
"""


@dataclass(frozen=True, slots=True)
class Owned:
    """
    A kind whose objects the reconciled kind owns.

    *labels* is a selector for what the cache holds of that kind at all, for the whole Manager: without it
    an operator for a few pods keeps every pod of the cluster in memory. With *metadata_only* it holds no more
    than metadata. One that is *optional* is watched from when the server knows the kind, be that at the
    start or after.
    """

    kind: Kind
    labels: str = ""
    predicates: Sequence[Predicate] = ()
    controller_only: bool = True
    metadata_only: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Watch:
    """
    A kind whose events concern whom *handler* says.

    Attributes
    ----------
        labels, metadata_only: as with Owned.
        cluster: the one to look in. Without it, that is where the controller's own objects are, if in several
            clusters then each, and a request is about the cluster that the event came from. With it, a
            request is about the cluster that it names itself, which by default is the Manager's own.
        optional: the Manager's own cluster may not know the kind; it is watched from when that does. Not
            with a cluster, or an informer of one's own.
        informer: chooses another informer of the kind than the cache's first, such as one with a selector.
    """

    kind: Kind
    handler: Handler
    labels: str = ""
    predicates: Sequence[Predicate] = ()
    metadata_only: bool = False
    cluster: Cluster | None = None
    informer: Callable[[Cache], Informer] | None = None
    optional: bool = False


class Channel(Generic[E]):
    """
    Events from anywhere else: `push` them, before or after the controller has started, from any thread.

    *handler* says whom an event concerns; without one, events are requests. Only those that pass all
    *predicates* count.
    """

    def __init__(
        self,
        handler: Callable[[E], Iterable[Any]] | None = None,
        *,
        predicates: Sequence[Callable[[E], bool]] = (),
    ) -> None:
        for function in (*predicates, handler):
            plain_only(function, "what a Channel calls")
        self._handler = handler
        self._predicates = tuple(predicates)
        self._targets: list[Enqueue] = []
        self._early: list[E] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def push(self, event: E) -> None:
        """Have whom *event* concerns reconciled."""
        loop = self._loop
        if loop is None or loop is _present_loop():
            self._push(event)
        elif not loop.is_closed():
            loop.call_soon_threadsafe(self._push, event)

    def connect(self, enqueue: Enqueue) -> None:
        """Hand events to one more queue, those that came before anyone listened included."""
        self._targets.append(enqueue)
        early, self._early = self._early, []
        for event in early:
            self._push(event)

    def opened(self) -> None:
        """Say that this loop is the queues' own, from now on."""
        self._loop = asyncio.get_running_loop()

    def _push(self, event: E) -> None:
        if not self._targets:
            self._early.append(event)
            return
        if not all(call_here(predicate, event) for predicate in self._predicates):
            return
        requests = (event,) if self._handler is None else tuple(call_here(self._handler, event))
        for enqueue in self._targets:
            for request in requests:
                enqueue(request, priority=NORMAL_PRIORITY)


Source: TypeAlias = Watch | Channel[Any] | FunctionSource
"""Anything that a controller can be given as one of its `watches`."""


def watch_of(owner: Resource, owned: Owned) -> Watch:
    """The watch that an `Owned` stands for."""
    return Watch(
        owned.kind,
        for_owner(owner, controller_only=owned.controller_only),
        owned.labels,
        owned.predicates,
        owned.metadata_only,
        optional=owned.optional,
    )


def _present_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
