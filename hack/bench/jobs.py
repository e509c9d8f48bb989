# SPDX-License-Identifier: Apache-2.0
"""Hundreds of jobs of three pods on the fake node: ours, the peer's, and pods made by no operator."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dglop.runtime.client import Client, ClientConfig
from hack.bench.copies import copies
from hack.bench.cost import take_cost
from hack.bench.jobtables import Sample, sections
from hack.bench.load import POD, run_load
from hack.bench.namespaces import fresh_namespace
from hack.bench.ours import deployment_paused
from hack.bench.peer_build import peer_build
from hack.bench.samples import requests_by_verb
from hack.bench.sides import our_sides, peer_sides
from hack.bench.workload import PODS_EACH, parts_volume, plain_pod

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hack.bench.operator import Operator
    from hack.bench.options import Options
    from hack.bench.section import Section
    from hack.bench.sides import Side
    from hack.cluster.report import Report
    from hack.stack import Stack

__all__ = ("measure_jobs", "warmed")

_WARM_UP = "warm-up"


async def measure_jobs(stack: Stack, report: Report, options: Options) -> AsyncIterator[Section]:
    """
    The tables of each size, once all sides have run it.

    Raises:
        BenchError: a side cannot be measured.
    """
    build = None
    if {"peer", "lifted"} & set(options.sides):
        with report.step("peer") as step:
            build = await asyncio.to_thread(peer_build, step.note)
            step.note(f"training-operator {build.version}")
    config = ClientConfig(kubeconfig=str(stack.kubeconfig))
    with deployment_paused(stack) as deployment:
        sides = our_sides(stack, deployment, options.folder)
        sides |= peer_sides(stack, build, options.folder) if build else {}
        async with await Client.connect(config) as client:
            for jobs in options.jobs:
                load = _Load(client, report, options, jobs)
                await load.run(sides)
                for section in sections(load.samples, jobs, options.repeat):
                    yield section


@dataclass
class _Load:
    """So many jobs, by each side `repeat` times, one operator at a time, each in a namespace of its own."""

    client: Client
    report: Report
    options: Options
    jobs: int

    def __post_init__(self) -> None:
        self.samples: dict[str, list[Sample]] = {}

    async def run(self, sides: dict[str, Side]) -> None:
        chosen = self.options.sides
        if "bare" in chosen:
            await self._bare()
        for name, whose in (("plain", "ours"), ("plain-torch", "torch")):
            if name in chosen:
                with sides[whose].install():
                    await self._plain(name, sides[whose])
        for name, side in sides.items():
            if name in chosen:
                with side.install():
                    for turn in range(self.options.repeat):
                        await self._run(side, turn)

    async def _bare(self) -> None:
        """Pods of a job's name and nothing else: what the cluster does in the best case."""
        names = self._names("bare")
        for turn in range(self.options.repeat):
            async with fresh_namespace(self.client, f"dglop-bench-bare-{turn}") as namespace:
                pods = [plain_pod(each, index, namespace) for each in names for index in range(PODS_EACH)]
                await self._create("bare", turn, pods)

    async def _plain(self, name: str, side: Side) -> None:
        """The pods that our jobs have, without the jobs: those of one are read, and created anew for all."""
        for turn in range(self.options.repeat):
            async with fresh_namespace(self.client, f"dglop-bench-{name}-{turn}", parts_volume) as namespace:
                async with warmed(self.client, side, namespace):
                    pods = json.loads(await self.client.raw("GET", POD.path(namespace)))["items"]
                await self._create(name, turn, copies(pods, _WARM_UP, self._names("plain")))

    async def _create(self, name: str, turn: int, pods: list[dict[str, Any]]) -> None:
        with self.report.step(f"{name} {turn + 1}") as step:
            before = await take_cost(self.client)
            timing = await run_load(self.client, pods[0]["metadata"]["namespace"], pods, note=step.note)
            cost = (await take_cost(self.client)).since(before)
            self.samples.setdefault(name, []).append(Sample(timing, cost))
            step.note(f"{timing.wall:.1f} s")

    async def _run(self, side: Side, turn: int) -> None:
        """Start the operator, let it do one job, then measure it with all the others."""
        with self.report.step(f"{side.name} {turn + 1}") as step:
            async with (
                fresh_namespace(self.client, f"dglop-bench-{side.name}-{turn}", parts_volume) as namespace,
                warmed(self.client, side, namespace) as operator,
            ):
                jobs = [side.make(each, namespace) for each in self._names(side.name)]
                cost, before = await take_cost(self.client), operator.program.usage()
                asked = requests_by_verb(await operator.told())
                timing = await run_load(self.client, namespace, jobs, resource=side.resource, note=step.note)
                after, cost = operator.program.usage(), (await take_cost(self.client)).since(cost)
                asked = requests_by_verb(await operator.told()) - asked
            cpu = after.cpu_seconds - before.cpu_seconds
            self.samples.setdefault(side.name, []).append(Sample(timing, cost, cpu, after, asked))
            step.note(f"{timing.wall:.1f} s")

    def _names(self, prefix: str) -> list[str]:
        return [f"{prefix}-{number:03d}" for number in range(self.jobs)]


@asynccontextmanager
async def warmed(client: Client, side: Side, namespace: str) -> AsyncIterator[Operator]:
    """The operator of *side* once it has done one job, so that its caches and connections are warm."""
    async with side.start() as operator:
        await operator.ready()
        await run_load(client, namespace, [side.make(_WARM_UP, namespace)], resource=side.resource)
        yield operator
