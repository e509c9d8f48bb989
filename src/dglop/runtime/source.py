# SPDX-License-Identifier: Apache-2.0
"""Where requests come from: informers' events, filtered, handed to a queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dglop.runtime.handler import NORMAL_PRIORITY, for_owner, priority_of
from dglop.runtime.predicate import Created, Deleted, Updated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dglop.runtime.api import Kind, Resource
    from dglop.runtime.cache import Cached
    from dglop.runtime.handler import Handler
    from dglop.runtime.predicate import Event, Predicate
    from dglop.runtime.queue import WorkQueue
    from dglop.runtime.reconcile import Request

__all__ = ("Channel", "EnqueueHandler", "Owned", "Watch", "watch_of")


@dataclass(frozen=True, slots=True)
class Owned:
    """
    A kind whose objects the reconciled kind owns.

    *labels* is a selector for what the cache holds of that kind at all, for the whole Manager: without it
    an operator for a few pods keeps every pod of the cluster in memory. One that is *optional* is watched
    from when the server knows the kind, be that at the start or after.
    """

    kind: Kind
    labels: str = ""
    predicates: Sequence[Predicate] = ()
    controller_only: bool = True
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Watch:
    """A kind whose events concern whom *handler* says; an *optional* one may be unknown to the server."""

    kind: Kind
    handler: Handler
    labels: str = ""
    predicates: Sequence[Predicate] = ()
    optional: bool = False


class Channel:
    """Requests from anywhere else: `push` them, before or after the controller has started."""

    def __init__(self) -> None:
        self._targets: list[WorkQueue[Request]] = []
        self._early: list[Request] = []

    def push(self, request: Request) -> None:
        """Have *request* reconciled. Only from the event loop."""
        if not self._targets:
            self._early.append(request)
        for queue in self._targets:
            queue.add(request, priority=NORMAL_PRIORITY)

    def connect(self, queue: WorkQueue[Request]) -> None:
        self._targets.append(queue)
        early, self._early = self._early, []
        for request in early:
            queue.add(request, priority=NORMAL_PRIORITY)


class EnqueueHandler:
    """An informer's handler that turns events into requests in a queue."""

    def __init__(
        self, queue: WorkQueue[Request], handler: Handler, predicates: Sequence[Predicate] = ()
    ) -> None:
        self._queue = queue
        self._handler = handler
        self._predicates = predicates

    def on_add(self, obj: Cached, is_initial: bool) -> None:
        self._handle(Created(obj, is_initial))

    def on_update(self, old: Cached, new: Cached) -> None:
        self._handle(Updated(old, new))

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None:
        self._handle(Deleted(obj, final_state_unknown))

    def _handle(self, event: Event) -> None:
        if not all(predicate(event) for predicate in self._predicates):
            return
        priority = priority_of(event)
        for request in self._handler(event):
            self._queue.add(request, priority=priority)


def watch_of(owner: Resource, owned: Owned) -> Watch:
    """The watch that an `Owned` stands for."""
    handler = for_owner(owner, controller_only=owned.controller_only)
    return Watch(owned.kind, handler, owned.labels, owned.predicates, owned.optional)
