# SPDX-License-Identifier: Apache-2.0
"""A Manager inside a FastAPI application, on the in-memory server."""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
import pytest

from dglop.errors import DglopError
from dglop.testing.plugin import memory_cluster
from examples.greeting import Greeting
from examples.webapp import make_app

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop import Manager
    from dglop.testing.memory import MemoryCluster

__all__ = ("memory_cluster",)


@asynccontextmanager
async def serving(manager: Manager) -> AsyncIterator[httpx.AsyncClient]:
    """The application as a server would run it, and a client of it."""
    app = make_app(manager)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as browser,
    ):
        yield browser


async def test_what_is_posted_is_reconciled_and_listed_from_the_cache(memory_cluster: MemoryCluster) -> None:
    await memory_cluster.install(Greeting)
    async with serving(memory_cluster.manager()) as browser:
        made = await browser.post("/greetings/default/hello", json={"text": "hi"})
        assert (made.status_code, made.json()["ready"]) == (201, False)
        await memory_cluster.settle()
        asked = memory_cluster.server.requests
        row = {"name": "default/hello", "says": "hi", "ready": True}
        assert (await browser.get("/greetings")).json() == [row]
        assert memory_cluster.server.requests == asked
        assert (await browser.post("/greetings/default/hello", json={"text": "hi"})).status_code == 409


async def test_a_text_that_the_kind_does_not_allow_is_refused_before_the_api_server_sees_it(memory_cluster):
    await memory_cluster.install(Greeting)
    async with serving(memory_cluster.manager()) as browser:
        asked = memory_cluster.server.requests
        answer = await browser.post("/greetings/default/hello", json={"text": "x" * 257})
    assert (answer.status_code, memory_cluster.server.requests) == (422, asked)


async def test_a_manager_that_fails_ends_the_application_in_order(memory_cluster, monkeypatch):
    await memory_cluster.install(Greeting)
    fail = asyncio.Event()
    told: asyncio.Queue[signal.Signals] = asyncio.Queue()
    monkeypatch.setattr(signal, "raise_signal", told.put_nowait)

    class Failing:
        async def run(self, stop: asyncio.Event) -> None:
            await fail.wait()
            raise DglopError("the disk is full")

    manager = memory_cluster.manager()
    manager.add(Failing())

    async def serve() -> None:
        async with serving(manager):
            fail.set()
            assert await told.get() is signal.SIGTERM

    with pytest.raises(DglopError, match="the disk is full"):
        await serve()


async def test_who_waits_for_a_failure_can_stop_waiting_while_the_manager_runs_on(memory_cluster):
    await memory_cluster.install(Greeting)
    manager = memory_cluster.manager()
    async with manager:
        waiting = asyncio.create_task(manager.wait())
        await memory_cluster.settle()
        waiting.cancel()
        await asyncio.wait([waiting])
        await memory_cluster.client.list(Greeting, "default")
