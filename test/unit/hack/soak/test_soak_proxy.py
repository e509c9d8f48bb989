# SPDX-License-Identifier: Apache-2.0
"""The soak's network breaks in the ways that it says."""

from __future__ import annotations

import pytest

from dglop.errors import ApiConnectionError, ApiTimeoutError
from dglop.runtime.client import Client, ClientConfig
from dglop.testing.scripted import ScriptedServer
from dglop.testing.scripted_clock import EagerClock
from dglop.testing.scripted_replies import answer, stream
from hack.soak.proxy import ChaosProxy, Weather

pytestmark = pytest.mark.scripted


async def ask(client: Client) -> bytes:
    return await client.raw("GET", "/x", timeout=0.2, retry=False)


async def test_connections_are_carried_reset_refused_swallowed_and_made_half_open() -> None:
    async with ScriptedServer() as server:
        server.watches(stream(b"1\n"))
        server.on(lambda _: True, answer({}))
        async with ChaosProxy(int(server.url.rpartition(":")[2])) as proxy:
            host = proxy.url.replace("https", "http")
            async with await Client.connect(ClientConfig(host=host), clock=EagerClock()) as client:
                assert await ask(client) == b"{}"
                lines = client.stream("/w", query={"watch": "true"}, read_idle=30)
                assert await anext(lines) == b"1"
                proxy.end_all()
                with pytest.raises(ApiConnectionError):
                    await anext(lines)
                assert proxy.ended == 2
                assert await ask(client) == b"{}"
                proxy.half_open_all()
                with pytest.raises(ApiTimeoutError):
                    await ask(client)
                proxy.weather = Weather.BLACK_HOLE
                with pytest.raises(ApiTimeoutError):
                    await ask(client)
                proxy.weather = Weather.REFUSING
                with pytest.raises(ApiConnectionError):
                    await ask(client)
                proxy.weather = Weather.FAIR
                assert await ask(client) == b"{}"
