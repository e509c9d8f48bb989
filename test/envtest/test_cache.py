# SPDX-License-Identifier: Apache-2.0
"""The cache on a real API server: both ways to a whole state, lost history, and a restarted server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from dglop.runtime.api import Resource
from dglop.runtime.cache import Cache
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.metricparts import CacheMetrics
from dglop.runtime.metrics import Metrics
from dglop.testing.envtest import Envtest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dglop.runtime.cache import Cached, Informer

_CONFIG_MAP = Resource("", "v1", "ConfigMap", "configmaps")


class _Changes:
    """Counts what is heard of each object, and wakes who waits."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, str]] = []
        self._news = asyncio.Event()

    def on_add(self, obj: Cached, is_initial: bool) -> None:
        self._hear("+", obj)

    def on_update(self, old: Cached, new: Cached) -> None:
        self._hear("~", new)

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None:
        self._hear("?" if final_state_unknown else "-", obj)

    async def until(self, done: Callable[[], bool]) -> None:
        while not done():
            self._news.clear()
            await self._news.wait()

    def _hear(self, what: str, obj: Cached) -> None:
        self.heard.append((what, obj.uid, obj.resource_version))
        self._news.set()


def _page(name: str, namespace: str, text: str = "") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"text": text}}


@pytest_asyncio.fixture
async def own_server(server: Envtest) -> AsyncIterator[Envtest]:
    """A server of the test's own, which it may restart."""
    async with Envtest(assets=server.assets) as running:
        yield running


async def _started(
    client: Client, *, streams: bool, metrics: Metrics | None = None
) -> tuple[Cache, Informer, _Changes]:
    cache = Cache(client, streams=streams, metrics=CacheMetrics(metrics) if metrics else None)
    informer, changes = cache.informer(_CONFIG_MAP), _Changes()
    informer.add_handler(changes)
    await cache.start()
    await cache.wait_synced(30)
    return cache, informer, changes


def _texts(informer: Informer, namespace: str) -> dict[str, str]:
    found = informer.store.by_index("namespace", namespace)
    return {each.name: each.to_dict()["data"]["text"] for each in found}


@pytest.mark.parametrize("streams", [True, False])
async def test_the_cache_follows_creation_change_and_deletion(
    client: Client, namespace: str, *, streams: bool
) -> None:
    await client.create(_page("before", namespace, "0"))
    cache, informer, changes = await _started(client, streams=streams)
    # A list of any version may be from before the creation.
    await changes.until(lambda: _texts(informer, namespace) == {"before": "0"})
    await client.create(_page("a", namespace, "1"))
    await client.patch(_CONFIG_MAP, "a", namespace, {"data": {"text": "2"}})
    await changes.until(lambda: _texts(informer, namespace).get("a") == "2")
    await client.delete(_CONFIG_MAP, "before", namespace)
    await changes.until(lambda: "before" not in _texts(informer, namespace))
    assert len(changes.heard) == len(set(changes.heard))
    assert b"managedFields" not in b"".join(each.raw for each in informer.store)
    await cache.stop()


@pytest.mark.parametrize("streams", [True, False])
async def test_lost_history_costs_one_new_state_and_no_event(own_server: Envtest, *, streams: bool) -> None:
    """The server restarts after changes of another kind, so its history begins after the watch's version.

    Its watch cache begins anew with what etcd has then, and a watch from before that is answered with 410.
    """
    metrics = Metrics()
    config = ClientConfig(kubeconfig=str(own_server.kubeconfig))
    async with await Client.connect(config) as client, await Client.connect(config) as other:
        await client.create(_page("gone", "default", "0"))
        await client.create(_page("same", "default", "0"))
        cache, informer, changes = await _started(client, streams=streams, metrics=metrics)
        for number in range(5):
            await other.create({**_page(f"unseen-{number}", "default"), "kind": "Secret", "data": {}})
        await own_server.restart_apiserver()
        await other.create(_page("new", "default", "1"))
        await other.delete(_CONFIG_MAP, "gone", "default")
        same = await other.get(_CONFIG_MAP, "same", "default")
        await changes.until(lambda: set(_texts(informer, "default")) >= {"new", "same"})
        await changes.until(lambda: "gone" not in _texts(informer, "default"))
        assert informer.store.get(("default", "same")).uid == same["metadata"]["uid"]
        relists = {"kind": "configmaps", "reason": "Expired"}
        assert metrics.registry.get_sample_value("dglop_informer_relists_total", relists) == 1
        assert informer.health.relists == 1
        assert len(changes.heard) == len(set(changes.heard))
        await cache.stop()


async def test_another_object_under_a_known_name_is_heard_as_a_deletion_and_an_addition(
    own_server: Envtest,
) -> None:
    config = ClientConfig(kubeconfig=str(own_server.kubeconfig))
    async with await Client.connect(config) as client:
        made = await client.create(_page("page", "default", "0"))
        cache, informer, changes = await _started(client, streams=True)
        await client.delete(_CONFIG_MAP, "page", "default")
        again = await client.create(_page("page", "default", "1"))
        await changes.until(lambda: _texts(informer, "default").get("page") == "1")
        old, new = made["metadata"]["uid"], again["metadata"]["uid"]
        assert [what for what, uid, _ in changes.heard if uid == old] == ["+", "-"]
        assert [what for what, uid, _ in changes.heard if uid == new] == ["+"]
        await cache.stop()
