# SPDX-License-Identifier: Apache-2.0
"""Compares what an informer holds with what the API server has: for finding defects, ours or a server's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from dglop.errors import ServerError
from dglop.runtime.cache.entry import read_object
from dglop.runtime.client.convert import page_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.runtime.cache.entry import Key
    from dglop.runtime.cache.informer import Informer
    from dglop.runtime.cache.scope import Scope
    from dglop.runtime.client.client import Client
    from dglop.runtime.clock import Clock

__all__ = ("Difference", "differences", "differences_now", "inconsistencies")

Version = tuple[str, str]
"""An object's uid and resourceVersion."""

Versions = dict["Key", Version]

_PAGE = "500"


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """An object that is in the server and the cache in different states; "" where it is not at all."""

    key: Key
    served: Version | tuple[()]
    held: Version | tuple[()]

    def __str__(self) -> str:
        name = "/".join(filter(None, self.key))
        if not self.held:
            return f"{name} is missing"
        if not self.served:
            return f"{name} is left over"
        return f"{name} is held as {'@'.join(self.held)} and served as {'@'.join(self.served)}"


def differences(served: Mapping[Key, Version], at: str, held: Mapping[Key, Version]) -> set[Difference]:
    """
    What a list taken *at* a version has otherwise than the cache, which must not be behind it.

    What the cache has newer than the list is right.
    """
    found = set()
    for key in served.keys() | held.keys():
        ours, theirs = held.get(key, ()), served.get(key, ())
        if ours != theirs and not (ours and _is_newer(ours[1], theirs[1] if theirs else at)):
            found.add(Difference(key, theirs, ours))
    return found


async def inconsistencies(
    client: Client, informer: Informer, *, clock: Clock, grace_seconds: float
) -> list[Difference]:
    """
    How an informer that is in sync differs from the API server, and still does *grace_seconds* later.

    It takes one list of metadata, and a second one only where there is something to ask again about: what
    differs in the same way both times is no matter of a watch that is a moment late. Raises ApiError.
    """
    suspects = await differences_now(client, informer)
    if not suspects:
        return []
    await clock.sleep(grace_seconds)
    return sorted(suspects & await differences_now(client, informer))


async def differences_now(client: Client, informer: Informer) -> set[Difference]:
    """How an informer differs from the API server by now, be it only late. Raises ApiError."""
    found: set[Difference] = set()
    for scope in informer.scopes:
        served, at = await _list(client, scope)
        held = {
            obj.key: (obj.uid, obj.resource_version) for obj in informer.store if scope.covers(obj.namespace)
        }
        found |= differences(served, at, held)
    return found


async def _list(client: Client, scope: Scope) -> tuple[Versions, str]:
    """The objects of a scope by key, and the version that the list is of."""
    served: Versions = {}
    query = scope.query(limit=_PAGE)
    while True:
        body = await client.raw(
            "GET", scope.path, query=query, accept=scope.metadata().accept("PartialObjectMetadataList")
        )
        try:
            page = page_of(body)
            for raw in page.items or ():
                meta = read_object(raw, scope.resource)[0].meta
                served[(meta.namespace, meta.name)] = (meta.uid, meta.resource_version)
        except msgspec.DecodeError as problem:
            raise ServerError(200, "NotJSON", f"no list of {scope.path} came: {problem}") from problem
        token = page.metadata.continue_
        if not token:
            return served, page.metadata.resource_version or ""
        query = {**scope.query(limit=_PAGE), "continue": token}


def _is_newer(version: str, other: str) -> bool:
    return version.isdecimal() and other.isdecimal() and int(version) > int(other)
