# SPDX-License-Identifier: Apache-2.0
"""Where requests come from, and which of them count, on an in-memory cluster."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta

from dglop import Channel, Context, Owned, Request, Watch
from dglop.errors import ConfigError
from dglop.runtime.cache import CacheOptions, KindOptions
from dglop.runtime.handler import mapped
from dglop.runtime.predicate import generation_changed, labels_changed, on_events
from test.unit.runtime.controller_world import Greeting, GreetingSpec

if TYPE_CHECKING:
    from dglop.runtime.cache import Cached
    from dglop.runtime.source import Enqueue
    from dglop.testing.memory import MemoryCluster


@pytest.fixture
async def cluster(memory_cluster: MemoryCluster) -> MemoryCluster:
    await memory_cluster.install(Greeting)
    for name in ("a", "b"):
        spec = GreetingSpec(text="hi")
        await memory_cluster.client.create(Greeting(name=name, namespace="default", spec=spec))
    return memory_cluster


class Calls:
    """A reconciler that notes whom it was called for."""

    def __init__(self) -> None:
        self.names: list[str] = []

    async def __call__(self, obj: Greeting, ctx: Context) -> None:
        self.names.append(obj.name)


async def put_map(cluster: MemoryCluster, name: str, **labels: str) -> None:
    metadata = V1ObjectMeta(name=name, namespace="default", labels=labels)
    await cluster.client.create(V1ConfigMap(metadata=metadata))


def greeting_of(obj: Cached) -> list[Request]:
    return [Request("default", obj.meta.labels.get("greeting", "a"))]


async def test_a_function_finds_requests_for_as_long_as_its_controller_runs(cluster: MemoryCluster) -> None:
    calls, notes = Calls(), []

    async def poll(enqueue: Enqueue, stop: asyncio.Event) -> None:
        notes.append("began")
        enqueue(Request("default", "a"))
        enqueue(Request("default", "b"), after=60, priority=3)
        await stop.wait()
        notes.append("ended")

    manager = cluster.manager()
    manager.controller(Greeting, calls, predicates=[on_events(created=False)], watches=[poll])
    async with manager:
        await cluster.settle()
        assert calls.names == ["a"]
        await cluster.advance(60)
        assert calls.names == ["a", "b"]
    assert notes == ["began", "ended"]


async def test_a_function_that_raises_ends_the_manager(cluster: MemoryCluster) -> None:
    async def poll(enqueue: Enqueue, stop: asyncio.Event) -> None:
        raise OSError("the socket is gone")

    manager = cluster.manager()
    manager.controller(Greeting, Calls(), watches=[poll])
    with pytest.raises(ExceptionGroup) as failure:
        await manager.run()
    assert failure.group_contains(OSError, match="the socket is gone")


async def test_a_channel_maps_events_of_ones_own_and_drops_those_that_do_not_count(
    cluster: MemoryCluster,
) -> None:
    calls = Calls()
    channel = Channel[dict[str, Any]](
        lambda event: [Request("default", each) for each in event["about"]],
        predicates=[lambda event: event["loud"]],
    )
    channel.push({"about": ["a"], "loud": False})
    channel.push({"about": ["b"], "loud": True})
    manager = cluster.manager()
    manager.controller(Greeting, calls, predicates=[on_events(created=False)], watches=[channel])
    async with manager:
        await cluster.settle()
        assert calls.names == ["b"]
        await asyncio.to_thread(channel.push, {"about": ["a", "b"], "loud": True})
        await cluster.settle()
    assert calls.names == ["b", "a", "b"]


async def test_filters_hold_for_every_kind_and_predicates_for_one(cluster: MemoryCluster) -> None:
    calls = Calls()
    manager = cluster.manager()
    manager.controller(
        Greeting,
        calls,
        predicates=[generation_changed],
        watches=[Watch(V1ConfigMap, mapped(greeting_of), predicates=[labels_changed])],
        filters=[on_events(created=False, deleted=lambda event: not event.final_state_unknown)],
    )
    async with manager:
        await put_map(cluster, "m", greeting="b")
        await cluster.settle()
        assert calls.names == []
        await cluster.client.patch(V1ConfigMap, "m", "default", {"data": {"x": "y"}})
        await cluster.client.patch(Greeting, "a", "default", {"metadata": {"labels": {"x": "y"}}})
        await cluster.settle()
        assert calls.names == []
        await cluster.client.delete(V1ConfigMap, "m", "default")
        await cluster.client.patch(Greeting, "a", "default", {"spec": {"text": "new"}})
        await cluster.settle()
    assert sorted(calls.names) == ["a", "b"]


async def test_what_comes_within_the_debounce_is_one_reconciliation_and_is_not_put_off_for_ever(
    cluster: MemoryCluster,
) -> None:
    calls = Calls()
    manager = cluster.manager()
    manager.controller(Greeting, calls, debounce=timedelta(seconds=10), predicates=[on_events(created=False)])
    async with manager:
        for number in range(4):
            await cluster.client.patch(Greeting, "a", "default", {"spec": {"times": 10 + number}})
            await cluster.advance(4)
        assert calls.names == ["a"]
        await cluster.advance(10)
    assert calls.names == ["a", "a"]


async def test_a_watch_may_choose_an_informer_of_its_own(cluster: MemoryCluster) -> None:
    calls = Calls()
    await put_map(cluster, "first", greeting="a")
    await put_map(cluster, "second", greeting="b")
    manager = cluster.manager()
    chosen = Watch(
        V1ConfigMap,
        mapped(greeting_of),
        informer=lambda cache: cache.informer(V1ConfigMap, fields="metadata.name=second"),
    )
    manager.controller(Greeting, calls, predicates=[on_events(created=False)], watches=[chosen])
    async with manager:
        await cluster.settle()
        held = [
            each.scopes[0].fields for each in manager.cache.informers if each.resource.kind == "ConfigMap"
        ]
    assert (calls.names, held) == (["b"], ["metadata.name=second"])


async def test_a_typed_controller_cannot_live_on_metadata_and_one_of_dicts_can(
    cluster: MemoryCluster,
) -> None:
    options = CacheOptions(kinds={Greeting: KindOptions(metadata_only=True)})
    manager = cluster.manager(cache=options)
    manager.controller(Greeting, Calls())
    with pytest.raises(ConfigError, match=r"of greetings.example.dev only metadata is cached"):
        await manager.start()
    seen: list[str] = []

    async def reconcile(wire: dict[str, Any], ctx: Context) -> None:
        seen.append(f"{wire['kind']} {wire['metadata']['name']} {'spec' in wire}")

    manager = cluster.manager(cache=options)
    resource: Any = Greeting.resource
    manager.controller(resource, reconcile)
    async with manager:
        await cluster.settle()
    assert seen == ["Greeting a False", "Greeting b False"]


async def test_owned_objects_may_be_known_by_their_metadata_alone(cluster: MemoryCluster) -> None:
    async def reconcile(obj: Greeting, ctx: Context) -> None:
        if not ctx.owned(V1ConfigMap, obj):
            metadata = V1ObjectMeta(name=obj.name, labels={"app": "greeting"})
            await ctx.apply(V1ConfigMap(metadata=metadata, data={"text": obj.spec.text}), owner=obj)

    manager = cluster.manager()
    owned = Owned(V1ConfigMap, labels="app=greeting", metadata_only=True)
    manager.controller(Greeting, reconcile, owns=[owned])
    async with manager:
        await cluster.settle()
        assert all("data" not in each.to_dict() for each in manager.cache.list(V1ConfigMap))
        await cluster.client.delete(V1ConfigMap, "a", "default")
        await cluster.settle()
        assert (await cluster.client.get(V1ConfigMap, "a", "default")).data == {"text": "hi"}
