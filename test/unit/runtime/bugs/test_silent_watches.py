# SPDX-License-Identifier: Apache-2.0
"""Bugs 1 to 5 of docs/bugs.md: connections that die without a word, and what is heard after them."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from dglop.runtime.cache import Cache, Limits
from dglop.runtime.client import transport
from dglop.runtime.usercode import UserCodeError
from dglop.testing.clock import ManualClock, yield_to_tasks
from dglop.testing.scripted_cache import pod
from dglop.testing.scripted_replies import answer, bookmark, drop, event, items, silence, stream
from dglop.testing.scripted_world import PodWorld
from test.unit.runtime.cache.informers import NODE, POD, started, watches
from test.unit.runtime.controller_world import Greeting, greeting, make_manager

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dglop.runtime.client import Client
    from dglop.testing.scripted import Exchange, ScriptedServer

HASTY = Limits(watch=0.02, grace=0.05)


@pytest.mark.scripted
async def test_bug_01_a_watch_that_falls_silent_is_opened_again_and_no_event_is_lost(
    server: ScriptedServer, make_cache: Any
) -> None:
    """The socket stays open and says nothing: kubernetes-client/python#801, #2145, kopf#585, #614."""
    server.lists(items([], "1"))
    server.watches(stream(event("ADDED", pod("a", 2))), stream(event("ADDED", pod("b", 3))))
    informer, hearer = await started(make_cache(streams=False, limits=HASTY))
    await hearer.until("+a@2")
    before = informer.health.last_activity
    await hearer.until("+b@3")
    assert informer.health.last_activity > before
    assert hearer.heard == ["+a@2", "+b@3"]
    first, second = [each.query["resourceVersion"] for each in server.requests if each.is_watch][:2]
    assert (first, second) == ("1", "2")


class RecordingWorld(PodWorld):
    """Notes how each watch was asked for."""

    def __init__(self) -> None:
        super().__init__(streams=False)
        self.asked: list[tuple[int, float]] = []

    def batches(self, path: str, *, query: Mapping[str, str], read_idle: float, accept: str) -> Any:
        self.asked.append((int(query["timeoutSeconds"]), read_idle))
        return super().batches(path, query=query, read_idle=read_idle, accept=accept)


async def test_bug_02_every_watch_has_a_limit_on_the_servers_side_and_a_longer_one_on_ours() -> None:
    """`timeout_seconds` alone is the server's: kubernetes-client/python#1402."""
    world, clock = RecordingWorld(), ManualClock()
    cache = Cache(cast("Client", world), clock=clock, streams=False)
    cache.informer(POD)
    await cache.start()
    for _ in range(5):
        world.cut()
        await clock.advance(60)
    await cache.stop()
    assert len(world.asked) > 4
    for servers, ours in world.asked:
        assert 300 <= servers <= 600
        assert servers + 29 <= ours <= servers + 31


@pytest.mark.scripted
async def test_bug_02_a_network_that_swallows_everything_after_the_headers_is_left_in_time(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.lists(items([], "1"))
    server.watches(stream(), silence, stream(event("ADDED", pod("a", 2))))
    informer, hearer = await started(make_cache(streams=False, limits=HASTY))
    await hearer.until("+a@2")
    assert "no answer in time" in informer.health.last_error
    assert sum(not each.is_watch for each in server.requests) == 1


@pytest.mark.scripted
async def test_bug_02_a_list_that_is_never_answered_is_left_before_its_whole_time_is_over(
    server: ScriptedServer, make_cache: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list may take two minutes, but not in silence: the soak found a cache that was blind for so long."""
    monkeypatch.setattr(transport, "_SILENT_SECONDS", 0.05)
    server.lists(silence, items([pod("a", 2)], "3"))
    server.watches(stream())
    informer, hearer = await started(make_cache(streams=False))
    await hearer.until("+a@2!")
    assert "no answer in time" in informer.health.last_error


def sockets_to(port: int) -> Iterator[socket.socket]:
    """This process's own ends of its connections to a port on loopback."""
    for found in Path("/proc/self/fd").iterdir():
        with suppress(OSError), socket.socket(fileno=os.dup(int(found.name))) as own:
            if own.family == socket.AF_INET and own.getpeername()[1] == port:
                yield own


@pytest.mark.scripted
async def test_bug_03_the_sockets_of_requests_and_watches_notice_a_peer_that_is_gone(
    server: ScriptedServer, client: Client
) -> None:
    """Half-open connections hung for 15 to 30 minutes: kubernetes#65012, #87615, client-go#374."""
    server.watches(stream(b"1\n"))
    server.on(lambda _: True, answer({}))
    lines = client.stream("/w", query={"watch": "true"}, read_idle=30)
    await anext(lines)
    await client.raw("GET", "/x")
    seen = 0
    for each in sockets_to(int(server.url.rpartition(":")[2])):
        seen += 1
        assert each.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert 0 < each.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 60_000
        assert 0 < each.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) <= 60
    assert seen == 2
    await lines.aclose()


@pytest.mark.scripted
async def test_bug_04_resets_while_one_kinds_watch_is_opened_end_neither_it_nor_the_others(
    server: ScriptedServer, make_cache: Any
) -> None:
    """One kind's watcher died and the process looked well: kopf#787, #996, #957."""
    go_on, told = asyncio.Event(), asyncio.Event()

    async def wait(exchange: Exchange) -> None:
        told.set()
        await go_on.wait()
        await stream(event("ADDED", pod("a", 5)))(exchange)

    resets = [drop] * 6  # the HTTP library tries a GET twice by itself
    nodes_path, pods_path = "/api/v1/nodes", "/api/v1/pods"
    node = {"kind": "Node", "metadata": {"name": "x", "uid": "u", "resourceVersion": "3"}}
    server.on(lambda seen: seen.path == nodes_path and seen.is_watch, stream(event("ADDED", node)))
    server.on(lambda seen: seen.path == pods_path and seen.is_watch, *resets, wait)
    server.lists(items([], "1"))
    cache = make_cache(streams=False)
    nodes = cache.informer(NODE)
    pods, hearer = await started(cache)
    await told.wait()
    assert "3 failures in a row" in str(pods.health)
    assert str(nodes.health) == "nodes: in sync"
    go_on.set()
    await hearer.until("+a@5")
    assert str(pods.health) == "pods: in sync"


@pytest.mark.scripted
async def test_bug_04_a_reflector_that_ends_by_a_defect_ends_the_manager(api: Any) -> None:
    def broken(_: object) -> list[str]:
        raise ZeroDivisionError

    async def reconcile(obj: Greeting, ctx: object) -> None:
        return

    manager = make_manager(api)
    manager.controller(Greeting, reconcile, indexes={Greeting: {"broken": broken}})
    await manager.start()  # from here on nobody waits for the cache any more
    await api.put("/apis/example.dev/v1/namespaces/default/greetings/hello", greeting())
    with pytest.raises(ExceptionGroup) as caught:
        async with asyncio.timeout(10):
            await manager.wait()
    await manager.stop()
    assert caught.group_contains(UserCodeError, match="into the index 'broken': .* raised ZeroDivisionError")


@pytest.mark.scripted
async def test_bug_05_a_watch_that_is_opened_again_brings_nothing_twice(
    server: ScriptedServer, make_cache: Any
) -> None:
    """Without a version everything came as new: kubernetes-client/python-base#36, python#174."""
    history = [event("MODIFIED" if rv > 11 else "ADDED", pod("a", rv)) for rv in range(11, 16)]

    async def one_more(exchange: Exchange) -> None:
        asked = int(exchange.request.query.get("resourceVersion", "0"))
        versions = [rv for rv in range(11, 16) if rv > asked]
        await stream(*[history[rv - 11] for rv in versions[:1]], bookmark("10"), then="cut")(exchange)

    server.lists(items([], "10"))
    server.watches(*[one_more] * 5, stream())
    _, hearer = await started(make_cache(streams=False))
    seen = await server.until(6, watches)
    await yield_to_tasks()
    assert hearer.heard == ["+a@11", "~a@11>12", "~a@12>13", "~a@13>14", "~a@14>15"]
    assert [each.query["resourceVersion"] for each in seen] == ["10", "11", "12", "13", "14", "15"]
    assert sum(not each.is_watch for each in server.requests) == 1
