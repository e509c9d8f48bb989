# SPDX-License-Identifier: Apache-2.0
"""Create an object, or change it where it is not yet as wanted; and say what was done."""

from __future__ import annotations

import copy
import inspect
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from dglop.errors import NotFoundError, SchemaError
from dglop.runtime.client.convert import typed, wire_of
from dglop.runtime.client.merging import graft, merge_body

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dglop.runtime.api.resource import Resource
    from dglop.runtime.client import Client

__all__ = ("Upsert", "create_or_patch", "create_or_update")

T = TypeVar("T")


class Upsert(StrEnum):
    """What was done; the words are controller-runtime's."""

    UNCHANGED = "unchanged"
    CREATED = "created"
    UPDATED = "updated"
    UPDATED_STATUS = "updatedStatus"
    """The object and its status."""
    UPDATED_STATUS_ONLY = "updatedStatusOnly"


async def create_or_update(
    client: Client, obj: T, change: Callable[[T], Awaitable[None] | None]
) -> tuple[T, Upsert]:
    """
    As `create_or_patch`, but only if the object is still as it was read when the change arrives.

    Raises ConflictError where it is not, which a reconciler lets pass: it is called again.
    """
    return await _upsert(client, obj, change, lock=True)


async def create_or_patch(
    client: Client, obj: T, change: Callable[[T], Awaitable[None] | None]
) -> tuple[T, Upsert]:
    """
    Have *change* bring the object of *obj*'s kind, namespace and name to what is wanted, made if need be.

    Expected flow: *change* gets the object as the server has it, or *obj* where there is none, and changes
    it in place. Guarantees: only what it changed is sent, status through its own subresource; with nothing
    changed nothing is sent; fields that the type does not know stay, also inside lists. Assumptions: *change*
    leaves name and namespace alone, else SchemaError. A list that it changed is sent whole: where others
    change the same list, use `create_or_update`, or apply what is one's own.
    """
    return await _upsert(client, obj, change, lock=False)


async def _upsert(
    client: Client, obj: T, change: Callable[[T], Awaitable[None] | None], *, lock: bool
) -> tuple[T, Upsert]:
    resource, metadata = await client.resource(obj), wire_of(obj).get("metadata") or {}
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if not name:
        raise SchemaError(f"{resource.kind}: metadata.name is missing, so it cannot be looked for")
    try:
        held = await client.get(resource, name, namespace)
    except NotFoundError:
        return await _create(client, obj, change, resource)
    current = _like(obj, copy.deepcopy(held))
    before = copy.deepcopy(wire_of(current))  # a wire dict's inner parts are those that will be changed
    await _changed(change, current)
    wanted = graft(held, before, wire_of(current))
    made, done = await _patch(client, resource, held, wanted, lock=lock)
    return (current if made is None else _like(obj, made)), done


async def _create(client: Client, obj: T, change: Any, resource: Resource) -> tuple[T, Upsert]:
    asked = _identity(obj)
    await _changed(change, obj)
    if _identity(obj) != asked:
        raise SchemaError(f"{resource.kind} {asked[1]}: its name or namespace was changed while it was made")
    made = await client.create(obj, resource=resource)
    status = wire_of(obj).get("status")
    if status:
        made_as = wire_of(made)["metadata"]
        body = {"metadata": {"uid": made_as["uid"]}, "status": status}
        name, namespace = made_as["name"], made_as.get("namespace")
        written = await client.patch(resource, name, namespace, body, subresource="status")
        made = _like(obj, written)
    return made, Upsert.CREATED


async def _patch(
    client: Client, resource: Resource, held: dict[str, Any], wanted: dict[str, Any], *, lock: bool
) -> tuple[dict[str, Any] | None, Upsert]:
    body = merge_body(held, wanted, lock=lock)
    status = merge_body(held, wanted, lock=lock and body is None, subresource="status")
    name, namespace = held["metadata"]["name"], held["metadata"].get("namespace")
    made = None
    if body is not None:
        made = await client.patch(resource, name, namespace, body)
    if status is not None:
        if lock and made is not None:
            status["metadata"] = {"resourceVersion": made["metadata"]["resourceVersion"]}
        made = await client.patch(resource, name, namespace, status, subresource="status")
        return made, Upsert.UPDATED_STATUS_ONLY if body is None else Upsert.UPDATED_STATUS
    return made, Upsert.UNCHANGED if body is None else Upsert.UPDATED


async def _changed(change: Any, obj: Any) -> None:
    waited = change(obj)
    if inspect.isawaitable(waited):
        await waited


def _identity(obj: Any) -> tuple[Any, Any]:
    metadata = wire_of(obj).get("metadata") or {}
    return metadata.get("namespace"), metadata.get("name")


def _like(obj: T, wire: dict[str, Any]) -> T:
    made: T = wire if isinstance(obj, dict) else typed(type(obj), wire)  # type: ignore[assignment]
    return made
