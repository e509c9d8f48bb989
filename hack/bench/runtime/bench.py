# SPDX-License-Identifier: Apache-2.0
"""Runs the runtime's bench: every side at every work, in turn, on one API server."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from hack import stack
from hack.bench.runtime.measure import FINISHED, LIMIT_SECONDS, Measure, Run
from hack.bench.runtime.peers import (
    kopf_python,
    kopf_version,
    own_python,
    reference_program,
    reference_version,
)
from hack.bench.runtime.sides import Programs, SideSpec, sides_at
from hack.bench.runtime.symptoms import measure_symptoms
from hack.bench.runtime.tables import section_of
from hack.bench.runtime.world import world
from hack.bench.section import Section

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hack.bench.options import Options
    from hack.bench.runtime.world import World
    from hack.cluster.report import Report

__all__ = ("measure_runtime",)

_PER_PODS = ("sync", "events", "relist")
_ONCE = ("events",)  # of these only with the first number of pods
_NOTES = {
    "sync": (
        "from the moment the program begins its work, its imports done, until all pods are in its cache",
        "kopf has no cache: synced means that its handler was called for every pod",
        "memory is the most that the process had, a second later",
        "managedFields are dropped: by TransformStripManagedFields there, by dglop as always",
    ),
    "events": (
        "the program is stopped (SIGSTOP) while every pod is changed once, and then goes on",
        "the indexes are by two labels and an annotation; kopf is measured without and with its own",
        "the loops over the official client have no indexes",
    ),
    "noop": (
        "each reads a small custom resource from the cache, typed, and returns; they come from a channel",
        "kopf and the loops have no queue that could be filled: there an event is its reconciliation",
    ),
    "restart": ("from exec; the new object is the last of all by name, made just before",),
    "failover": (
        "lease times are the defaults of all three: 15 s for the lease, 60 s for a kopf peer",
        "the loops have no standby: the official client's elector fails to create its Lease",
    ),
    "relist": (
        "the API server is started anew, which no watch survives; a tick is due every 2 ms",
        "own work is CPU time of the loop's thread between two ticks: what others on the machine cannot add",
    ),
}


async def measure_runtime(report: Report, options: Options) -> AsyncIterator[Section]:
    """The tables, each as soon as it is there. Raises BenchError, ClusterError."""
    if "symptoms" in options.works:
        yield await measure_symptoms()
    if options.works == ("symptoms",):
        return
    if "KUBEBUILDER_ASSETS" not in os.environ:
        os.environ["KUBEBUILDER_ASSETS"] = str(await asyncio.to_thread(stack.envtest_assets, report))
    programs = await asyncio.to_thread(_programs, report, options)
    async with world() as made:
        yield await _versions(made)
        for pods in options.pods:
            measure = Measure(made, programs, options.folder, pods)
            with report.step("pods") as step:
                await made.fill(pods)
                size = await made.pod_bytes()
                step.note(f"{pods}, {size:.0f} bytes each")
            for work in _works(options, pods):
                section = await _measured(measure, report, options, work)
                yield replace(
                    section, notes=(f"a pod is {size / 1000:.1f} kB of JSON as served", *section.notes)
                )
        works = [each for each in options.works if each not in (*_PER_PODS, "symptoms")]
        if works:
            with report.step("widgets") as step:
                await made.finish_widgets(FINISHED)
                step.note(str(FINISHED))
        for work in works:
            yield await _measured(measure, report, options, work)


def _works(options: Options, pods: int) -> list[str]:
    """What is measured with so many pods."""
    is_first = pods == options.pods[0]
    return [each for each in _PER_PODS if each in options.works and (is_first or each not in _ONCE)]


def _programs(report: Report, options: Options) -> Programs:
    names = options.runtime_sides
    with report.step("peers") as step:
        reference = reference_program(step.note) if "controller-runtime" in names else None
        kopf = kopf_python(options.folder, step.note) if {"kopf", "kopf-indexed"} & set(names) else None
        return Programs(own_python(options.folder, step.note), reference, kopf)


async def _versions(made: World) -> Section:
    rows = [
        ("Kubernetes", await made.version()),
        ("dglop", version("dglop")),
        ("controller-runtime", reference_version()),
        ("kopf", kopf_version()),
        ("kubernetes (the official client)", version("kubernetes")),
    ]
    notes = (
        "one API server and its etcd, nothing else in the cluster, and one side at a time",
        "each side in an environment of its own, as locked, without what only development needs",
    )
    return Section("Versions", ("what", "version"), rows, notes)


async def _measured(measure: Measure, report: Report, options: Options, work: str) -> Section:
    """All sides in turn, as often as asked; one that is over the limit is not tried again."""
    found: dict[SideSpec, list[Run] | None] = {side: [] for side in sides_at(work, options.runtime_sides)}
    with report.step(f"{work} {measure.pods}") as step:
        for number in range(options.runtime_repeat):
            for side, runs in found.items():
                if runs is None:
                    continue
                step.note(f"{number + 1} of {options.runtime_repeat}: {side.name}")
                try:
                    runs.append(await getattr(measure, work)(side))
                except TimeoutError:
                    found[side] = None
    limit = f"over {LIMIT_SECONDS:.0f} s a side is stopped, and not tried again"
    notes = (f"medians of {options.runtime_repeat}; {limit}", *_NOTES[work])
    return section_of(work, measure.pods, found, notes)
