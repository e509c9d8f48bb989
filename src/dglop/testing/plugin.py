# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests of operators: `pytest_plugins = ["dglop.testing.plugin"]` in a conftest.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio

from dglop.testing.memory import MemoryCluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ("memory_cluster",)


@pytest_asyncio.fixture
async def memory_cluster() -> AsyncIterator[MemoryCluster]:
    """An in-memory API server and a clock that stands still."""
    async with MemoryCluster() as cluster:
        yield cluster
