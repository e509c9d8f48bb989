# SPDX-License-Identifier: Apache-2.0
"""A Manager inside a FastAPI application, on the in-memory server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
import pytest

from dglop.errors import DglopError
from dglop.testing.plugin import memory_cluster
from dglop.testing.scripted import ScriptedServer
from examples.greeting import Greeting
from examples.webapp import make_app
from test.pages import ROOT
from test.unit.contract.kubeconfigs import write

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

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
        await app.state.runs.wait()
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


@pytest.mark.parametrize(("status", "answered"), [(403, 403), (404, 404), (422, 422), (500, 502)])
async def test_what_the_api_server_refuses_is_refused_in_its_words_and_its_failures_are_no_bug_of_ours(
    memory_cluster, status, answered
):
    await memory_cluster.install(Greeting)
    async with serving(memory_cluster.manager()) as browser:
        memory_cluster.server.faults.add(status, "POST", Greeting, times=9)
        answer = await browser.post("/greetings/default/hello", json={"text": "hi"})
    assert answer.status_code == answered
    assert "injected by the test" in answer.json()["detail"]


async def test_a_name_that_cannot_be_is_refused(memory_cluster):
    await memory_cluster.install(Greeting)
    async with serving(memory_cluster.manager()) as browser:
        answer = await browser.post("/greetings/default/Bad_Name", json={"text": "hi"})
    assert (answer.status_code, "Bad_Name" in answer.json()["detail"]) == (422, True)


async def test_before_the_manager_runs_requests_are_answered_with_503_and_the_application_can_be_ended(
    memory_cluster,
):
    memory_cluster.server.faults.add("hang", "GET", Greeting, times=1000)
    app = make_app(memory_cluster.manager())
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://app") as browser,
    ):
        asked = [await browser.get("/greetings"), await browser.post("/greetings/a/b", json={"text": "hi"})]
    assert [each.status_code for each in asked] == [503, 503]
    assert not app.state.runs.is_set()


@pytest.mark.scripted
async def test_uvicorn_says_at_once_that_the_crd_is_missing_and_how_to_get_it_and_ends_on_sigint(
    tmp_path: Path,
) -> None:
    async with ScriptedServer() as server:  # which answers 404 to everything
        config = write(tmp_path / "config", cluster={"server": server.url})
        words = ("-m", "uvicorn", "--factory", "examples.webapp:app", "--uds", str(tmp_path / "app.sock"))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            env={**os.environ, "DGLOP_KUBECONFIG": str(config)},
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            assert process.stdout
            async with asyncio.timeout(60):
                while b"Waiting until the API server serves the kind" not in (
                    line := await process.stdout.readline()
                ):
                    assert line, "it ended before it said what is missing"
                process.send_signal(signal.SIGINT)
                await process.communicate()
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    said = json.loads(line)
    assert (said["kind"], "apply its CRD" in said["msg"]) in {
        ("greetings.example.dev", True),
        ("configmaps", True),
    }
    assert process.returncode in (0, -signal.SIGINT)


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
