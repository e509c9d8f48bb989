# SPDX-License-Identifier: Apache-2.0
"""A namespace for one run, gone with all that is in it before the next run begins."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from dglop.errors import NotFoundError
from dglop.runtime.api import Resource

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from dglop.runtime.client import Client

__all__ = ("fresh_namespace",)

_NAMESPACE = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
_ACCOUNT = Resource("", "v1", "ServiceAccount", "serviceaccounts")
_VOLUME = Resource("", "v1", "PersistentVolume", "persistentvolumes", namespaced=False)
_ASK_AGAIN_SECONDS = 0.25
_LIMIT_SECONDS = 600


def _nothing(_namespace: str) -> list[dict[str, Any]]:
    return []


@asynccontextmanager
async def fresh_namespace(
    client: Client, name: str, content: Callable[[str], list[dict[str, Any]]] = _nothing
) -> AsyncIterator[str]:
    """An empty namespace with `content` in it; what an earlier run left there is removed first."""
    await _remove(client, name, content(name))
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    try:
        async with asyncio.timeout(_LIMIT_SECONDS):
            # Pods are refused before the namespace has its service account.
            await _until(partial(_is_there, client, _ACCOUNT, "default", name))
        for each in content(name):
            await client.create(each)
        yield name
    finally:
        await _remove(client, name, content(name))


async def _remove(client: Client, name: str, content: list[dict[str, Any]]) -> None:
    """Delete the namespace, wait for its end, then delete the volumes that were its own."""
    volumes = [each["metadata"]["name"] for each in content if each["kind"] == _VOLUME.kind]
    async with asyncio.timeout(_LIMIT_SECONDS):
        await _until(partial(_is_gone, client, _NAMESPACE, name))
        for volume in volumes:
            await _until(partial(_is_gone, client, _VOLUME, volume))


async def _is_gone(client: Client, resource: Resource, name: str) -> bool:
    """Ask for its deletion and tell whether there was nothing to delete."""
    try:
        await client.delete(resource, name)
    except NotFoundError:
        return True
    return False


async def _is_there(client: Client, resource: Resource, name: str, namespace: str) -> bool:
    try:
        await client.get(resource, name, namespace)
    except NotFoundError:
        return False
    return True


async def _until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Ask the server again and again; the caller sets the limit."""
    while True:
        if await condition():
            return
        await asyncio.sleep(_ASK_AGAIN_SECONDS)
