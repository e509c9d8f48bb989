# SPDX-License-Identifier: Apache-2.0
"""Kinds that the server may not know: they are watched from when it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dglop.errors import ApiError, NoKindMatchError
from dglop.runtime.api import resource_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dglop.runtime.api import Kind
    from dglop.runtime.environment import Environment

__all__ = ("OptionalKinds",)

ASK_AGAIN_SECONDS: Final = 30.0


class OptionalKinds:
    """
    Starts the watches of such kinds.

    *start* is called once for each that is served. It makes the informer: one made before would keep the
    whole cache from being in sync.
    """

    def __init__(self, env: Environment, kinds: Iterable[Kind], start: Callable[[Kind], object]) -> None:
        self._env = env
        self._missing = list(kinds)
        self._start = start

    async def begin(self) -> None:
        """Start what is served now, and wait for its first list; what is not is logged.

        Raises CacheNotSyncedError.
        """
        for kind in await self._look():
            await self._env.cache.informer(kind).wait_synced(self._env.sync_seconds)
        for kind in self._missing:
            name = resource_of(kind).group_resource
            self._env.log.warning("A kind is not served: what needs it waits for its CRD", kind=name)

    async def keep_looking(self) -> None:
        """Ask for the others every half minute, until there are none."""
        while self._missing:
            await self._env.clock.sleep(ASK_AGAIN_SECONDS)
            await self._look()

    async def _look(self) -> list[Kind]:
        found = [kind for kind in self._missing if await self._is_served(kind)]
        self._missing = [kind for kind in self._missing if kind not in found]
        for kind in found:
            self._start(kind)
        return found

    async def _is_served(self, kind: Kind) -> bool:
        wanted = resource_of(kind)
        try:
            await self._env.client.mapper.resource(wanted.kind, group=wanted.group, version=wanted.version)
        except NoKindMatchError:
            return False
        except ApiError as problem:
            self._env.log.warning("Cannot ask for a kind", kind=wanted.group_resource, error=str(problem))
            return False
        return True
