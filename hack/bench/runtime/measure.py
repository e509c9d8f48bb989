# SPDX-License-Identifier: Apache-2.0
"""One measurement of one side at one work."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hack.bench.runtime.side import Side, started
from hack.bench.runtime.sides import ROOT, argv_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from hack.bench.runtime.sides import Programs, SideSpec
    from hack.bench.runtime.world import World

__all__ = ("FINISHED", "LIMIT_SECONDS", "NOOP_ROUNDS", "Measure", "Run")

LIMIT_SECONDS = 120.0
FINISHED = 5_000
NOOP_ROUNDS = 5
_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Run:
    """What one measurement gave: seconds of the clock and of the CPU, bytes, and figures of its own."""

    wall: float
    cpu: float
    peak: float
    figures: Mapping[str, float] = field(default_factory=dict)


class Measure:
    """Measurements in one world. Each raises TimeoutError for a side that is over the limit."""

    def __init__(self, world: World, programs: Programs, folder: Path, pods: int) -> None:
        self._world = world
        self._programs = programs
        self._folder = folder
        self.pods = pods
        self._widgets = 0

    async def sync(self, spec: SideSpec) -> Run:
        """From when the program begins its work until it has all pods."""
        async with self._started(spec, "sync", f"--count={self.pods}") as side:
            begun = await side.until("begun", _START_SECONDS)
            synced = await side.until("synced", LIMIT_SECONDS)
            settled = await side.until("settled", _START_SECONDS)
            figures = {"exec": synced.at - side.began}
            return Run(synced.at - begun.at, synced.cpu - begun.cpu, settled.peak, figures)

    async def events(self, spec: SideSpec) -> Run:
        """While the program is frozen, every pod changes; from its thaw until it has seen all of that."""
        told = self._world.round + 1
        async with self._started(spec, "events", f"--count={self.pods}", f"--round={told}") as side:
            synced = await side.until("synced", LIMIT_SECONDS)
            side.freeze()
            await self._world.change_pods(self.pods)
            thawed = side.thaw()
            absorbed = await side.until("absorbed", LIMIT_SECONDS)
            return Run(absorbed.at - thawed, absorbed.cpu - synced.cpu, absorbed.peak)

    async def relist(self, spec: SideSpec) -> Run:
        """From the end of all watches by a restart of the API server until all pods are read anew."""
        async with self._started(spec, "relist", f"--count={self.pods}") as side:
            synced = await side.until("synced", LIMIT_SECONDS)
            await self._world.server.restart_apiserver()
            await self._world.change_pods(1)
            relisted = await side.until("relisted", LIMIT_SECONDS)
            return Run(
                relisted.at - synced.at, relisted.cpu - synced.cpu, relisted.peak, dict(relisted.figures)
            )

    async def noop(self, spec: SideSpec) -> Run:
        """Reconciliations that read an object and do nothing, one after the other on one core."""
        argv = (f"--count={FINISHED}", f"--rounds={NOOP_ROUNDS}")
        async with self._started(spec, "noop", *argv, core=max(os.sched_getaffinity(0))) as side:
            begun = await side.until("started", LIMIT_SECONDS)
            done = await side.until("done", LIMIT_SECONDS)
            return Run(done.at - begun.at, done.cpu - begun.cpu, done.peak)

    async def restart(self, spec: SideSpec) -> Run:
        """From the execution of an operator until it has served the one object that is not finished."""
        async with self._widget() as name:
            await self._world.create_widget(name)
            async with self._started(spec, "restart", f"--count={FINISHED}") as side:
                at = await self._world.served(name)
                usage = side.usage()
        return Run(at - side.began, usage.cpu_seconds, usage.peak_rss)

    async def failover(self, spec: SideSpec) -> Run:
        """From the kill of the leader until the replica that stood by has served a new object."""
        argv = (f"--count={FINISHED}", "--leader-elect")
        async with (
            self._widget() as first,
            self._widget() as second,
            self._started(spec, "failover", *argv, "--priority=2") as leader,
        ):
            await self._world.create_widget(first)
            await self._world.served(first)
            async with self._started(spec, "failover", *argv, "--priority=1", log="standby") as standby:
                await standby.until("standby", LIMIT_SECONDS)
                killed = await leader.kill()
                await self._world.create_widget(second)
                at = await self._world.served(second)
                usage = standby.usage()
        return Run(at - killed, usage.cpu_seconds, usage.peak_rss)

    @asynccontextmanager
    async def _widget(self) -> AsyncIterator[str]:
        """The name of a Widget to make, the last of all; it is gone after the block."""
        self._widgets += 1
        name = f"z-{self._widgets:05}"
        try:
            yield name
        finally:
            await self._world.delete_widget(name)

    @asynccontextmanager
    async def _started(
        self, spec: SideSpec, work: str, *options: str, core: int | None = None, log: str = "log"
    ) -> AsyncIterator[Side]:
        argv = argv_of(spec, self._programs, work, f"--config={self._world.kubeconfig}", *options)
        pinned = [] if core is None else ["taskset", "-c", str(core)]
        env = {"PYTHONPATH": str(ROOT)}
        async with started(
            [*pinned, *argv], env=env, log=self._folder / f"runtime-{spec.name}.{log}"
        ) as side:
            yield side
