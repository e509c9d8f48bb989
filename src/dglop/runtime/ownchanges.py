# SPDX-License-Identifier: Apache-2.0
"""What a reconciliation does to its own object, so that it is not taken for another's doing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.runtime.difference import merged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.runtime.api import Resource
    from dglop.runtime.reconcile import Request

__all__ = ("OwnChanges",)

# What the server itself sees to; a spec and other content count as generations.
_NO_CONTENT = ("apiVersion", "kind", "metadata", "status")


class OwnChanges:
    """
    The changes of one reconciliation to the object that it is about, in their order.

    Of an object that is no kind's (`resource` is None) there are none.
    """

    def __init__(self, resource: Resource | None, request: Request) -> None:
        self._resource = resource
        self._request = request
        self._changes: list[Mapping[str, Any] | None] = []

    def patched(self, resource: Resource, namespace: str | None, name: str, body: Mapping[str, Any]) -> None:
        """Take down what was merged into an object, if it is this one."""
        if self._is_own(resource, namespace, name):
            self._changes.append(body)

    def deleted(self, resource: Resource, namespace: str | None, name: str) -> None:
        """Take down that the deletion of an object was asked for, if it is this one."""
        if self._is_own(resource, namespace, name):
            self._changes.append(None)

    def applied_to(self, read: Mapping[str, Any], fresh: Mapping[str, Any]) -> Mapping[str, Any]:
        """
        The object that was *read*, with these changes; when it was deleted is taken from *fresh*.

        If nobody else changed it, labels, annotations, generation and status are then as those of *fresh*.
        """
        state = dict(read)
        for change in self._changes:
            state = _deleted(state, fresh) if change is None else _patched(state, change)
        return state

    def _is_own(self, resource: Resource, namespace: str | None, name: str) -> bool:
        place = (namespace or "") if resource.namespaced else ""
        return resource == self._resource and (place, name) == (self._request.namespace, self._request.name)


def _deleted(state: Mapping[str, Any], fresh: Mapping[str, Any]) -> dict[str, Any]:
    if state["metadata"].get("deletionTimestamp"):
        return dict(state)
    when = (fresh.get("metadata") or {}).get("deletionTimestamp")
    # The server counts a deletion as a change of what is wanted.
    return _next_generation({**state, "metadata": {**state["metadata"], "deletionTimestamp": when}})


def _patched(state: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    after = merged(state, body)
    return _next_generation(after) if _content_of(after) != _content_of(state) else after


def _content_of(state: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name not in _NO_CONTENT}


def _next_generation(state: dict[str, Any]) -> dict[str, Any]:
    generation = state["metadata"].get("generation")
    if not generation:
        return state
    return {**state, "metadata": {**state["metadata"], "generation": generation + 1}}
