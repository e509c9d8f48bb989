# SPDX-License-Identifier: Apache-2.0
"""200 jobs of three pods on the fake node: ours, the peer's, and pods made by no operator."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from dglop.runtime.api import Resource
from dglop.runtime.client import Client, ClientConfig
from hack.bench.copies import copies
from hack.bench.cost import cost_section, take_cost
from hack.bench.figures import megabytes, middle, ratio, seconds
from hack.bench.load import AT_ONCE, POD, Timing, run_load
from hack.bench.namespaces import fresh_namespace
from hack.bench.ours import deployment_paused, our_operator
from hack.bench.peer import PEER_NOTES, peer_installed, peer_operator
from hack.bench.peer_build import peer_build
from hack.bench.section import Section
from hack.bench.workload import PODS_EACH, dgl_job, parts_volume, plain_pod, pytorch_job

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from hack.bench.cost import Cost
    from hack.bench.figures import Usage
    from hack.bench.options import Options
    from hack.bench.process import Program
    from hack.cluster.report import Report
    from hack.stack import Stack

__all__ = ("JobsBench", "Sample", "Side", "section")

_WARM_UP = "warm-up"


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of one side."""

    timing: Timing
    cost: Cost
    cpu_seconds: float | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """A kind of job, and the operator that looks after it."""

    name: str
    resource: Resource
    make: Callable[[str, str], dict[str, Any]]
    start: Callable[[], AbstractAsyncContextManager[tuple[Program, int]]]


class JobsBench:
    """Runs each side `repeat` times, one operator at a time, each run in a namespace of its own."""

    def __init__(self, stack: Stack, report: Report, options: Options) -> None:
        self._stack = stack
        self._report = report
        self._options = options
        self._samples: dict[str, list[Sample]] = {}

    async def run(self) -> list[Section]:
        """Raises BenchError where a side cannot be measured."""
        config = ClientConfig(kubeconfig=str(self._stack.kubeconfig))
        with deployment_paused(self._stack) as deployment:
            async with await Client.connect(config) as client:
                ours = self._our_side(deployment)
                if "bare" in self._options.sides:
                    await self._bare(client)
                if "plain" in self._options.sides:
                    await self._plain(client, ours)
                if "ours" in self._options.sides:
                    await self._run_side(client, ours)
                if "peer" in self._options.sides:
                    await self._peer(client)
        costs = {side: found[-1].cost for side, found in self._samples.items()}
        return [section(self._samples, self._options), cost_section(costs)]

    def _our_side(self, deployment: dict[str, Any]) -> Side:
        start = partial(our_operator, self._stack, deployment, self._options.folder)
        return Side("ours", Resource("kubeflow.org", "v1alpha1", "DGLJob", "dgljobs"), dgl_job, start)

    async def _bare(self, client: Client) -> None:
        """Pods of a job's name and nothing else: what the cluster does in the best case."""
        names = self._names("bare")
        for turn in range(self._options.repeat):
            async with fresh_namespace(client, f"dglop-bench-bare-{turn}") as namespace:
                pods = [plain_pod(each, index, namespace) for each in names for index in range(PODS_EACH)]
                await self._create(client, "bare", turn, pods)

    async def _plain(self, client: Client, side: Side) -> None:
        """The pods that our jobs have, without the jobs: those of one are read, and created anew for all."""
        for turn in range(self._options.repeat):
            async with fresh_namespace(client, f"dglop-bench-plain-{turn}", parts_volume) as namespace:
                async with _warmed(client, side, namespace):
                    pods = json.loads(await client.raw("GET", POD.path(namespace)))["items"]
                await self._create(client, "plain", turn, copies(pods, _WARM_UP, self._names("plain")))

    async def _create(self, client: Client, name: str, turn: int, pods: list[dict[str, Any]]) -> None:
        with self._report.step(f"{name} {turn + 1}") as step:
            before = await take_cost(client)
            timing = await run_load(client, pods[0]["metadata"]["namespace"], pods, note=step.note)
            cost = (await take_cost(client)).since(before)
            self._samples.setdefault(name, []).append(Sample(timing, cost))

    async def _peer(self, client: Client) -> None:
        with self._report.step("peer") as step:
            build = await asyncio.to_thread(peer_build, step.note)
            step.note(f"training-operator {build.version}")
        start = partial(peer_operator, self._stack, build, self._options.folder)
        side = Side("peer", Resource("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs"), pytorch_job, start)
        with peer_installed(self._stack, build):
            await self._run_side(client, side)

    async def _run_side(self, client: Client, side: Side) -> None:
        for turn in range(self._options.repeat):
            await self._run(client, side, turn)

    async def _run(self, client: Client, side: Side, turn: int) -> None:
        """Start the operator, let it do one job, then measure it with all the others."""
        with self._report.step(f"{side.name} {turn + 1}") as step:
            async with (
                fresh_namespace(client, f"dglop-bench-{side.name}-{turn}", parts_volume) as namespace,
                _warmed(client, side, namespace) as program,
            ):
                jobs = [side.make(each, namespace) for each in self._names(side.name)]
                cost, before = await take_cost(client), program.usage()
                timing = await run_load(client, namespace, jobs, resource=side.resource, note=step.note)
                after, cost = program.usage(), (await take_cost(client)).since(cost)
            cpu = after.cpu_seconds - before.cpu_seconds
            self._samples.setdefault(side.name, []).append(Sample(timing, cost, cpu, after))
            step.note(f"{timing.wall:.1f} s")

    def _names(self, prefix: str) -> list[str]:
        return [f"{prefix}-{number:03d}" for number in range(self._options.jobs)]


@asynccontextmanager
async def _warmed(client: Client, side: Side, namespace: str) -> AsyncIterator[Program]:
    """The operator of *side* once it has done one job, so that its caches and connections are warm."""
    async with side.start() as (program, health):
        await program.ready(health)
        await run_load(client, namespace, [side.make(_WARM_UP, namespace)], resource=side.resource)
        yield program


def section(samples: dict[str, list[Sample]], options: Options) -> Section:
    """The table of medians, with the ratios that the targets speak of."""
    pods = options.jobs * PODS_EACH
    titles = {
        "ours": "dglop, DGLJob",
        "peer": "training-operator, PyTorchJob, its own defaults",
        "plain": f"no operator: the {pods} pods of those DGLJobs, created by our client, {AT_ONCE} at a time",
        "bare": f"no operator: {pods} pods of one container and no volume, likewise",
    }
    rows = [_row(titles[side], samples[side]) for side in titles if side in samples]
    wall = {side: middle(each.timing.wall for each in found) for side, found in samples.items()}
    notes = [
        f"medians of {options.repeat}; wall is from the first request until every job was seen Succeeded",
        "each operator is a host process under its own service account and RBAC, warmed by one job",
        "CPU and RSS are the operator's alone; the machine's CPU is that of all who share its cores",
    ]
    for side, what, target in (
        ("peer", "training-operator", "0.20"),
        ("plain", "plain creation of its pods", "2.00"),
    ):
        if "ours" in wall and side in wall:
            share = ratio(wall["ours"], wall[side])
            notes.append(f"**dglop / {what}: {share}** (target with 200 jobs: at most {target})")
    notes += PEER_NOTES if "peer" in wall else ()
    header = (
        f"{options.jobs} jobs × {PODS_EACH} pods, each pod succeeds 1 s after it runs",  # noqa: RUF001
        "wall, all done",
        "all submitted",
        "p50 to all pods created",
        "CPU, whole machine",
        "CPU",
        "RSS (peak)",
    )
    return Section("Jobs at scale", header, rows, tuple(notes))


def _spread(values: list[float]) -> str:
    """The median, and the least and most where there are several."""
    if len(values) == 1:
        return seconds(values[0])
    return f"{seconds(middle(values))} ({seconds(min(values))} to {seconds(max(values))})"


def _row(title: str, found: list[Sample]) -> tuple[str, ...]:
    timings = [each.timing for each in found]
    cpu = [each.cpu_seconds for each in found if each.cpu_seconds is not None]
    usage = [each.usage for each in found if each.usage is not None]
    return (
        title,
        _spread([each.wall for each in timings]),
        seconds(middle(each.submitted for each in timings)),
        seconds(middle(each.pods_p50 for each in timings)),
        seconds(middle(each.busy for each in timings)),
        seconds(middle(cpu)) if cpu else "–",  # noqa: RUF001 - a dash of the right length
        f"{megabytes(middle(u.rss for u in usage))} ({megabytes(middle(u.peak_rss for u in usage))})"
        if usage
        else "–",  # noqa: RUF001
    )
