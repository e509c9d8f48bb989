# SPDX-License-Identifier: Apache-2.0
"""A server that does what a test says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio

from dglop.testing.scripted import ScriptedServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest_asyncio.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as server:
        yield server
