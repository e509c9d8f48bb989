# SPDX-License-Identifier: Apache-2.0
"""A real API server still answers as it is written down; the in-memory one is held to the same answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from dglop.runtime.client import Client, ClientConfig
from test.envtest.conformance.suite import CASES, answers_of, connecting, prepare, recorded

if TYPE_CHECKING:
    from dglop.testing.envtest import Envtest


@pytest.fixture(scope="session")
def config(server: Envtest) -> ClientConfig:
    """The server, with the kinds of the cases."""
    found = ClientConfig(kubeconfig=str(server.kubeconfig))

    async def install() -> None:
        async with await Client.connect(found) as client:
            await prepare(client)

    asyncio.run(install())
    return found


@pytest.mark.parametrize("name", CASES)
async def test_a_real_server_answers_as_written_down(config: ClientConfig, name: str) -> None:
    assert await answers_of(name, connecting(config)) == recorded()[name]
