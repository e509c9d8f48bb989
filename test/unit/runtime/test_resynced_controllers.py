# SPDX-License-Identifier: Apache-2.0
"""What a controller does when its cache tells of all objects again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dglop import Context, Request
from dglop.runtime.handler import NORMAL_PRIORITY
from dglop.runtime.predicate import generation_changed
from dglop.testing.clock import ManualClock
from test.unit.runtime.controller_world import PATH, Greeting, greeting, make_manager, settled

pytestmark = pytest.mark.scripted

HOUR = 3600.0


class Reconciler:
    """Writes nothing that is not there, and notes whom it was called for."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self._news = asyncio.Condition()

    async def __call__(self, obj: Greeting, ctx: Context) -> None:
        async with self._news:
            self.calls.append(obj.name)
            self._news.notify_all()
        await self.gate.wait()
        obj.status.mood = "fine"

    async def until(self, count: int) -> None:
        async with self._news:
            await self._news.wait_for(lambda: len(self.calls) >= count)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


async def put_greetings(api: Any, *names: str) -> None:
    for name in names:
        await api.put(f"{PATH}/{name}", greeting(name, status={"mood": "fine"}))


async def test_a_resync_reconciles_every_object_again_and_writes_nothing(api, clock):
    await put_greetings(api, "a", "b")
    reconciler = Reconciler()
    manager = make_manager(api, clock=clock, cache_resync_seconds=HOUR)
    manager.controller(Greeting, reconciler)
    async with manager:
        await reconciler.until(2)
        await clock.advance(1.1 * HOUR)
        await settled(api, manager)
    assert sorted(reconciler.calls) == ["a", "a", "b", "b"]
    assert [each for each in api.server.requests if each.method != "GET"] == []


async def test_a_predicate_for_changes_lets_no_resync_through(api, clock):
    await put_greetings(api, "a")
    filtered, other = Reconciler(), Reconciler()
    manager = make_manager(api, clock=clock)
    manager.controller(Greeting, filtered, name="filtered", predicates=[generation_changed])
    manager.controller(Greeting, other, name="other")
    async with manager:
        await filtered.until(1)
        await other.until(1)
        await clock.advance(11 * HOUR)
        await settled(api, manager)
    assert (len(filtered.calls), len(other.calls)) == (1, 2)


async def test_a_change_overtakes_what_a_resync_brought(api, clock):
    await put_greetings(api, "a", "b", "c")
    reconciler = Reconciler()
    manager = make_manager(api, clock=clock)
    controller = manager.controller(Greeting, reconciler)
    async with manager:
        await reconciler.until(3)
        await settled(api, manager)
        reconciler.gate.clear()
        controller.queue.add(Request("default", "a"))
        await reconciler.until(4)
        await manager.cache.informer(Greeting).resync()
        controller.queue.add(Request("default", "c"), priority=NORMAL_PRIORITY)
        reconciler.gate.set()
        await settled(api, manager)
    assert reconciler.calls[3:] == ["a", "c", "a", "b"]
