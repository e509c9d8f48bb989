# SPDX-License-Identifier: Apache-2.0
"""Runs the soak: chaos and writing in rounds, and after each a checkpoint at which all must agree."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from dglop.errors import ApiError
from dglop.runtime.api.resource import resource_of
from dglop.runtime.client import Client
from hack.soak.chaos import Chaos
from hack.soak.checks import differences, orphans
from hack.soak.kinds import CONFIG_MAP, NAMESPACE, Sample
from hack.soak.levels import grown, look
from hack.soak.program import Program
from hack.soak.proxy import ChaosProxy
from hack.soak.report import Report
from hack.soak.server import SoakServer, envtest_of
from hack.soak.writer import Writer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dglop.testing.envtest import EnvtestAssets

__all__ = ("soak",)

_ROUNDS = 2
_PATIENCE_SECONDS = 180.0
"""A silent watch is given up after forty seconds, a silent list after 65; the rest is for a busy machine."""
_LOOK_SECONDS = 0.25
_PROGRESS_SECONDS = 5.0
_SHOWN = 10


class Soak:
    """One soak; `run` it once."""

    def __init__(
        self, server: SoakServer, proxy: ChaosProxy, writer: Writer, say: Callable[[str], None]
    ) -> None:
        self._began = time.monotonic()
        self._say = say
        self._server = server
        self._proxy = proxy
        self._writer = writer
        self._program = Program(server, proxy.url, self._now)
        self._chaos = Chaos(server, proxy, self._tell, self._expired)
        self.report = Report()

    async def run(self, seconds: float) -> Report:
        """Rounds until *seconds* have passed, two at least, or until something does not hold."""
        async with self._program.manager, asyncio.TaskGroup() as group:
            helpers = [group.create_task(self._writer.run()), group.create_task(self._show_progress())]
            rounds = 0
            while not self.report.failures and (rounds < _ROUNDS or self._now() < seconds):
                self._writer.resume()
                await self._chaos.round(ends_silent=rounds % 2 == 0)
                await self._writer.pause()
                await self._checkpoint()
                rounds += 1
            for helper in helpers:
                helper.cancel()
        self._conclude()
        return self.report

    async def _checkpoint(self) -> None:
        """Wait until all agree with the API server; what does not in time is a failure."""
        self._tell("checkpoint: nothing is written or broken now")
        began = self._now()
        while found := await self._problems():
            if self._now() - began > _PATIENCE_SECONDS:
                self.report.failures += found[:_SHOWN]
                self.report.failures += [
                    f"the Manager said: {line}" for line in self._program.log.lines if line
                ]
                return
            await asyncio.sleep(_LOOK_SECONDS)
        self.report.levels.append(look())
        self.report.failures += [fault for each in self._program.ledgers.values() for fault in each.faults]
        self._tell(f"agreed after {self._now() - began:.1f} s: {self.report.levels[-1]}")

    async def _problems(self) -> list[str]:
        program = self._program
        if not program.is_idle():
            return ["there is still work in the queues"]
        if self._proxy.silent:  # they hold files and tasks, which no leak is
            return [f"{self._proxy.silent} half-open connections are not given up"]
        try:
            listed = {kind: await self._server.listed(kind) for kind in program.ledgers}
        except ApiError as error:
            return [f"the API server cannot be asked: {error}"]
        found = []
        for kind, ledger in program.ledgers.items():
            objects = program.manager.cache.list(resource_of(kind), namespace=NAMESPACE)
            cached = {each.name: (each.uid, int(each.resource_version)) for each in objects}
            found += differences(ledger.kind, listed[kind], cached, ledger)
        return found + orphans(listed[Sample], listed[CONFIG_MAP])

    def _conclude(self) -> None:
        report = self.report
        report.seconds = self._now()
        report.figures = self._figures()
        if not report.failures:
            report.failures += report.unproven()
        if not report.failures:
            report.failures += grown(report.levels[(len(report.levels) - 1) // 2], report.levels[-1])

    def _figures(self) -> dict[str, int]:
        program, server = self._program, self._server
        ledgers = program.ledgers.values()
        return {
            "writes": self._writer.writes,
            "events heard": sum(each.events for each in ledgers),
            "reconciliations": sum(each.reconciles for each in ledgers),
            "checkpoints": len(self.report.levels),
            "connections reset": self._proxy.ended,
            "connections half-open": self._proxy.half_opened,
            "watches opened": program.counted("rest_client_request_duration_seconds_count", verb="WATCH"),
            "410 and whole states again": self._expired(),
            "refused tokens (401)": program.counted("rest_client_requests_total", code="401"),
            "token rotations": server.rotations,
            "compactions": server.compactions,
            "API servers killed": server.restarts,
        }

    async def _show_progress(self) -> None:
        while True:
            await asyncio.sleep(_PROGRESS_SECONDS)
            now = self._figures()
            self._tell(
                f"{now['writes']} writes, {now['events heard']} events, "
                f"{now['reconciliations']} reconciliations, "
                f"{now['connections reset']} resets, {now['410 and whole states again']} expired, "
                f"{now['refused tokens (401)']} refused"
            )

    def _expired(self) -> int:
        return self._program.counted("dglop_informer_relists_total", reason="Expired")

    def _now(self) -> float:
        return time.monotonic() - self._began

    def _tell(self, what: str) -> None:
        self._say(f"{self._now():7.1f} s  {what}")


@asynccontextmanager
async def _world(assets: EnvtestAssets) -> AsyncIterator[tuple[SoakServer, Client]]:
    async with envtest_of(assets) as envtest, await Client.connect(SoakServer.admin_config(envtest)) as admin:
        server = SoakServer(envtest, admin)
        await server.prepare()
        yield server, admin


async def soak(
    assets: EnvtestAssets, *, seconds: float, say: Callable[[str], None] = print, seed: int = 1
) -> Report:
    """A soak of *seconds*, or a round and a checkpoint more; *say* is called with a line of progress."""
    async with _world(assets) as (server, admin), ChaosProxy(server.port) as proxy:
        writer = Writer(admin, random.Random(seed))
        return await Soak(server, proxy, writer, say).run(seconds)
