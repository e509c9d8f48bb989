# SPDX-License-Identifier: Apache-2.0
"""How long the operator takes to be ready, and what it holds with nothing to do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hack.bench.figures import megabytes, middle, seconds
from hack.bench.ours import deployment_paused, our_operator
from hack.bench.podseat import can_seat
from hack.bench.section import Section

if TYPE_CHECKING:
    from hack.bench.figures import Usage
    from hack.bench.options import Options
    from hack.cluster.report import Report
    from hack.stack import Stack

__all__ = ("measure_start",)

_IDLE_SECONDS = 10


async def measure_start(stack: Stack, report: Report, options: Options) -> Section:
    """Start it, wait for /readyz, leave it alone for ten seconds, end it; `repeat` times."""
    times: list[float] = []
    idle: list[Usage] = []
    jobs = len(stack.run("get", "dgljobs", "-A", "-o", "name").split())
    with deployment_paused(stack) as deployment, report.step("start") as step:
        for _ in range(options.repeat):
            async with our_operator(stack, deployment, options.folder) as operator:
                times.append(await operator.ready())
                await asyncio.sleep(
                    _IDLE_SECONDS
                )  # the very thing that is measured, not a wait for something
                idle.append(operator.program.usage())
                step.note(f"{times[-1]:.2f} s, {megabytes(idle[-1].rss)}")
    rows = [
        ("from exec to /readyz 200", seconds(middle(times)), "under 2 s"),
        (f"RSS after {_IDLE_SECONDS} s idle", megabytes(middle(each.rss for each in idle)), "under 120 MB"),
        ("CPU until then", seconds(middle(each.cpu_seconds for each in idle)), ""),
    ]
    knows = "its service account's files, as in a pod" if can_seat() else "a kubeconfig"
    note = (
        f"medians of {options.repeat}; arguments are the Deployment's; it knows the cluster by {knows}; "
        f"{jobs} DGLJobs in the cluster"
    )
    return Section("Start and idle", ("operator", "measured", "target"), rows, (note,))
