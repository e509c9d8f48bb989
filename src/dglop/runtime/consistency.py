# SPDX-License-Identifier: Apache-2.0
"""Looks now and then whether the caches are what the API servers have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.errors import ApiError
from dglop.runtime.cache.consistency import inconsistencies
from dglop.runtime.clock import repeat

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

    from dglop.runtime.clock import Clock
    from dglop.runtime.environment import Site
    from dglop.runtime.log import Log
    from dglop.runtime.metrics import Metrics

__all__ = ("ConsistencyCheck",)

GRACE_SECONDS = 10.0
SHOWN = 5


class ConsistencyCheck:
    """
    A Runnable that compares every informer that is in sync with its API server, every so many seconds.

    What differs is logged, and counted in `dglop_informer_inconsistencies_total`; nothing is mended, so that
    it is seen. Each round costs a list of the metadata of everything that is cached: it is for finding
    defects, not for good.
    """

    name = "cache-consistency"

    def __init__(
        self, sites: Mapping[str, Site], seconds: float, *, clock: Clock, log: Log, metrics: Metrics
    ) -> None:
        self._sites = sites
        self._seconds = seconds
        self._clock = clock
        self._log = log
        self._metrics = metrics

    async def run(self, stop: asyncio.Event) -> None:
        await repeat(self._clock, self._seconds, self.check, stop)

    async def check(self) -> None:
        """One round."""
        for site in self._sites.values():
            for informer in site.cache.informers:
                if not informer.has_synced():
                    continue
                kind = informer.health.kind
                try:
                    found = await inconsistencies(
                        site.client, informer, clock=self._clock, grace_seconds=GRACE_SECONDS
                    )
                except ApiError as error:
                    self._log.warning("Could not compare the cache", kind=kind, error=str(error))
                    continue
                self._metrics.informer_inconsistencies.labels(kind).inc(len(found))
                if found:
                    self._log.error(
                        "Cache differs from the API server",
                        kind=kind,
                        objects=len(found),
                        first=[str(each) for each in found[:SHOWN]],
                    )
