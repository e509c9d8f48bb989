# SPDX-License-Identifier: Apache-2.0
"""Whom a change concerns: from an event to the requests that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from dglop.runtime.predicate import Created, Event, Updated
from dglop.runtime.reconcile import Request
from dglop.runtime.usercode import plain_only

if TYPE_CHECKING:
    from dglop.runtime.api import Resource
    from dglop.runtime.cache import Cached

__all__ = (
    "LOW_PRIORITY",
    "NORMAL_PRIORITY",
    "Handler",
    "for_object",
    "for_owner",
    "mapped",
    "priority_of",
)

LOW_PRIORITY = -100
"""Said of what the first list or a resync brings."""
NORMAL_PRIORITY = 0
"""Said of every change, since it also raises what a resync has queued already."""

Handler: TypeAlias = Callable[[Event], Iterable[Any]]
"""Gives Requests, or keys of the controller's own type; it runs in the event loop and must not block."""


def priority_of(event: Event) -> int:
    """Low for what the first list or a resync brings, so that real changes overtake it."""
    if isinstance(event, Created):
        return LOW_PRIORITY if event.is_initial else NORMAL_PRIORITY
    if isinstance(event, Updated):
        return LOW_PRIORITY if event.is_resync else NORMAL_PRIORITY
    return NORMAL_PRIORITY


def for_object(event: Event) -> list[Request]:
    """The object itself."""
    obj = event.new if isinstance(event, Updated) else event.obj
    return [Request(obj.meta.namespace or "", obj.meta.name)]


def for_owner(owner: Resource, *, controller_only: bool = True) -> Handler:
    """
    The owners of *owner*'s kind; by default only the one that is its controller.

    An update asks both the owners before and after it, since a change of owner concerns both.
    """

    def owners(event: Event) -> list[Request]:
        return _unique(_owners_of(obj, owner, controller_only=controller_only) for obj in _objects(event))

    return owners


def mapped(function: Callable[[Cached], Iterable[Any]]) -> Handler:
    """What *function* says, for the object before and after the change. Raises ConfigError if it is async."""
    plain_only(function, "what maps an object to requests")

    def requests(event: Event) -> list[Any]:
        return _unique(function(obj) for obj in _objects(event))

    return requests


def _objects(event: Event) -> tuple[Cached, ...]:
    return (event.old, event.new) if isinstance(event, Updated) else (event.obj,)


def _owners_of(obj: Cached, owner: Resource, *, controller_only: bool) -> list[Request]:
    # The version in a reference is the one its writer used; the owner is the same in every version.
    return [
        Request((obj.meta.namespace or "") if owner.namespaced else "", reference.name)
        for reference in obj.meta.owner_references or ()
        if reference.kind == owner.kind
        and reference.api_version.rpartition("/")[0] == owner.group
        and (reference.controller or not controller_only)
    ]


def _unique(groups: Iterable[Iterable[Any]]) -> list[Any]:
    return list(dict.fromkeys(request for group in groups for request in group))
