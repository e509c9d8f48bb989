# SPDX-License-Identifier: Apache-2.0
"""Caches of a part of what a real API server has, and two real API servers under one Manager."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta

from dglop import ClientConfig, Context, Manager, Settings
from dglop.runtime.api import Resource
from dglop.runtime.cache import ALL_NAMESPACES, Cache, CacheOptions, KindOptions, Selection
from dglop.runtime.cache.consistency import inconsistencies
from dglop.runtime.client import Client
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from dglop.testing.envtest import Envtest
from test.unit.runtime.controller_world import Greeting, GreetingSpec

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dglop.runtime.cache import Cached, Informer

_CONFIG_MAP = Resource("", "v1", "ConfigMap", "configmaps")


class _News:
    """Wakes who waits whenever an informer hears of a change."""

    def __init__(self, informer: Informer) -> None:
        self._news = asyncio.Event()
        informer.add_handler(self)

    async def until(self, done: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not done():
                self._news.clear()
                await self._news.wait()

    def on_add(self, obj: Cached, is_initial: bool) -> None:
        self._news.set()

    def on_update(self, old: Cached, new: Cached) -> None:
        self._news.set()

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None:
        self._news.set()


@pytest_asyncio.fixture
async def greetings(client: Client) -> Client:
    """A client of a server that knows greetings."""
    await install_crds(client, [Greeting], SystemClock())
    return client


@pytest_asyncio.fixture
async def beside(client: Client, namespace: str) -> AsyncIterator[str]:
    """One more namespace."""
    name = f"{namespace}-beside"
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    await client.delete("namespaces", name)


def _wire(kind: Resource, name: str, namespace: str, **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("kind", [_CONFIG_MAP, Greeting.resource], ids=["built in", "custom"])
@pytest.mark.parametrize("metadata_only", [True, False])
async def test_a_namespace_and_all_others_are_followed_each_by_its_own_selection(
    greetings: Client, namespace: str, beside: str, kind: Resource, *, streams: bool, metadata_only: bool
) -> None:
    client = greetings
    places = {namespace: Selection(labels="app=x"), ALL_NAMESPACES: Selection(labels="app=y")}
    options = CacheOptions(kinds={kind: KindOptions(namespaces=places, metadata_only=metadata_only)})
    await client.create(_wire(kind, "seen", namespace, app="x"))
    await client.create(_wire(kind, "unseen", namespace, app="y"))
    await client.create(_wire(kind, "rest", beside, app="y"))
    await client.create(_wire(kind, "none", beside, app="x"))
    cache = Cache(client, options=options, streams=streams)
    informer = cache.informer(kind)
    news = _News(informer)
    await cache.start()
    await cache.wait_synced(30)

    def names() -> set[str]:
        return {each.name for each in informer.store if each.namespace in (namespace, beside)}

    assert names() == {"seen", "rest"}
    await client.create(_wire(kind, "new", beside, app="y"))
    await client.delete(kind, "seen", namespace)
    await client.patch(kind, "unseen", namespace, {"metadata": {"labels": {"app": "x"}}})
    await news.until(lambda: names() == {"unseen", "rest", "new"})
    assert {each.to_dict()["kind"] for each in informer.store} == {kind.kind}
    assert await inconsistencies(client, informer, clock=SystemClock(), grace_seconds=1.0) == []
    await cache.stop()


async def test_a_write_is_read_from_the_cache_as_soon_as_that_has_it(
    server: Envtest, client: Client, namespace: str
) -> None:
    config = ClientConfig(kubeconfig=str(server.kubeconfig))
    manager = Manager(Settings(namespace=namespace, metrics_bind="0", health_bind="0"), config=config)
    async with manager:
        await manager.cache.ensure(V1ConfigMap, 30)
        for number in range(20):
            metadata = V1ObjectMeta(name=f"page-{number}", namespace=namespace)
            made = await client.create(V1ConfigMap(metadata=metadata))
            assert made.metadata is not None
            found = await manager.reader.get(
                V1ConfigMap, f"page-{number}", namespace, at_least=made.metadata.resource_version
            )
            assert found.metadata is not None
            assert found.metadata.uid == made.metadata.uid


async def test_one_manager_serves_two_clusters(server: Envtest, greetings: Client, namespace: str) -> None:
    async def reconcile(obj: Greeting, ctx: Context) -> None:
        page = V1ConfigMap(metadata=V1ObjectMeta(name=obj.name), data={"text": obj.spec.text})
        await ctx.apply(page, owner=obj)
        obj.status.said = [str(ctx.request)]

    async with Envtest(assets=server.assets) as other:
        far_config = ClientConfig(kubeconfig=str(other.kubeconfig))
        settings = Settings(metrics_bind="0", health_bind="0")
        manager = Manager(settings, config=ClientConfig(kubeconfig=str(server.kubeconfig)))
        far = manager.cluster("far", config=far_config)
        manager.controller(Greeting, reconcile, owns=[V1ConfigMap], clusters=[None, far])
        async with await Client.connect(far_config) as there:
            await install_crds(there, [Greeting], SystemClock())
            async with manager:
                for client, place, text in ((greetings, namespace, "here"), (there, "default", "there")):
                    spec = GreetingSpec(text=text)
                    await client.create(Greeting(name="hello", namespace=place, spec=spec))
                news = _News(far.cache.informer(Greeting))
                home_news = _News(manager.cache.informer(Greeting))
                await news.until(lambda: _said(far.cache, "default") == ["far:default/hello"])
                await home_news.until(lambda: _said(manager.cache, namespace) == [f"{namespace}/hello"])
                assert (await there.get(V1ConfigMap, "hello", "default")).data == {"text": "there"}
                assert (await greetings.get(V1ConfigMap, "hello", namespace)).data == {"text": "here"}


def _said(cache: Cache, namespace: str) -> list[str]:
    cached = cache.get(Greeting, "hello", namespace)
    return cached.to(Greeting).status.said if cached else []
