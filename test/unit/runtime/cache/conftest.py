# SPDX-License-Identifier: Apache-2.0
"""Caches on a scripted server, whose pauses take no time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from dglop.runtime.cache import Cache

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.testing.scripted_clock import EagerClock

MakeCache = Callable[..., Any]


@pytest.fixture
async def make_cache(client: Client, clock: EagerClock) -> AsyncIterator[MakeCache]:
    """Makes caches on the server; all are stopped at the end."""
    async with AsyncExitStack() as stack:

        def make(**options: Any) -> Cache:
            cache = Cache(client, clock=clock, **options)
            stack.push_async_callback(cache.stop)
            return cache

        yield make
