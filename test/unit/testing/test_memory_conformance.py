# SPDX-License-Identifier: Apache-2.0
"""The in-memory API server answers as a real one did when its answers were written down."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from dglop.testing.memory import MemoryServer, connect
from test.envtest.conformance.suite import CASES, answers_of, prepare, recorded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dglop.runtime.client import Client


@pytest.mark.parametrize("name", CASES)
async def test_the_memory_server_answers_like_a_real_one(name: str) -> None:
    server = MemoryServer()

    @asynccontextmanager
    async def connecting(on_warning: Callable[[str], object]) -> AsyncIterator[Client]:
        async with await connect(server, on_warning=on_warning) as client:
            yield client

    async with await connect(server) as client:
        await prepare(client)
    assert await answers_of(name, connecting) == recorded()[name]


def test_every_case_is_written_down_and_nothing_else() -> None:
    assert list(recorded()) == list(CASES)
