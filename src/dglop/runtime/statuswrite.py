# SPDX-License-Identifier: Apache-2.0
"""Writes a status, once, on the condition that nothing it was decided by has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.errors import ConflictError
from dglop.runtime.difference import is_merged, is_touched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dglop.runtime.api import Resource
    from dglop.runtime.client import Client
    from dglop.runtime.ownchanges import OwnChanges
    from dglop.runtime.reconcile import Request

__all__ = ("is_same_ground", "is_written", "write_status")

# What a decision may rest on besides the spec, which `generation` stands for.
GROUND = ("uid", "generation", "deletionTimestamp", "labels", "annotations")


def is_same_ground(patch: Mapping[str, Any], read: Mapping[str, Any], fresh: Mapping[str, Any]) -> bool:
    """
    Whether *patch* of the status, decided on the object *read*, is as good on the object *fresh*.

    It is when spec and metadata are the same and no field of the status that it writes has changed: then
    somebody else, such as the writer of a progress report, has written a field of his own.
    """
    return _has_same_metadata(read, fresh) and not is_touched(
        patch, read.get("status") or {}, fresh.get("status") or {}
    )


def is_written(patch: Mapping[str, Any], read: Mapping[str, Any], fresh: Mapping[str, Any]) -> bool:
    """
    Whether *fresh* has what *patch* was to write: then the write took effect and only its answer was lost.

    What is to follow a status write, events and counters, would otherwise be lost with the answer.
    """
    return _has_same_metadata(read, fresh) and is_merged(patch, fresh.get("status") or {})


def _has_same_metadata(read: Mapping[str, Any], fresh: Mapping[str, Any]) -> bool:
    old, new = read.get("metadata") or {}, fresh.get("metadata") or {}
    return all((old.get(name) or None) == (new.get(name) or None) for name in GROUND)


async def write_status(
    client: Client,
    resource: Resource,
    request: Request,
    patch: dict[str, Any],
    *,
    read: Callable[[], Mapping[str, Any]],
    version: str,
    own: OwnChanges,
) -> str:
    """
    Merge *patch* into the status of the object that was *read*, at *version*; give its new version.

    The precondition makes a decision on old data fail instead of overwriting what it did not see. Raises
    ConflictError then, but not for a change of foreign fields, nor for the reconciler's *own* changes of
    the object, its deletion among them: those are no reason to decide anew.
    """
    namespace = request.namespace or None

    async def write(at: str) -> str:
        body = {"metadata": {"resourceVersion": at}, "status": patch}
        written = await client.patch(resource, request.name, namespace, body, subresource="status")
        return str(written["metadata"]["resourceVersion"])

    try:
        return await write(version)
    except ConflictError:
        fresh = await client.get(resource, request.name, namespace)
        ground = own.applied_to(read(), fresh)
        if is_written(patch, ground, fresh):
            return str(fresh["metadata"]["resourceVersion"])
        if not is_same_ground(patch, ground, fresh):
            raise
    return await write(str(fresh["metadata"]["resourceVersion"]))
