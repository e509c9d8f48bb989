# SPDX-License-Identifier: Apache-2.0
"""
An operator inside a web application: FastAPI serves what the cache holds, the Manager keeps it true.

DGLOP_INSTALL_CRDS=true .venv/bin/python -m uvicorn --factory examples.webapp:app
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI, HTTPException
from fastapi.responses import JSONResponse
from kubernetes.aio.client import V1ConfigMap

from dglop import Manager, Settings
from dglop.errors import ApiError, DglopError
from examples.greeting import Greeting, GreetingSpec, reconcile

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request


def make_app(manager: Manager) -> FastAPI:
    """The application, which starts and stops *manager* with itself; `state.runs` is set once it runs."""
    manager.controller(Greeting, reconcile, owns=[V1ConfigMap])
    runs = asyncio.Event()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # Not waited for: uvicorn heeds no signal during the start, and a CRD may be long in coming.
        operating = asyncio.create_task(_operate(manager, runs))
        yield
        operating.cancel()
        await asyncio.wait([operating])
        if not operating.cancelled():
            operating.result()

    def running() -> None:
        if not runs.is_set():
            raise HTTPException(503, "the operator does not run yet; its log says what it waits for")

    app = FastAPI(lifespan=lifespan, exception_handlers={ApiError: _refused})
    app.state.runs = runs

    @app.get("/greetings", dependencies=[Depends(running)])
    async def greetings() -> list[dict[str, Any]]:
        return [_row(each.to(Greeting)) for each in manager.cache.list(Greeting)]  # costs no request

    @app.post("/greetings/{namespace}/{name}", status_code=201, dependencies=[Depends(running)])
    async def greet(namespace: str, name: str, spec: GreetingSpec) -> dict[str, Any]:
        return _row(await manager.client.create(Greeting(name=name, namespace=namespace, spec=spec)))

    return app


async def _operate(manager: Manager, runs: asyncio.Event) -> None:
    try:
        async with manager:
            runs.set()
            await manager.wait()
    except DglopError:
        signal.raise_signal(signal.SIGTERM)  # upon which uvicorn ends in order, and is told why
        raise


async def _refused(_: Request, error: Exception) -> JSONResponse:
    """What the API server refuses, such as a bad name, is refused here, in its words; 502 if it fails."""
    status = error.status if isinstance(error, ApiError) and 400 <= error.status < 500 else 502
    return JSONResponse({"detail": str(error)}, status)


def _row(greeting: Greeting) -> dict[str, Any]:
    ready = greeting.status.is_true("Ready")
    return {"name": f"{greeting.namespace}/{greeting.name}", "says": greeting.spec.text, "ready": ready}


def app() -> FastAPI:
    """For `uvicorn --factory examples.webapp:app`; uvicorn has the ports, so the Manager opens none."""
    return make_app(Manager(Settings(metrics_bind="0", health_bind="0"), name="greeter"))
