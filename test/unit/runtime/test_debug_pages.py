# SPDX-License-Identifier: Apache-2.0
"""What the debug server shows of a running program."""

from __future__ import annotations

import asyncio
import io
import tracemalloc
from typing import Any

import aiohttp
import pytest

from dglop import Manager, Settings
from dglop.runtime.debug import debug_routes
from dglop.runtime.log import make_log
from dglop.runtime.serving import HttpRequest

PAGES = {route.path: route.handler for route in debug_routes()}


async def page(name: str, **query: str) -> str:
    answer = await PAGES[f"/debug/{name}"](HttpRequest("GET", f"/debug/{name}", query=query))
    assert answer.status == 200
    return str(answer.body)


async def test_tasks_are_told_by_name_with_the_line_where_they_wait():
    never = asyncio.Event()

    async def wait_for_godot() -> None:
        await never.wait()

    task = asyncio.create_task(wait_for_godot(), name="estragon")
    await asyncio.sleep(0)
    text = await page("tasks")
    task.cancel()
    assert "\nestragon\n" in text
    assert "await never.wait()" in text


async def test_threads_are_told_by_name_with_what_they_do():
    text = await asyncio.to_thread(lambda: asyncio.run(page("threads")))
    assert "MainThread" in text
    assert "asyncio_0" in text


async def test_memory_is_traced_from_start_to_stop_only():
    assert not tracemalloc.is_tracing()
    assert "?start" in await page("memory")
    assert "since the start of tracing" in await page("memory", start="")
    assert tracemalloc.is_tracing()
    assert "?start" in await page("memory", stop="")
    assert not tracemalloc.is_tracing()


def make_manager(api: Any, **settings: Any) -> Manager:
    options = Settings(**{"metrics_bind": "0", "health_bind": "0", **settings})
    return Manager(options, config=api.config, log=make_log(level="error", stream=io.StringIO()))


@pytest.mark.scripted
async def test_they_are_served_where_the_setting_says_and_nowhere_by_default(api):
    async with make_manager(api) as quiet:
        assert "debug" not in quiet.ports
    async with make_manager(api, debug_bind="127.0.0.1:0") as manager, aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{manager.ports['debug']}/debug/tasks"
        async with session.get(url) as answer:
            assert "others/loop-lag" in await answer.text()
