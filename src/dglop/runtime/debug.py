# SPDX-License-Identifier: Apache-2.0
"""What a running program is busy with: its tasks, threads and memory, as pprof shows it for Go."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
import traceback
import tracemalloc
from typing import TYPE_CHECKING

from dglop.runtime.serving import HttpResponse, Route

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.runtime.serving import HttpRequest

__all__ = ("debug_routes", "describe_tasks", "describe_threads")

TOP = 50


def debug_routes() -> list[Route]:
    """
    GET /debug/tasks, /debug/threads and /debug/memory.

    Memory is traced, which makes everything slower, from `?start` to `?stop`. They tell much and check
    nobody: serve them on loopback.
    """

    async def tasks(_: HttpRequest) -> HttpResponse:
        return HttpResponse(body=describe_tasks(asyncio.all_tasks()))

    async def threads(_: HttpRequest) -> HttpResponse:
        return HttpResponse(body=describe_threads())

    async def memory(request: HttpRequest) -> HttpResponse:
        if "start" in request.query:
            tracemalloc.start()
        elif "stop" in request.query:
            tracemalloc.stop()
        if not tracemalloc.is_tracing():
            return HttpResponse(body="memory is not traced; ask for /debug/memory?start\n")
        return HttpResponse(body=await asyncio.to_thread(_describe_memory))

    handlers = {"tasks": tasks, "threads": threads, "memory": memory}
    return [Route("GET", f"/debug/{name}", handler) for name, handler in handlers.items()]


def describe_tasks(tasks: Iterable[asyncio.Task[object]]) -> str:
    """Every task by its name, and where it waits."""
    found = sorted(tasks, key=lambda task: task.get_name())
    out = io.StringIO()
    out.write(f"{len(found)} tasks\n")
    for task in found:
        out.write(f"\n{task.get_name()}\n")
        for frame in task.get_stack():
            out.write("".join(traceback.format_stack(frame, limit=1)))
    return out.getvalue()


def describe_threads() -> str:
    """Every thread by its name, and what it does."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    frames = sys._current_frames()  # noqa: SLF001 - documented, in spite of its name
    out = io.StringIO()
    out.write(f"{len(frames)} threads\n")
    for ident, frame in frames.items():
        out.write(f"\n{names.get(ident, ident)}\n")
        out.write("".join(traceback.format_stack(frame)))
    return out.getvalue()


def _describe_memory() -> str:
    now, peak = tracemalloc.get_traced_memory()
    lines = tracemalloc.take_snapshot().statistics("lineno")[:TOP]
    head = f"{now / 2**20:.1f} MiB since the start of tracing, at most {peak / 2**20:.1f} MiB\n\n"
    return head + "".join(f"{line}\n" for line in lines)
