# SPDX-License-Identifier: Apache-2.0
"""What was written is read again: by waiting for the cache to come as far as the write's version."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta

from dglop import Channel, Context, Request
from dglop.errors import CacheNotSyncedError
from dglop.runtime.api import Resource
from dglop.runtime.cache import CacheOptions, KindOptions
from dglop.runtime.cache.shown import Shown
from dglop.runtime.ownwrites import OtherWrites, Written
from test.unit.runtime.controller_world import PATH, Greeting, greeting, make_manager, settled

if TYPE_CHECKING:
    from dglop.testing.memory import MemoryCluster

CONFIG_MAP = Resource("", "v1", "ConfigMap", "configmaps")
HELLO = Request("default", "hello")


async def test_waiting_for_a_version_ends_when_it_or_a_later_one_is_seen() -> None:
    shown = Shown()
    waiting = [asyncio.create_task(shown.wait(version)) for version in ("5", "7", "10")]
    await asyncio.sleep(0)
    shown.see("7")
    await asyncio.wait(waiting[:2])
    assert (shown.has("6"), shown.has("8"), waiting[2].done()) == (True, False, False)
    shown.see("6")
    shown.see("odd")
    assert not shown.has("10")
    shown.see("11")
    await waiting[2]


async def test_a_version_that_is_no_number_is_not_waited_for() -> None:
    await Shown().wait("odd")


async def put(cluster: MemoryCluster, name: str, **labels: str) -> V1ConfigMap:
    metadata = V1ObjectMeta(name=name, namespace="default", labels=labels)
    return await cluster.client.create(V1ConfigMap(metadata=metadata))


@pytest.mark.parametrize(
    ("options", "labels", "is_behind"),
    [
        (CacheOptions(), {}, True),
        (CacheOptions(labels="app=x"), {"app": "x"}, True),
        (CacheOptions(labels="app=x"), {"app": "y"}, False),
        (CacheOptions(fields="metadata.name!=z"), {}, False),
        (CacheOptions(namespaces=("other",)), {}, False),
        (CacheOptions(kinds={CONFIG_MAP: KindOptions(metadata_only=True)}), {}, True),
    ],
    ids=["all", "selected", "not selected", "perhaps not", "another namespace", "metadata"],
)
async def test_only_what_the_cache_will_show_is_waited_for(
    memory_cluster: MemoryCluster, options: CacheOptions, labels: dict[str, str], is_behind: bool
) -> None:
    writes, now = OtherWrites(), 100.0
    async with memory_cluster.manager(cache=options) as manager:
        made = Written(CONFIG_MAP, "default", "999999", labels)
        writes.wrote(HELLO, [made], now)
        assert not writes.is_behind(HELLO, manager.cache, now)  # the kind is not cached
        await manager.cache.ensure(CONFIG_MAP, 10)
        writes.wrote(HELLO, [made], now)
        assert writes.is_behind(HELLO, manager.cache, now + 1) is is_behind
        assert writes.is_behind(HELLO, manager.cache, now + 29) is is_behind
        assert not writes.is_behind(HELLO, manager.cache, now + 30)
        assert not writes.is_behind(HELLO, manager.cache, now + 1)


async def test_a_reader_waits_until_the_cache_has_come_as_far_as_a_write(
    memory_cluster: MemoryCluster,
) -> None:
    async with memory_cluster.manager() as manager:
        await manager.cache.ensure(V1ConfigMap, 10)
        made = await put(memory_cluster, "a")
        assert made.metadata is not None
        version = made.metadata.resource_version
        found = await manager.reader.get(V1ConfigMap, "a", "default", at_least=version)
        assert found.metadata == made.metadata
        late = asyncio.create_task(manager.reader.get(V1ConfigMap, "a", "default", at_least="999999"))
        await memory_cluster.advance(119)
        assert not late.done()
        await memory_cluster.advance(2)
        with pytest.raises(CacheNotSyncedError, match="configmaps was not shown at 999999 within 120 s"):
            await late


@pytest.mark.scripted
@pytest.mark.parametrize(
    ("sees", "created", "held"),
    [(True, 1, [0, 1]), (False, 2, [0, 0])],
    ids=["with the option", "without it"],
)
async def test_an_object_is_not_reconciled_on_a_cache_that_lacks_what_it_made(
    api: Any, sees: bool, created: int, held: list[int]
) -> None:
    await api.put(f"{PATH}/hello", greeting())
    names: list[str] = []
    calls = asyncio.Queue[int]()

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        calls.put_nowait(len(ctx.owned(V1ConfigMap, obj)))
        if not ctx.owned(V1ConfigMap, obj):
            names.append(f"{obj.name}-{len(names)}")
            metadata = V1ObjectMeta(name=names[-1], labels={"app": "x"})
            await ctx.create(V1ConfigMap(api_version="v1", kind="ConfigMap", metadata=metadata), owner=obj)

    manager, channel = make_manager(api), Channel[Request]()
    manager.controller(Greeting, reconcile, owns=[V1ConfigMap], watches=[channel], sees_own_writes=sees)
    api.holds_watches = True
    async with manager:
        first = await calls.get()
        await settled(api, manager)
        channel.push(HELLO)
        await settled(api, manager)
        assert len(names) == created
        await api.release_watches()
        assert [first, await calls.get()] == held
