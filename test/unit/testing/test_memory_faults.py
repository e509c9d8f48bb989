# SPDX-License-Identifier: Apache-2.0
"""Requests that go wrong because a test ordered it, and what the client makes of that."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest

from dglop.errors import ApiConnectionError, ApiTimeoutError, ConflictError, ServerError, TooManyRequestsError
from dglop.runtime.api import Resource
from dglop.testing.memory import Effect, MemoryCluster, Request

if TYPE_CHECKING:
    from dglop.runtime.client import Client

MAP = Resource("", "v1", "ConfigMap", "configmaps")
SECRET = Resource("", "v1", "Secret", "secrets")


def page(name: str = "page") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}


async def send(client: Client, method: str, path: str = "/api/v1/namespaces/default/configmaps") -> bytes:
    """One try."""
    return await client.raw(method, path, retry=False)


@pytest.mark.parametrize(
    ("status", "error"), [(409, ConflictError), (429, TooManyRequestsError), (500, ServerError)]
)
async def test_the_request_that_is_meant_is_refused_and_no_other(
    memory_cluster: MemoryCluster, status: int, error: type[Exception]
) -> None:
    client = memory_cluster.client
    fault = memory_cluster.server.faults.add(status, "GET", MAP, skip=1, times=2)
    await send(client, "GET")
    await send(client, "GET", "/api/v1/namespaces/default/secrets")
    for _ in range(2):
        with pytest.raises(error, match="injected by the test"):
            await send(client, "GET")
    await send(client, "GET")
    assert fault.hits == 2


async def test_a_fault_may_be_about_one_object_or_its_status(memory_cluster: MemoryCluster) -> None:
    client, faults = memory_cluster.client, memory_cluster.server.faults
    await client.create(page("a"))
    await client.create(page("b"))
    faults.add(409, "PATCH", MAP, name="b")
    await client.patch(MAP, "a", "default", {"data": {"x": "1"}})
    with pytest.raises(ConflictError):
        await client.patch(MAP, "b", "default", {"data": {"x": "1"}})
    pods = Resource("", "v1", "Pod", "pods")
    faults.add(409, "PATCH", pods, subresource="status")
    pod = {**page("p"), "kind": "Pod", "spec": {"containers": [{"name": "main", "image": "none"}]}}
    await client.create(pod)
    await client.patch(pods, "p", "default", {"metadata": {"labels": {"a": "b"}}})
    with pytest.raises(ConflictError):
        await client.patch(pods, "p", "default", {"status": {"phase": "Running"}}, subresource="status")


async def test_the_client_waits_as_long_as_the_server_asks_and_tries_again(
    memory_cluster: MemoryCluster,
) -> None:
    memory_cluster.server.faults.add(429, "GET", MAP, retry_after=7)
    listing = asyncio.create_task(memory_cluster.client.list(MAP))
    await memory_cluster.advance(6.9)
    assert not listing.done()
    await memory_cluster.advance(3)
    assert listing.result() == []


async def test_a_reset_connection_has_done_nothing_and_a_lost_answer_has(
    memory_cluster: MemoryCluster,
) -> None:
    client, faults = memory_cluster.client, memory_cluster.server.faults
    faults.add(Effect.RESET, "POST", MAP)
    faults.add(Effect.LOSE, "POST", MAP)
    for name, is_there in (("reset", False), ("lost", True)):
        with pytest.raises(ApiConnectionError):
            await client.create(page(name))
        assert ([each["metadata"]["name"] for each in await client.list(MAP)] == [name]) is is_there


async def test_an_answer_that_never_comes_ends_by_the_clients_deadline(memory_cluster: MemoryCluster) -> None:
    memory_cluster.server.faults.add(Effect.HANG, "POST", MAP)
    creating = asyncio.create_task(memory_cluster.client.create(page()))
    await memory_cluster.advance(29)
    assert not creating.done()
    await memory_cluster.advance(2)
    with pytest.raises(ApiTimeoutError):
        creating.result()


async def test_an_answer_may_be_late(memory_cluster: MemoryCluster) -> None:
    memory_cluster.server.faults.add(Effect.DELAY, "POST", MAP, seconds=5)
    creating = asyncio.create_task(memory_cluster.client.create(page()))
    await memory_cluster.advance(4)
    assert memory_cluster.server.store.get("configmaps", ("default", "page")) is None
    await memory_cluster.advance(1)
    assert creating.result()["metadata"]["name"] == "page"


async def test_a_watch_may_be_refused_ended_or_told_that_its_history_is_gone(
    memory_cluster: MemoryCluster,
) -> None:
    client, server = memory_cluster.client, memory_cluster.server
    path, query = "/api/v1/configmaps", {"watch": "true"}
    server.faults.add(500, watch=True)
    with pytest.raises(ServerError):
        await anext(client.batches(path, query=query, read_idle=30))
    async with aclosing(client.batches(path, query=query, read_idle=30)) as batches:
        reading = asyncio.ensure_future(anext(batches))
        await memory_cluster.settle()
        await client.create(page())
        assert b'"ADDED"' in (await reading)[0]
        server.end_watches(expired=True)
        assert b'"code":410' in (await anext(batches))[0]
        assert [each async for each in batches] == []
    assert server.watchers == ()


async def test_a_forgotten_history_answers_410_to_pages_and_watches(memory_cluster: MemoryCluster) -> None:
    client, server = memory_cluster.client, memory_cluster.server
    for name in ("a", "b", "c"):
        await client.create(page(name))
    first = await client.raw("GET", "/api/v1/configmaps", query={"limit": "2"})
    token = first.partition(b'"continue":"')[2].partition(b'"')[0].decode()
    await client.create(page("d"))
    server.compact()
    with pytest.raises(Exception, match="continue parameter is too old"):
        await client.raw("GET", "/api/v1/configmaps", query={"limit": "2", "continue": token})
    rest = server.handle(Request("GET", "/api/v1/configmaps", {"limit": "2", "continue": token}))
    go_on = rest.body.partition(b'"continue":"')[2].partition(b'"')[0].decode()
    later = await client.raw("GET", "/api/v1/configmaps", query={"limit": "9", "continue": go_on})
    assert [later.count(b'"name":"%s"' % name) for name in (b"b", b"c", b"d")] == [0, 1, 1]
    watch = client.batches("/api/v1/configmaps", query={"watch": "true", "resourceVersion": "3"}, read_idle=9)
    assert b"too old resource version" in (await anext(watch))[0]


async def test_bookmarks_come_once_a_minute_to_those_who_asked(memory_cluster: MemoryCluster) -> None:
    query = {"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": "0"}
    async with aclosing(memory_cluster.client.batches("/api/v1/pods", query=query, read_idle=999)) as batches:
        reading = asyncio.ensure_future(anext(batches))
        await memory_cluster.advance(59)
        assert not reading.done()
        await memory_cluster.advance(1)
        assert b'"BOOKMARK"' in (await reading)[0]
