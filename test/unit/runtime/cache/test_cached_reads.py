# SPDX-License-Identifier: Apache-2.0
"""What a Manager's cache and its readers give, on an in-memory cluster."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap, V1Namespace, V1ObjectMeta, V1Pod, V1Secret

from dglop.errors import CacheNotSyncedError, NotFoundError, SchemaError
from dglop.runtime.api import Resource
from dglop.runtime.cache import ALL_NAMESPACES, CacheOptions, KindOptions, Selection, without
from dglop.runtime.usercode import UserCodeError

if TYPE_CHECKING:
    from dglop.testing.memory import MemoryCluster

CONFIG_MAP = Resource("", "v1", "ConfigMap", "configmaps")


async def put(cluster: MemoryCluster, name: str, namespace: str = "default", **labels: str) -> V1ConfigMap:
    metadata = V1ObjectMeta(name=name, namespace=namespace, labels=labels)
    return await cluster.client.create(V1ConfigMap(metadata=metadata, data={"k": "v", "big": "x" * 100}))


def names(wires: list[dict[str, Any]]) -> list[str]:
    return sorted(each["metadata"]["name"] for each in wires)


def requests(cluster: MemoryCluster) -> int:
    return cluster.server.requests


async def test_a_kind_is_cached_from_its_first_read_on(memory_cluster: MemoryCluster) -> None:
    made = await put(memory_cluster, "a", app="x")
    async with memory_cluster.manager() as manager:
        assert not manager.cache.holds(V1ConfigMap)
        found = await manager.reader.get(V1ConfigMap, "a", "default")
        assert found.metadata.uid == made.metadata.uid
        assert [each["metadata"]["name"] for each in await manager.reader.list("configmaps")] == ["a"]
        before = requests(memory_cluster)
        assert await manager.reader.list(V1ConfigMap, "default", labels="app in (x, y)")
        assert await manager.reader.list(V1ConfigMap, labels={"app": "z"}) == []
        with pytest.raises(NotFoundError):
            await manager.reader.get(V1ConfigMap, "b", "default")
        assert requests(memory_cluster) == before


async def test_what_was_read_may_be_changed_without_changing_the_cache(memory_cluster: MemoryCluster) -> None:
    await put(memory_cluster, "a")
    async with memory_cluster.manager() as manager:
        found = await manager.reader.get(CONFIG_MAP, "a", "default")
        found["data"]["k"] = "changed"
        assert (await manager.reader.get(CONFIG_MAP, "a", "default"))["data"]["k"] == "v"


async def test_kinds_that_must_not_be_cached_are_read_from_the_server(memory_cluster: MemoryCluster) -> None:
    options = CacheOptions(disable_for=(V1Secret,))
    metadata = V1ObjectMeta(name="s", namespace="default", labels={"app": "x"})
    async with memory_cluster.manager(cache=options) as manager:
        await memory_cluster.client.create(V1Secret(metadata=metadata))
        assert (await manager.reader.get(V1Secret, "s", "default")).metadata.name == "s"
        assert len(await manager.reader.list(V1Secret, "default", labels={"app": "x"})) == 1
        assert not manager.cache.holds(V1Secret)
        with pytest.raises(TypeError, match="secrets is read from the API server"):
            await manager.reader.list(V1Secret, index=("owner", "u"))


async def test_a_reader_may_be_forbidden_to_cache_more_kinds(memory_cluster: MemoryCluster) -> None:
    await put(memory_cluster, "a")
    async with memory_cluster.manager(cache=CacheOptions(fail_on_missing=True)) as manager:
        with pytest.raises(CacheNotSyncedError, match="fail_on_missing"):
            await manager.reader.list(V1ConfigMap)
        assert (await manager.reader.live.get(CONFIG_MAP, "a", "default"))["data"]["k"] == "v"
        await manager.cache.ensure(V1ConfigMap, 10)
        assert len(await manager.reader.list(V1ConfigMap)) == 1


async def test_a_removed_kind_is_watched_no_more_and_read_anew_when_it_is_asked_for(
    memory_cluster: MemoryCluster,
) -> None:
    await put(memory_cluster, "a")
    async with memory_cluster.manager() as manager:
        await manager.cache.ensure(V1ConfigMap, 10)
        await manager.cache.remove(V1ConfigMap)
        assert manager.cache.informers == ()
        await put(memory_cluster, "b")
        await memory_cluster.settle()
        with pytest.raises(CacheNotSyncedError, match="configmaps is not cached"):
            manager.cache.list(V1ConfigMap)
        labels = {"kind": "configmaps"}
        assert manager.metrics.registry.get_sample_value("dglop_informer_items", labels) == 0
        assert len(await manager.reader.list(V1ConfigMap)) == 2
        await manager.cache.remove(V1Pod)


async def test_each_namespace_and_the_rest_have_a_selection_of_their_own(
    memory_cluster: MemoryCluster,
) -> None:
    client = memory_cluster.client
    for name in ("few", "free"):
        await client.create(V1Namespace(metadata=V1ObjectMeta(name=name)))
    places = {"few": Selection(labels="app=x"), ALL_NAMESPACES: Selection(fields="metadata.name!=not")}
    await put(memory_cluster, "seen", "few", app="x")
    await put(memory_cluster, "unseen", "few")
    await put(memory_cluster, "rest", "free")
    await put(memory_cluster, "not", "free", app="x")
    options = CacheOptions(kinds={V1ConfigMap: KindOptions(namespaces=places)})
    async with memory_cluster.manager(cache=options) as manager:
        assert names(await manager.reader.list(CONFIG_MAP)) == ["rest", "seen"]
        await client.delete(V1ConfigMap, "seen", "few")
        await put(memory_cluster, "more", "few", app="x")
        memory_cluster.server.compact()
        memory_cluster.server.end_watches(expired=True)
        await memory_cluster.advance(60)
        assert names(await manager.reader.list(CONFIG_MAP)) == ["more", "rest"]


async def test_a_transform_is_applied_to_lists_and_events(memory_cluster: MemoryCluster) -> None:
    await put(memory_cluster, "listed")
    options = CacheOptions(kinds={V1ConfigMap: KindOptions(transform=without("data.big"))})
    async with memory_cluster.manager(cache=options) as manager:
        await manager.cache.ensure(V1ConfigMap, 10)
        await put(memory_cluster, "watched")
        await memory_cluster.settle()
        assert [each.data for each in await manager.reader.list(V1ConfigMap)] == [{"k": "v"}, {"k": "v"}]


async def test_metadata_alone_may_be_kept(memory_cluster: MemoryCluster) -> None:
    await put(memory_cluster, "a", app="x")
    options = CacheOptions(kinds={V1ConfigMap: KindOptions(metadata_only=True)})
    async with memory_cluster.manager(cache=options) as manager:
        informer = await manager.cache.ensure(V1ConfigMap, 10)
        (cached,) = informer.store.list()
        assert cached.meta.labels == {"app": "x"}
        wire = cached.to_dict()
        assert (wire["kind"], wire["apiVersion"], "data" in wire) == ("ConfigMap", "v1", False)
        assert await manager.reader.get(CONFIG_MAP, "a", "default") == wire
        with pytest.raises(SchemaError, match="only metadata is cached, which is no V1ConfigMap"):
            await manager.reader.get(V1ConfigMap, "a", "default")


async def test_a_transform_that_raises_ends_the_manager_since_an_object_would_be_missing(
    memory_cluster: MemoryCluster,
) -> None:
    def transform(wire: dict[str, Any]) -> dict[str, Any]:
        if wire["metadata"]["name"] == "odd":
            raise ArithmeticError("what is this?")
        return wire

    options = CacheOptions(kinds={V1ConfigMap: KindOptions(transform=transform)})
    manager = memory_cluster.manager(cache=options)
    running = asyncio.create_task(manager.run())
    await memory_cluster.settle()
    await manager.cache.ensure(V1ConfigMap, 10)
    await put(memory_cluster, "odd")
    with pytest.raises(ExceptionGroup) as failure:
        await running
    assert failure.group_contains(UserCodeError, match="transform raised ArithmeticError: what is this")


async def test_a_kind_may_have_a_resync_of_its_own(memory_cluster: MemoryCluster) -> None:
    await put(memory_cluster, "a")
    heard: list[str] = []

    class Hearer:
        def on_add(self, obj: object, is_initial: bool) -> None: ...
        def on_update(self, old: object, new: object) -> None:
            heard.append(f"{memory_cluster.clock.monotonic():.0f}")

        def on_delete(self, obj: object, final_state_unknown: bool) -> None: ...

    options = CacheOptions(kinds={V1ConfigMap: KindOptions(resync_seconds=100)})
    async with memory_cluster.manager(cache=options) as manager:
        (await manager.cache.ensure(V1ConfigMap, 10)).add_handler(Hearer())
        await memory_cluster.advance(240)
    assert len(heard) == 2
