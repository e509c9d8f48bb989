# SPDX-License-Identifier: Apache-2.0
"""An operator inside a web application: FastAPI serves what the cache holds, the Manager keeps it true."""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, HTTPException
from kubernetes.aio.client import V1ConfigMap

from dglop import Manager, Settings
from dglop.errors import AlreadyExistsError, DglopError
from examples.greeting import Greeting, GreetingSpec, reconcile

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def make_app(manager: Manager) -> FastAPI:
    """The application, which starts and stops *manager* with itself."""
    manager.controller(Greeting, reconcile, owns=[V1ConfigMap])

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with manager:
            watching = asyncio.create_task(_end_with(manager))
            yield
            watching.cancel()

    app = FastAPI(lifespan=lifespan)

    @app.get("/greetings")
    async def greetings() -> list[dict[str, Any]]:
        return [_row(each.to(Greeting)) for each in manager.cache.list(Greeting)]  # costs no request

    @app.post("/greetings/{namespace}/{name}", status_code=201)
    async def greet(namespace: str, name: str, spec: GreetingSpec) -> dict[str, Any]:
        try:
            made = await manager.client.create(Greeting(name=name, namespace=namespace, spec=spec))
        except AlreadyExistsError as error:
            raise HTTPException(409, str(error)) from error
        return _row(made)

    return app


async def _end_with(manager: Manager) -> None:
    try:
        await manager.wait()
    except DglopError:
        signal.raise_signal(signal.SIGTERM)  # upon which uvicorn ends in order, and the Manager tells why


def _row(greeting: Greeting) -> dict[str, Any]:
    ready = greeting.status.is_true("Ready")
    return {"name": f"{greeting.namespace}/{greeting.name}", "says": greeting.spec.text, "ready": ready}


def app() -> FastAPI:
    """For `uvicorn --factory examples.webapp:app`; uvicorn has the ports, so the Manager opens none."""
    return make_app(Manager(Settings(metrics_bind="0", health_bind="0"), name="greeter"))
