# SPDX-License-Identifier: Apache-2.0
"""Reader: reads as a Client does, but from the cache where it may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from dglop.errors import CacheNotSyncedError, NotFoundError
from dglop.runtime.api.resource import resource_of
from dglop.runtime.api.selector import label_test

if TYPE_CHECKING:
    import builtins
    from collections.abc import Mapping

    from dglop.runtime.api import Resource
    from dglop.runtime.api.resource import Kind
    from dglop.runtime.cache import Cache, Cached, Informer
    from dglop.runtime.client import Client

__all__ = ("Reader",)

T = TypeVar("T")


class Reader:
    """
    One cluster's objects, from its cache or from its API server. Made by a Manager, for each cluster.

    A kind that is not cached yet begins to be at its first read, which waits for the first list; with the
    cache option `fail_on_missing` it raises CacheNotSyncedError instead. The kinds in `disable_for` always
    come from the API server, as everything does that is asked of `live`. What comes from the cache is a copy.
    """

    def __init__(self, client: Client, cache: Cache, *, sync_seconds: float) -> None:
        self.live = client
        """The client, whose reads all go to the API server."""
        self._cache = cache
        self._sync_seconds = sync_seconds
        self._live_kinds = {resource_of(kind) for kind in cache.options.disable_for}

    @overload
    async def get(
        self, kind: type[T], name: str, namespace: str | None = None, *, at_least: str | None = None
    ) -> T: ...
    @overload
    async def get(
        self, kind: Resource | str, name: str, namespace: str | None = None, *, at_least: str | None = None
    ) -> dict[str, Any]: ...
    async def get(
        self, kind: Kind, name: str, namespace: str | None = None, *, at_least: str | None = None
    ) -> Any:
        """
        One object, by the rules of Client.get.

        With *at_least*, the resourceVersion of a write to it or to another object of its kind, it waits until
        the cache has come that far. Raises NotFoundError and CacheNotSyncedError.
        """
        resource = await self.live.resource(kind)
        if resource in self._live_kinds:
            return await self.live.get(kind, name, namespace)
        informer = await self._synced(resource)
        place = (namespace or self.live.namespace) if resource.namespaced else ""
        if at_least is not None:
            await informer.wait_shown(at_least, place, self._sync_seconds)
        cached = self._cache.get(resource, name, place)
        if cached is None:
            raise NotFoundError(
                404, "NotFound", f"{resource.group_resource} {place}/{name} is not in the cache"
            )
        return cached.to(resource if isinstance(kind, str) else kind)

    @overload
    async def list(
        self,
        kind: type[T],
        namespace: str | None = None,
        *,
        labels: str | Mapping[str, str] = "",
        index: tuple[str, str] | None = None,
    ) -> builtins.list[T]: ...
    @overload
    async def list(
        self,
        kind: Resource | str,
        namespace: str | None = None,
        *,
        labels: str | Mapping[str, str] = "",
        index: tuple[str, str] | None = None,
    ) -> builtins.list[dict[str, Any]]: ...
    async def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        labels: str | Mapping[str, str] = "",
        index: tuple[str, str] | None = None,
    ) -> Any:
        """
        The objects of one namespace, or of all; with *index* those that an index's (name, value) finds.

        Raises CacheNotSyncedError, KeyError for an unknown index, ValueError for *labels* that are no
        selector, and TypeError for an index of a kind that is not read from the cache.
        """
        resource = await self.live.resource(kind)
        if resource in self._live_kinds:
            if index is not None:
                raise TypeError(f"{resource.group_resource} is read from the API server, which has no index")
            return await self.live.list(kind, namespace, labels=labels)
        await self._synced(resource)
        is_meant = label_test(labels)
        found = self._cache.list(resource, namespace, index=index)
        return [_copy(each, kind) for each in found if is_meant(each.meta.labels)]

    async def _synced(self, resource: Resource) -> Informer:
        if self._cache.options.fail_on_missing and not self._cache.holds(resource):
            raise CacheNotSyncedError(
                f"{resource.group_resource} is not cached, and fail_on_missing forbids to begin with it; "
                "have a controller watch it, or put it into disable_for"
            )
        return await self._cache.ensure(resource, self._sync_seconds)


def _copy(cached: Cached, kind: Kind) -> Any:
    return cached.to(cached.resource if isinstance(kind, str) else kind)
