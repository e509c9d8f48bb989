# SPDX-License-Identifier: Apache-2.0
"""A scripted server and a client of it, whose pauses take no time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dglop.runtime.client import Client, ClientConfig
from dglop.testing.scripted import ScriptedServer
from dglop.testing.scripted_clock import EagerClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


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
