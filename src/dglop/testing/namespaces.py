# SPDX-License-Identifier: Apache-2.0
"""What the namespace controller does to a deleted namespace, done by a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from dglop.errors import NotFoundError
from dglop.runtime.api import Resource

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dglop.runtime.client import Client

__all__ = ("remove_namespace",)

_NAMESPACE = Resource("", "v1", "Namespace", "namespaces", namespaced=False)


async def remove_namespace(client: Client, name: str, settle: Callable[[], Awaitable[None]]) -> None:
    """
    Delete what is in a namespace, *settle*, and then the namespace itself.

    Raises NotFoundError, and RuntimeError where something is left in it.
    """
    found = await client.get(_NAMESPACE, name)
    if not found["metadata"].get("deletionTimestamp"):
        await client.delete(_NAMESPACE, name)
    await _empty(client, name)
    await settle()
    left = await _empty(client, name)
    if left:
        raise RuntimeError(f"the namespace {name} cannot end, since finalizers keep {', '.join(left)}")
    found = await client.get(_NAMESPACE, name)
    found["spec"] = {**found.get("spec", {}), "finalizers": []}
    body = msgspec.json.encode(found)
    await client.raw("PUT", f"{_NAMESPACE.path(None, name)}/finalize", body=body)


async def _empty(client: Client, namespace: str) -> list[str]:
    """Delete all that is there; what remained."""
    left = []
    for served in await client.mapper.all():
        resource = served.resource
        if not resource.namespaced or not {"list", "delete"} <= set(served.verbs):
            continue
        for each in await client.list(resource, namespace):
            try:
                await client.delete(resource, each["metadata"]["name"], namespace, grace_seconds=0)
                await client.get(resource, each["metadata"]["name"], namespace)
            except NotFoundError:
                continue
            left.append(f"{resource.group_resource} {each['metadata']['name']}")
    return left
