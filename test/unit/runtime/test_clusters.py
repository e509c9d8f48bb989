# SPDX-License-Identifier: Apache-2.0
"""One Manager and several clusters, each with its own objects."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta

from dglop import Context, Owned, Request, Watch
from dglop.errors import CacheNotSyncedError, ConfigError
from dglop.runtime.handler import mapped
from dglop.runtime.predicate import on_events
from dglop.testing.memory import MemoryCluster
from test.unit.runtime.controller_world import Greeting, GreetingSpec, value

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop.runtime.cache import Cached


@pytest.fixture
async def home(memory_cluster: MemoryCluster) -> MemoryCluster:
    await memory_cluster.install(Greeting)
    return memory_cluster


@pytest.fixture
async def west() -> AsyncIterator[MemoryCluster]:
    async with MemoryCluster() as cluster:
        await cluster.install(Greeting)
        yield cluster


async def settle(*clusters: MemoryCluster) -> None:
    """What happens in one may go on in another, and come back."""
    for cluster in (*clusters, *clusters, *clusters):
        await cluster.settle()


def greeting(text: str) -> Greeting:
    return Greeting(name="hello", namespace="default", spec=GreetingSpec(text=text))


async def write_page(obj: Greeting, ctx: Context) -> None:
    page = V1ConfigMap(
        metadata=V1ObjectMeta(name=obj.name, labels={"app": "x"}), data={"text": obj.spec.text}
    )
    await ctx.apply(page, owner=obj)
    ctx.event(obj, "Wrote", "a page")
    obj.status.said = [f"{ctx.request}: {obj.spec.text}"]


async def test_a_controller_serves_the_objects_of_both_each_where_it_is(
    home: MemoryCluster, west: MemoryCluster
) -> None:
    manager = home.manager()
    other = manager.cluster("west", client=west.client)
    owned = Owned(V1ConfigMap, labels="app=x")
    manager.controller(Greeting, write_page, owns=[owned], clusters=[None, other])
    async with manager:
        for cluster, text in ((home, "here"), (west, "there")):
            await cluster.client.create(greeting(text))
        await settle(home, west)
        for cluster, text, said in ((home, "here", "default/hello"), (west, "there", "west:default/hello")):
            page = await cluster.client.get(V1ConfigMap, "hello", "default")
            assert page.data == {"text": text}
            got = await cluster.client.get(Greeting, "hello", "default")
            assert got.status.said == [f"{said}: {text}"]
            events = await cluster.client.list("events.events.k8s.io", "default")
            assert [each["note"] for each in events] == ["a page"]
        await west.client.delete(V1ConfigMap, "hello", "default")
        await settle(home, west)
        assert (await west.client.get(V1ConfigMap, "hello", "default")).data == {"text": "there"}
        assert [
            each.scopes[0].labels for each in other.cache.informers if each.resource.kind == "ConfigMap"
        ] == ["app=x"]
        assert value(manager, "dglop_informer_items", kind="west:configmaps") == 1
        assert value(manager, "controller_runtime_reconcile_errors_total", controller="greeting") == 0


async def test_a_change_there_may_concern_an_object_here(home: MemoryCluster, west: MemoryCluster) -> None:
    def greeting_of(obj: Cached) -> list[Request]:
        return [Request("default", obj.name)]

    seen: list[str] = []

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        found = other.cache.get(V1ConfigMap, obj.name, "default")
        seen.append(f"{ctx.request} {found.to_dict()['data']['k'] if found else '-'}")

    manager = home.manager()
    other = manager.cluster("west", client=west.client)
    there = Watch(V1ConfigMap, mapped(greeting_of), cluster=other)
    manager.controller(Greeting, reconcile, watches=[there], predicates=[on_events(updated=False)])
    async with manager:
        await home.client.create(greeting("hi"))
        await settle(home, west)
        metadata = V1ObjectMeta(name="hello", namespace="default")
        await west.client.create(V1ConfigMap(metadata=metadata, data={"k": "v"}))
        await settle(home, west)
        assert not manager.cache.holds(V1ConfigMap)
        assert (await other.reader.get(V1ConfigMap, "hello", "default")).data == {"k": "v"}
    assert seen == ["default/hello -", "default/hello v"]


async def test_the_rights_of_each_cluster_are_for_what_is_done_there(
    home: MemoryCluster, west: MemoryCluster
) -> None:
    manager = home.manager()
    other = manager.cluster("west", client=west.client)
    there = Watch(V1ConfigMap, mapped(lambda obj: []), cluster=other)
    manager.controller(Greeting, write_page, watches=[there])
    here = {name for rule in manager.rules() for name in rule.resources}
    far = {name for rule in manager.rules_in(other) for name in rule.resources}
    assert ("configmaps" in here, "greetings" in here) == (False, True)
    assert ("configmaps" in far, "greetings" in far) == (True, False)


async def test_a_cluster_has_a_name_a_way_there_and_nothing_before_the_start(
    home: MemoryCluster, west: MemoryCluster
) -> None:
    manager = home.manager()
    other = manager.cluster("west", client=west.client)
    with pytest.raises(ConfigError, match="a name of its own, not 'west'"):
        manager.cluster("west", client=west.client)
    with pytest.raises(ConfigError, match="a name of its own, not ''"):
        manager.cluster("", client=west.client)
    with pytest.raises(ConfigError, match="the cluster east needs either a config or a client"):
        manager.cluster("east")
    with pytest.raises(CacheNotSyncedError, match="the manager of the cluster west does not run yet"):
        _ = other.cache
    assert other.client is west.client
    stranger = home.manager().cluster("east", client=west.client)
    with pytest.raises(ConfigError, match="the cluster east is not this manager's"):
        manager.controller(
            Greeting, write_page, watches=[Watch(V1ConfigMap, mapped(lambda obj: []), cluster=stranger)]
        )
    with pytest.raises(ConfigError, match="the cluster east is not this manager's"):
        manager.controller(Greeting, write_page, name="far", clusters=[stranger])


async def test_a_cluster_that_cannot_be_read_is_named_and_leaves_nothing_behind(
    home: MemoryCluster, west: MemoryCluster
) -> None:
    west.server.faults.add(403, "GET", V1ConfigMap, times=10_000)
    manager = home.manager()
    other = manager.cluster("west", client=west.client)
    there = Watch(V1ConfigMap, mapped(lambda obj: []), cluster=other)
    manager.controller(Greeting, write_page, watches=[there])
    before = asyncio.all_tasks()
    starting = asyncio.create_task(manager.start())
    await home.advance(121)
    with pytest.raises(CacheNotSyncedError, match="west:configmaps"):
        await starting
    await settle(home, west)
    assert asyncio.all_tasks() == before
    await west.client.list("namespaces")  # it was given, so it is left open
