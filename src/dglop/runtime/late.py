# SPDX-License-Identifier: Apache-2.0
"""Kinds that the Manager's own cluster may not know: they are watched from when it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dglop.errors import ApiError, CacheNotSyncedError, ConfigError, NoKindMatchError
from dglop.runtime.api import resource_of
from dglop.runtime.environment import HOME

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from dglop.runtime.api import Kind
    from dglop.runtime.environment import Environment
    from dglop.runtime.source import Watch

__all__ = ("OptionalKinds", "check_optional")

ASK_AGAIN_SECONDS: Final = 30.0
SOON_SECONDS: Final = 1.0


class OptionalKinds:
    """
    Starts the watches of such kinds.

    *start* is called once for each that is served. It makes the informer: one made before would keep the
    whole cache from being in sync.
    """

    def __init__(self, env: Environment, kinds: Iterable[Kind], start: Callable[[Kind], object]) -> None:
        self._env = env
        self._home = env.sites[HOME]
        self._missing = list(kinds)
        self._started: list[Kind] = []
        self._start = start

    async def begin(self) -> None:
        """Start what is served now, and wait for its first list; what is not is logged.

        A server that does not answer is asked again: what it serves must not be taken for missing. Raises
        CacheNotSyncedError where it does not in time.
        """
        end = self._env.clock.monotonic() + self._env.sync_seconds
        while (problem := await self._look()) is not None:
            if self._env.clock.monotonic() > end:
                raise CacheNotSyncedError(f"the server does not say what it serves: {problem}")
            await self._env.clock.sleep(SOON_SECONDS)
        for kind in self._started:
            await self._home.cache.informer(kind).wait_synced(self._env.sync_seconds)
        for kind in self._missing:
            name = resource_of(kind).group_resource
            self._env.log.warning("A kind is not served: what needs it waits for its CRD", kind=name)

    async def keep_looking(self) -> None:
        """Ask for the others every half minute, until there are none."""
        while self._missing:
            await self._env.clock.sleep(ASK_AGAIN_SECONDS)
            await self._look()

    async def _look(self) -> ApiError | None:
        """Start what is served; the error of the first kind that could not be asked for."""
        problem: ApiError | None = None
        for kind in list(self._missing):
            wanted = resource_of(kind)
            try:
                await self._home.client.mapper.resource(
                    wanted.kind, group=wanted.group, version=wanted.version
                )
            except NoKindMatchError:
                continue
            except ApiError as error:
                self._env.log.warning("Cannot ask for a kind", kind=wanted.group_resource, error=str(error))
                problem = problem or error
                continue
            self._missing.remove(kind)
            self._started.append(kind)
            self._start(kind)
        return problem


def check_optional(watch: Watch, controller: str, clusters: Collection[str]) -> None:
    """Raise ConfigError for an optional kind that is not of the Manager's own cluster alone."""
    elsewhere = watch.cluster is not None or watch.informer is not None or set(clusters) != {HOME}
    if watch.optional and elsewhere:
        raise ConfigError(
            f"controller {controller} cannot watch {resource_of(watch.kind).group_resource} as optional: "
            "only a kind of the Manager's own cluster may come later, and has no informer chosen for it"
        )
