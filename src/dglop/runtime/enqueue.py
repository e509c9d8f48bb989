# SPDX-License-Identifier: Apache-2.0
"""From an informer's events to requests in a queue."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dglop.runtime.handler import priority_of
from dglop.runtime.predicate import Created, Deleted, Updated
from dglop.runtime.reconcile import Request
from dglop.runtime.usercode import plain_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dglop.runtime.cache import Cached
    from dglop.runtime.handler import Handler
    from dglop.runtime.predicate import Event, Predicate
    from dglop.runtime.source import Enqueue

__all__ = ("EnqueueHandler",)


class EnqueueHandler:
    """
    An informer's handler that turns events into requests.

    A request that names no cluster is about *cluster*. What an event asks for waits *debounce* seconds, so
    that those that follow it are one reconciliation with it; the wait does not begin anew with each.
    """

    def __init__(
        self,
        enqueue: Enqueue,
        handler: Handler,
        predicates: Sequence[Predicate] = (),
        *,
        cluster: str = "",
        debounce: float = 0.0,
    ) -> None:
        for predicate in predicates:
            plain_only(predicate, "a predicate")
        plain_only(handler, "a handler")
        self._enqueue = enqueue
        self._handler = handler
        self._predicates = predicates
        self._cluster = cluster
        self._debounce = debounce

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
            self._enqueue(self._placed(request), after=self._debounce, priority=priority)

    def _placed(self, request: Any) -> Any:
        if self._cluster and isinstance(request, Request) and not request.cluster:
            return replace(request, cluster=self._cluster)
        return request
