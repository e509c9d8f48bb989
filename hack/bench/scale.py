# SPDX-License-Identifier: Apache-2.0
"""Thousands of pods: what each job costs the API server and why, and what that is when nothing changes."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from dglop.runtime.api import Resource
from dglop.runtime.client import Client, ClientConfig
from hack.bench.errors import BenchError
from hack.bench.explain import StatusWrites
from hack.bench.figures import megabytes, seconds
from hack.bench.load import POD, Timing, run_load
from hack.bench.namespaces import fresh_namespace
from hack.bench.ours import deployment_paused, our_operator
from hack.bench.samples import counted, refusals, requests_by_verb
from hack.bench.scaletables import Ledger, quiet_section, writes_section
from hack.bench.section import Section
from hack.bench.sides import DGL_JOBS
from hack.bench.workload import dgl_job, parts_volume

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from hack.bench.figures import Usage
    from hack.bench.operator import Operator
    from hack.bench.options import Options
    from hack.cluster.report import Report, Step
    from hack.stack import Stack

__all__ = ("measure_scale",)

_EVENTS = Resource("events.k8s.io", "v1", "Event", "events")
_CHILDREN = {
    "secrets": Resource("", "v1", "Secret", "secrets"),
    "services": Resource("", "v1", "Service", "services"),
    "pods": POD,
}
_NO_LEASE = "--no-leader-elect"
_RESYNC_SECONDS = 20
_RESYNCS = 2
_ASK_AGAIN_SECONDS = 0.5
_LIMIT_SECONDS = 600
_REFUSED = 400


async def measure_scale(stack: Stack, report: Report, options: Options) -> list[Section]:
    """
    Run the jobs, explain what was written, then restart the operator and have all looked at again.

    Raises:
        BenchError: a job failed, or the operator does not come to rest.
    """
    config = ClientConfig(kubeconfig=str(stack.kubeconfig))
    jobs, pods = options.scale
    with deployment_paused(stack) as deployment:
        start = partial(our_operator, stack, deployment, options.folder, _NO_LEASE)
        async with (
            await Client.connect(config) as client,
            fresh_namespace(client, "dglop-bench-scale", parts_volume) as namespace,
        ):
            with report.step(f"scale {jobs} by {pods}") as step:
                run = _Run(client, namespace, jobs, pods, step)
                async with start() as operator:
                    found = await run.load(operator)
                step.note(f"{jobs} jobs done")
            with report.step("nothing changes") as step:
                looks = await _look_again(start, jobs, step)
    return [*found, quiet_section(jobs, looks)]


class _Run:
    """The load, and what it wrote."""

    def __init__(self, client: Client, namespace: str, jobs: int, pods: int, step: Step) -> None:
        self._client = client
        self._namespace = namespace
        self._jobs = jobs
        self._pods = pods
        self._step = step

    async def load(self, operator: Operator) -> list[Section]:
        await operator.ready()
        await _at_rest(operator, 0)
        before = await operator.told()
        statuses = StatusWrites()
        jobs = [dgl_job(f"job-{number:04d}", self._namespace, self._pods) for number in range(self._jobs)]
        timing = await run_load(
            self._client,
            self._namespace,
            jobs,
            note=self._step.note,
            resource=DGL_JOBS,
            pods_each=self._pods,
            heard=statuses.heard,
        )
        after = await _at_rest(operator, 0)
        ledger = await self._ledger(statuses, before, after)
        return [_figures(ledger, timing, operator.program.usage()), writes_section(ledger)]

    async def _ledger(self, statuses: StatusWrites, before: str, after: str) -> Ledger:
        sent = requests_by_verb(after, below=_REFUSED) - requests_by_verb(before, below=_REFUSED)
        refused = refusals(after) - refusals(before)
        created = {name: await self._owned(each) for name, each in _CHILDREN.items()}
        events, repeated = await self._events()
        return Ledger(
            self._jobs,
            self._pods,
            created,
            events,
            repeated,
            statuses.reasons,
            statuses.most,
            sent,
            refused,
            statuses.missed,
        )

    async def _owned(self, resource: Resource) -> int:
        """How many objects there are that belong to a job; nothing that was made is deleted in such a run."""
        found = json.loads(await self._client.raw("GET", resource.path(self._namespace), timeout=60))
        return sum(
            any(owner["kind"] == DGL_JOBS.kind for owner in each["metadata"].get("ownerReferences", ()))
            for each in found["items"]
        )

    async def _events(self) -> tuple[Counter[str], int]:
        """The operator's events by reason, and how often one was told again."""
        found = json.loads(await self._client.raw("GET", _EVENTS.path(self._namespace), timeout=60))
        ours = [each for each in found["items"] if each["regarding"]["kind"] == DGL_JOBS.kind]
        repeated = sum(max(0, (each.get("series") or {}).get("count", 1) - 1) for each in ours)
        return Counter(each["reason"] for each in ours), repeated


async def _look_again(
    start: Callable[..., AbstractAsyncContextManager[Operator]], jobs: int, step: Step
) -> dict[str, tuple[int, Counter[str]]]:
    """What an operator does that finds all jobs done, at its start and when all are looked at again."""
    looks: dict[str, tuple[int, Counter[str]]] = {}
    async with start(f"--cache-resync-seconds={_RESYNC_SECONDS}") as operator:
        await operator.ready()
        told, wanted = await _at_rest(operator, jobs), jobs
        looks["the operator is restarted"] = _reconciles(told), requests_by_verb(told, below=_REFUSED)
        step.note(f"{_reconciles(told)} reconciles after a restart")
        wanted = _reconciles(told) + _RESYNCS * jobs
        told, before = await _at_rest(operator, wanted), told
        sent = requests_by_verb(told, below=_REFUSED) - requests_by_verb(before, below=_REFUSED)
        looks[f"everything is looked at {_RESYNCS} times more"] = (
            _reconciles(told) - _reconciles(before),
            sent,
        )
        step.note(f"{_reconciles(told)} reconciles")
    return looks


async def _at_rest(operator: Operator, reconciles: int) -> str:
    """What the operator tells once it has done so many reconciles and nothing waits, by two looks."""
    last = ""
    try:
        async with asyncio.timeout(_LIMIT_SECONDS):
            while True:
                told = await operator.told()
                waits = counted(told, "workqueue_depth") + counted(told, "controller_runtime_active_workers")
                if last and not waits and _reconciles(told) >= reconciles and _figures_of(told) == last:
                    return told
                last = _figures_of(told)
                await asyncio.sleep(_ASK_AGAIN_SECONDS)
    except TimeoutError:
        raise BenchError(f"the operator does not come to rest within {_LIMIT_SECONDS} s") from None


def _reconciles(told: str) -> int:
    return counted(told, "controller_runtime_reconcile_total")


def _figures_of(told: str) -> str:
    """What stands still where nothing is done."""
    return f"{_reconciles(told)} {sorted(requests_by_verb(told).items())}"


def _figures(found: Ledger, timing: Timing, usage: Usage) -> Section:
    rows = [
        ("jobs done, of all", f"{found.jobs} of {found.jobs}"),
        ("pods, each made once", f"{timing.pods} of {found.jobs * found.pods}"),
        ("all pods created", seconds(timing.pods_all)),
        ("all Succeeded", seconds(timing.wall)),
        ("CPU of the operator, since its start", seconds(usage.cpu_seconds)),
        ("CPU, whole machine", seconds(timing.busy)),
        ("RSS of the operator (peak)", f"{megabytes(usage.rss)} ({megabytes(usage.peak_rss)})"),
    ]
    return Section(f"{found.jobs} jobs × {found.pods} pods", ("", "measured"), rows)  # noqa: RUF001
