# SPDX-License-Identifier: Apache-2.0
"""How long a warm `make demo` takes."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from hack.bench.errors import BenchError
from hack.bench.figures import middle, seconds
from hack.bench.section import Section

if TYPE_CHECKING:
    from hack.bench.options import Options
    from hack.cluster.report import Report

__all__ = ("measure_demo",)

_ROOT = Path(__file__).resolve().parent.parent.parent
_LAST_LINES = 15


async def measure_demo(report: Report, options: Options) -> Section:
    """Run it on the cluster that is up, `repeat` times. Raises BenchError when a run fails."""
    times: list[float] = []
    with report.step("demo") as step:
        for turn in range(options.repeat):
            began = time.monotonic()
            process = await asyncio.create_subprocess_exec(
                "make", "demo", cwd=_ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
            )
            said, _ = await process.communicate()
            times.append(time.monotonic() - began)
            if process.returncode != 0:
                tail = "\n".join(said.decode(errors="replace").splitlines()[-_LAST_LINES:])
                raise BenchError(f"make demo ended with {process.returncode}:\n{tail}")
            step.note(f"run {turn + 1}: {times[-1]:.0f} s")
    rows = [
        ("median", seconds(middle(times)), "under 3 min on 2 cores"),
        ("each", ", ".join(seconds(each) for each in times), ""),
    ]
    note = "cluster up, images built and loaded; the job is made anew each time"
    return Section("Warm `make demo`", ("wall", "measured", "target"), rows, (note,))
