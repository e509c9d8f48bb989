# SPDX-License-Identifier: Apache-2.0
"""The web application with an operator in it, as uvicorn runs it, on a real API server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from kubernetes.aio.client import V1ConfigMap

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest

_ROOT = Path(__file__).resolve().parents[2]


@asynccontextmanager
async def serving(server: Envtest, namespace: str, folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    """The application in a process of its own, and a client of it; in the end it ends as it is told."""
    socket = folder / "app.sock"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "uvicorn", "--factory", "examples.webapp:app", "--uds", str(socket)),
        cwd=_ROOT,
        env={
            **os.environ,
            "DGLOP_KUBECONFIG": str(server.kubeconfig),
            "DGLOP_INSTALL_CRDS": "true",
            "DGLOP_NAMESPACE": namespace,  # in others there are greetings of other tests' schemas
        },
    )
    try:
        transport = httpx.AsyncHTTPTransport(uds=str(socket))
        async with httpx.AsyncClient(transport=transport, base_url="http://app") as browser:
            await _answers(browser, process)
            yield browser
        process.send_signal(signal.SIGTERM)
        assert await process.wait() in (0, -signal.SIGTERM)  # uvicorn ends by the signal, once all is stopped
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _answers(browser: httpx.AsyncClient, process: asyncio.subprocess.Process) -> None:
    while process.returncode is None:
        with contextlib.suppress(httpx.TransportError):
            if (await browser.get("/greetings")).status_code == 200:
                return
        await asyncio.sleep(0.1)
    raise AssertionError(f"the application ended with {process.returncode} before it answered")


async def _lists(browser: httpx.AsyncClient, row: dict[str, object]) -> None:
    while True:
        if row in (await browser.get("/greetings")).json():
            return
        await asyncio.sleep(0.1)


async def test_what_is_posted_to_the_application_is_reconciled_by_it(
    server: Envtest, client: Client, namespace: str, tmp_path: Path
) -> None:
    async with serving(server, namespace, tmp_path) as browser:
        made = await browser.post(f"/greetings/{namespace}/hello", json={"text": "hi"})
        assert made.status_code == 201, made.text
        await _lists(browser, {"name": f"{namespace}/hello", "says": "hi", "ready": True})
        page = await client.get(V1ConfigMap, "hello", namespace)
    assert page.data == {"text": "hi"}


async def test_what_the_api_server_refuses_is_refused_in_its_words(
    server: Envtest, namespace: str, tmp_path: Path
) -> None:
    async with serving(server, namespace, tmp_path) as browser:
        bad = await browser.post(f"/greetings/{namespace}/Bad_Name", json={"text": "hi"})
        nowhere = await browser.post("/greetings/there-is-none/hello", json={"text": "hi"})
    assert (bad.status_code, "Bad_Name" in bad.json()["detail"]) == (422, True)
    assert (nowhere.status_code, "there-is-none" in nowhere.json()["detail"]) == (404, True)
