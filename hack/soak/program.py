# SPDX-License-Identifier: Apache-2.0
"""The Manager under soak: two controllers that do little and write down what they did."""

from __future__ import annotations

import io
from collections import deque
from typing import TYPE_CHECKING, Any, TextIO, cast

from kubernetes.aio.client import V1ConfigMap

from dglop import Context, Manager, Request, Settings
from dglop.errors import NotFoundError
from dglop.runtime.client import ClientConfig
from dglop.runtime.clock import SystemClock
from dglop.runtime.log import make_log
from dglop.runtime.queue import ExponentialBackoff
from hack.soak.kinds import CONFIG_MAP, NAMESPACE, Sample
from hack.soak.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    from hack.soak.server import SoakServer

__all__ = ("CHILD", "WATCH_SECONDS", "LastLines", "Program")

CHILD = "child-"
WATCH_SECONDS = 5.0
_WORKERS = 4
_LONGEST_SECONDS = 4.0
_LINES = 5


class LastLines(io.TextIOBase):
    """Where the Manager logs to: the last lines are kept, since a log that grows would look like a leak."""

    def __init__(self) -> None:
        self.lines: deque[str] = deque(maxlen=_LINES)

    def write(self, text: str) -> int:
        self.lines.append(text.strip()[:400])
        return len(text)


class _HastyClock(SystemClock):
    """A soak has no time for back-offs of a minute, nor for those of a quarter of an hour."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(min(seconds, _LONGEST_SECONDS))


class Program:
    """A Manager and its ledgers."""

    def __init__(self, server: SoakServer, url: str, now: Callable[[], float]) -> None:
        self.samples = Ledger("Sample", now)
        self.pages = Ledger("ConfigMap", now)
        settings = Settings(
            namespace=NAMESPACE, metrics_bind="0", health_bind="0", cache_watch_seconds=WATCH_SECONDS
        )
        config = ClientConfig(
            host=url,
            namespace=NAMESPACE,
            token_file=server.token_file,
            ca_file=server.ca_file,
            token_reread_seconds=1e6,  # only a refusal tells that the token is another
        )
        self.log = LastLines()
        log = make_log(format_="json", level="error", stream=cast("TextIO", self.log))
        self.manager = Manager(settings, name="soak", config=config, clock=_HastyClock(), log=log)
        self._add(Sample, self._reconcile_sample, self._sample_gone, self.samples, owns=[V1ConfigMap])
        self._add(V1ConfigMap, self._reconcile_page, self._page_gone, self.pages)

    @property
    def ledgers(self) -> dict[Any, Ledger]:
        return {Sample: self.samples, CONFIG_MAP: self.pages}

    def counted(self, name: str, **labels: str) -> int:
        """The sum of a metric's series that have these labels."""
        return round(
            sum(
                sample.value
                for family in self.manager.metrics.registry.collect()
                for sample in family.samples
                if sample.name == name and labels.items() <= sample.labels.items()
            )
        )

    def is_idle(self) -> bool:
        """Whether no work is ready or under way; what backs off may wait."""
        return all(each.queue.is_idle for each in self.manager.controllers)

    def _add(self, kind: Any, reconcile: Any, gone: Any, ledger: Ledger, **options: Any) -> None:
        controller = self.manager.controller(
            kind,
            reconcile,
            on_gone=gone,
            concurrency=_WORKERS,
            rate_limiter=ExponentialBackoff[Request](cap=_LONGEST_SECONDS),
            **options,
        )
        controller.observe(kind, ledger)

    async def _reconcile_sample(self, sample: Sample, ctx: Context) -> None:
        with self.samples.reconciling(sample.name, _state(sample)):
            page = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"{CHILD}{sample.name}"},
                "data": {"value": str(sample.spec.value)},
            }
            await ctx.apply(page, owner=sample)
            sample.status.seen = sample.spec.value

    async def _sample_gone(self, request: Request) -> None:
        with self.samples.reconciling(request.name, None):
            try:
                await self.manager.client.delete(CONFIG_MAP, f"{CHILD}{request.name}", request.namespace)
            except NotFoundError:
                return

    async def _reconcile_page(self, page: V1ConfigMap, ctx: Context) -> None:
        with self.pages.reconciling(ctx.request.name, _state(page)):
            return

    async def _page_gone(self, request: Request) -> None:
        with self.pages.reconciling(request.name, None):
            return


def _state(obj: Any) -> tuple[str, int]:
    return obj.metadata.uid, int(obj.metadata.resource_version)
