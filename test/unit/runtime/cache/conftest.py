# SPDX-License-Identifier: Apache-2.0
"""A scripted server and a cache on it, whose pauses take no time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from dglop.runtime.cache import Cache
from dglop.runtime.client import Client, ClientConfig
from dglop.testing.scripted import ScriptedServer
from dglop.testing.scripted_clock import EagerClock

MakeCache = Callable[..., Any]


@pytest.fixture
def clock() -> EagerClock:
    return EagerClock()


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as running:
        yield running


@pytest.fixture
async def client(server: ScriptedServer, clock: EagerClock) -> AsyncIterator[Client]:
    async with await Client.connect(ClientConfig(host=server.url), clock=clock) as connected:
        yield connected


@pytest.fixture
async def make_cache(client: Client, clock: EagerClock) -> AsyncIterator[MakeCache]:
    """Makes caches on the server; all are stopped at the end."""
    async with AsyncExitStack() as stack:

        def make(**options: Any) -> Cache:
            cache = Cache(client, clock=clock, **options)
            stack.push_async_callback(cache.stop)
            return cache

        yield make
