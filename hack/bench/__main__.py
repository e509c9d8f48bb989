# SPDX-License-Identifier: Apache-2.0
"""Measure and print the report as Markdown on stdout; progress goes to stderr."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from typing import TYPE_CHECKING

from hack.bench.demo import measure_demo
from hack.bench.errors import BenchError
from hack.bench.jobs import measure_jobs
from hack.bench.machine import describe, describe_cluster
from hack.bench.options import parse
from hack.bench.partition import measure_partition
from hack.bench.runtime.bench import measure_runtime
from hack.bench.scale import measure_scale
from hack.bench.sizes import measure_images
from hack.bench.start import measure_start
from hack.cluster.errors import ClusterError
from hack.cluster.report import choose_report
from hack.stack import bring_up

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hack.bench.options import Options
    from hack.bench.section import Section
    from hack.cluster.report import Report
    from hack.stack import Stack


async def _measure(bench: str, stack: Stack, report: Report, options: Options) -> AsyncIterator[Section]:
    match bench:
        case "jobs":
            async for section in measure_jobs(stack, report, options):
                yield section
        case "scale":
            for section in await measure_scale(stack, report, options):
                yield section
        case "start":
            yield await measure_start(stack, report, options)
        case "demo":
            yield await measure_demo(report, options)
        case "partition":
            yield await asyncio.to_thread(measure_partition, stack, report, options)
        case _:
            yield await asyncio.to_thread(measure_images, report)


async def _run(options: Options) -> None:
    report = choose_report(sys.stderr)
    print(f"# Figures\n\n`python -m hack.bench {shlex.join(sys.argv[1:])}`".replace(" `", "`") + "\n")
    print(describe().markdown(), flush=True)
    if "runtime" in options.benches:  # first: it has an API server of its own, and should be alone
        async for section in measure_runtime(report, options):
            print(section.markdown(), flush=True)
    rest = [bench for bench in options.benches if bench != "runtime"]
    if not rest:
        return
    stack = await asyncio.to_thread(bring_up, report)
    print(describe_cluster(stack).markdown(), flush=True)
    for bench in rest:
        async for section in _measure(bench, stack, report, options):
            print(section.markdown(), flush=True)


def main() -> int:
    options = parse()
    code = 0
    try:
        asyncio.run(_run(options))
    except* (BenchError, ClusterError, RuntimeError) as group:
        for error in _leaves(group):
            print(f"\n  {error}", file=sys.stderr)
        code = 1
    except* KeyboardInterrupt:
        code = 130
    return code


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    found: list[BaseException] = []
    for each in group.exceptions:
        found += _leaves(each) if isinstance(each, BaseExceptionGroup) else [each]
    return found


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
