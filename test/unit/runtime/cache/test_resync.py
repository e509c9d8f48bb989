# SPDX-License-Identifier: Apache-2.0
"""Resyncs: every object is told again from memory, now and then, without a request."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from dglop.runtime.cache import Cache
from dglop.runtime.cache.entry import read_object
from dglop.testing.clock import ManualClock, yield_to_tasks
from dglop.testing.scripted_cache import Hearer, pod
from dglop.testing.scripted_replies import items, stream
from test.unit.runtime.cache.informers import POD, started, watches

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop.runtime.cache import Cached, Informer
    from dglop.runtime.client import Client
    from dglop.testing.scripted import ScriptedServer

pytestmark = pytest.mark.scripted

HOUR = 3600.0


@pytest.fixture
async def manual() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def synced(server: ScriptedServer, client: Client, manual: ManualClock) -> AsyncIterator[Any]:
    """Starts a cache of two pods on a clock that stands still."""
    caches: list[Cache] = []

    async def start(**options: Any) -> tuple[Informer, Hearer]:
        server.lists(items([pod("a", 5), pod("b", 6)], "9"))
        server.watches(stream())
        cache = Cache(client, clock=manual, streams=False, **options)
        caches.append(cache)
        informer, hearer = await started(cache)
        await hearer.until("+b@6!")
        await server.until(1, watches)
        hearer.heard.clear()
        return informer, hearer

    yield start
    for cache in caches:
        await cache.stop()


def cached(name: str, version: int = 1) -> Cached:
    return read_object(json.dumps(pod(name, version)).encode(), POD)[0]


async def many(client: Client, count: int) -> Informer:
    """An informer with so many objects, which nobody keeps up to date."""
    informer = Cache(client).informer(POD)
    await informer.replace([cached(f"p{number}") for number in range(count)], None, is_initial=True)
    return informer


async def test_every_object_is_told_again_as_it_is_and_nothing_is_asked(
    server: ScriptedServer, manual: ManualClock, synced: Any
) -> None:
    _, hearer = await synced(resync_seconds=10 * HOUR, jitter=lambda: 0.5)
    asked = len(server.requests)
    await manual.advance(10 * HOUR - 1)
    assert hearer.heard == []
    await manual.advance(1)
    assert hearer.heard == ["~a@5>5", "~b@6>6"]
    await manual.advance(10 * HOUR)
    assert hearer.heard == ["~a@5>5", "~b@6>6"] * 2
    assert len(server.requests) == asked


async def test_each_round_is_up_to_a_tenth_shorter_or_longer(manual: ManualClock, synced: Any) -> None:
    draws = iter([0.0, 1.0, 0.5])
    _, hearer = await synced(resync_seconds=10 * HOUR, jitter=lambda: next(draws))
    told = []
    for _ in range(20):
        await manual.advance(HOUR)
        told.append(hearer.heard.count("~a@5>5"))
    assert (told.index(1) + 1, told.index(2) + 1) == (9, 20)


async def test_ten_hours_are_the_default_and_zero_is_never(manual: ManualClock, synced: Any) -> None:
    _, silent = await synced(resync_seconds=0)
    _, usual = await synced()
    await manual.advance(11 * HOUR)
    assert silent.heard == []
    assert usual.heard == ["~a@5>5", "~b@6>6"]


async def test_a_resync_of_very_many_objects_gives_way_to_others(client: Client) -> None:
    informer, hearer = await many(client, 10_000), _Counter()
    informer.add_handler(hearer)
    resync, most, before = asyncio.create_task(informer.resync()), 0, 0
    while not resync.done():
        await asyncio.sleep(0)
        most, before = max(most, hearer.updates - before), hearer.updates
    assert hearer.updates == 10_000
    assert most <= 100


async def test_what_changes_or_goes_during_a_resync_is_told_as_it_is_by_then(client: Client) -> None:
    informer, hearer = await many(client, 600), Hearer()
    informer.add_handler(hearer)
    resync = asyncio.create_task(informer.resync())
    await asyncio.sleep(0)
    await informer.deliver(informer.store.put(cached("p598", 2)), informer.registrations)
    await informer.deliver(informer.store.remove(cached("p599", 1)), informer.registrations)
    await resync
    assert "~p598@2>2" in hearer.heard
    assert "~p598@1>1" not in hearer.heard
    assert hearer.heard[-1] == "~p598@2>2"
    assert not [each for each in hearer.heard if each.startswith("~p599")]


async def test_nobody_hears_of_an_object_again_before_he_has_heard_of_it(client: Client) -> None:
    informer, hearer = Cache(client).informer(POD), Hearer()
    informer.add_handler(hearer)
    objects = [cached(f"p{number}") for number in range(600)]
    first = asyncio.create_task(informer.replace(objects, None, is_initial=True))
    await asyncio.sleep(0)
    resync = asyncio.create_task(informer.resync())
    await asyncio.gather(first, resync)
    assert hearer.heard.index("+p599@1!") < hearer.heard.index("~p599@1>1")


async def test_a_handler_that_is_removed_during_a_resync_hears_no_more(client: Client) -> None:
    informer, hearer = await many(client, 600), _Counter()
    registration = informer.add_handler(hearer)
    resync = asyncio.create_task(informer.resync())
    await asyncio.sleep(0)
    heard = hearer.updates
    registration.remove()
    await resync
    await yield_to_tasks()
    assert hearer.updates == heard < 600


class _Counter:
    def __init__(self) -> None:
        self.updates = 0

    def on_add(self, obj: Cached, is_initial: bool) -> None: ...

    def on_update(self, old: Cached, new: Cached) -> None:
        self.updates += 1

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None: ...
