# SPDX-License-Identifier: Apache-2.0
"""Informers as their users see them: whole states, health, selections; over real sockets."""

from __future__ import annotations

import asyncio
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from dglop.errors import CacheNotSyncedError
from dglop.runtime.cache import Cache, CacheOptions, KindOptions, Limits
from dglop.runtime.log import make_log
from dglop.runtime.metrics import Metrics
from dglop.testing.clock import ManualClock
from dglop.testing.scripted_replies import (
    drop,
    event,
    expired,
    items,
    status,
    stream,
)

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.testing.scripted import Exchange, ScriptedServer
from dglop.testing.scripted_cache import Hearer, pod
from test.unit.runtime.cache.informers import NODE, POD, started, watches

pytestmark = pytest.mark.scripted


async def test_trouble_with_one_kind_leaves_the_others_alone_and_shows(
    server: ScriptedServer, make_cache: Any
) -> None:
    node = {"kind": "Node", "metadata": {"name": "x", "uid": "u", "resourceVersion": "3"}}
    server.on(lambda seen: seen.path.endswith("/nodes") and not seen.is_watch, items([node], "3"))
    server.on(
        lambda seen: seen.path.endswith("/pods"), drop, drop, drop, items([pod("a", 5)], "10"), stream()
    )
    server.watches(stream())
    cache = make_cache(streams=False)
    nodes = cache.informer(NODE)
    pods, hearer = await started(cache)
    await nodes.wait_synced(10)
    await hearer.until("+a@5!")
    await cache.wait_synced(10)
    assert nodes.health.last_error == ""
    assert "GET /api/v1/pods" in pods.health.last_error


async def test_what_an_informer_does_is_shown_by_health_and_metrics(
    server: ScriptedServer, make_cache: Any
) -> None:
    go_on = asyncio.Event()

    async def then_more(exchange: Exchange) -> None:
        await go_on.wait()
        lines = [event("ADDED", pod("b", 6)), event("MODIFIED", pod("b", 7)), event("DELETED", pod("a", 8))]
        await stream(*lines)(exchange)

    server.lists(
        status(403, "Forbidden", "no"), drop, drop, items([pod("a", 5)], "5"), items([pod("a", 5)], "5")
    )
    server.watches(stream(expired(), then="end"), then_more)
    metrics = Metrics()

    def shown(name: str, **labels: str) -> float | None:
        return metrics.registry.get_sample_value(f"dglop_informer_{name}", {"kind": "pods", **labels})

    cache = make_cache(streams=False, metrics=metrics.cache)
    informer, hearer = cache.informer(POD), Hearer()
    informer.add_handler(hearer)
    assert (shown("synced"), shown("items"), informer.health.synced) == (0, 0, False)
    assert shown("failures_total", reason="Forbidden") == shown("relists_total", reason="Expired") == 0
    await cache.start()
    await cache.wait_synced(10)
    assert (shown("synced"), shown("items"), informer.health.synced) == (1, 1, True)
    await server.until(2, watches)
    assert shown("failures_total", reason="Forbidden") == 1
    assert shown("failures_total", reason="ConnectionError") == 1
    assert shown("failures_total", reason="Expired") == shown("relists_total", reason="Expired") == 1
    assert informer.health.relists == 3
    go_on.set()
    await hearer.until("-a@8")
    assert [shown("events_total", event=each) for each in ("ADDED", "MODIFIED", "DELETED")] == [1, 1, 1]
    assert (shown("items"), informer.health.consecutive_failures) == (1, 0)
    assert (shown("last_event_timestamp_seconds") or 0) > 0
    await cache.stop()
    await cache.remove(POD)
    assert (shown("synced"), informer.health.synced) == (0, False)


async def test_a_handler_that_raises_hurts_no_other_and_is_told_of(
    server: ScriptedServer, make_cache: Any
) -> None:
    class Clumsy:
        def on_add(self, *_: object) -> None:
            raise RuntimeError("on an addition")

        def on_update(self, *_: object) -> None:
            raise ZeroDivisionError("on a change")

        def on_delete(self, *_: object) -> None:
            raise KeyError("on a deletion")

    lines = [event("ADDED", pod("b", 6)), event("MODIFIED", pod("b", 7)), event("DELETED", pod("b", 8))]
    server.lists(items([pod("a", 5)], "5"))
    server.watches(stream(*lines, event("ADDED", pod("c", 9))))
    out = io.StringIO()
    cache = make_cache(streams=False, log=make_log(format_="json", stream=out))
    cache.informer(POD).add_handler(Clumsy())
    _, hearer = await started(cache)
    await hearer.until("+c@9")
    assert hearer.heard == ["+a@5!", "+b@6", "~b@6>7", "-b@8", "+c@9"]
    told = [json.loads(line) for line in out.getvalue().splitlines() if "Event handler raised" in line]
    assert [line["error"].partition(":")[0] for line in told] == [
        *("RuntimeError", "RuntimeError", "ZeroDivisionError", "KeyError", "RuntimeError")
    ]
    assert {line["handler"].rpartition(".")[2] for line in told} == {"Clumsy"}


async def test_initial_events_that_do_not_end_lead_to_a_list_within_a_bound(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.on(lambda seen: "sendInitialEvents" in seen.query, stream(event("ADDED", pod("a", 5))))
    server.lists(items([pod("a", 5)], "10"))
    server.watches(stream())
    cache = make_cache(limits=Limits(initial=0.05))
    informer, _ = await started(cache)
    await cache.wait_synced(10)
    assert "initial events had not ended" in informer.health.last_error


async def test_initial_events_that_do_not_end_are_told_of_every_ten_seconds(
    server: ScriptedServer, client: Client
) -> None:
    server.watches(stream(event("ADDED", pod("a", 5))))
    clock, lines = ManualClock(), io.StringIO()
    cache = Cache(client, clock=clock, log=make_log(format_="json", level="warning", stream=lines))
    await started(cache)
    await server.until(1, watches)
    await clock.advance(25.0)
    await cache.stop()
    told = [line for line in lines.getvalue().splitlines() if "end of the initial events" in line]
    assert [json.loads(line)["seconds"] for line in told] == [10, 20]


async def test_a_server_without_initial_events_is_listed(server: ScriptedServer, make_cache: Any) -> None:
    server.on(
        lambda seen: "sendInitialEvents" in seen.query,
        status(422, "Invalid", "sendInitialEvents is forbidden"),
    )
    server.lists(items([pod("a", 5)], "10"))
    server.watches(stream())
    cache = make_cache()
    _, hearer = await started(cache)
    await cache.wait_synced(10)
    assert hearer.heard == ["+a@5!"]


async def test_a_list_in_pages_is_one_state(server: ScriptedServer, make_cache: Any) -> None:
    server.lists(items([pod("a", 1)], "9", token="t"), items([pod("b", 2)], "9"))
    server.watches(stream())
    cache = make_cache(streams=False)
    informer, hearer = await started(cache)
    await cache.wait_synced(10)
    assert hearer.heard == ["+a@1!", "+b@2!"]
    first, second, _ = await server.until(3)
    assert (first.query["limit"], first.query["resourceVersion"]) == ("500", "0")
    assert second.query == {"limit": "500", "continue": "t"}
    assert len(informer.store) == 2


async def test_an_object_of_another_kind_in_the_stream_is_left_out(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.lists(items([], "1"))
    server.watches(stream(event("ADDED", {**pod("x", 2), "kind": "Node"}), event("ADDED", pod("a", 3))))
    _, hearer = await started(make_cache(streams=False))
    await hearer.until("+a@3")
    assert hearer.heard == ["+a@3"]


async def test_an_unsynced_cache_says_so_instead_of_being_empty(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.on(lambda _: True, status(403, "Forbidden", "pods is forbidden"))
    cache = make_cache(streams=False)
    with pytest.raises(CacheNotSyncedError, match="pods is not cached"):
        cache.get(POD, "a", "n")
    informer, _ = await started(cache)
    await server.until(2)
    with pytest.raises(CacheNotSyncedError, match="pods"):
        cache.list(POD)
    with pytest.raises(CacheNotSyncedError, match=r"pods: .* pods is forbidden"):
        await informer.wait_synced(0.05)


async def test_metadata_alone_is_asked_for_where_that_is_enough(
    server: ScriptedServer, make_cache: Any
) -> None:
    bare = {"kind": "PartialObjectMetadata", "metadata": pod("b", 3)["metadata"]}
    server.lists(items([pod("a", 1)], "2"))
    server.watches(stream(event("ADDED", bare)))
    cache = make_cache(streams=False)
    informer, hearer = cache.informer(POD, metadata_only=True), Hearer()
    informer.add_handler(hearer)
    await cache.start()
    await hearer.until("+b@3")
    first, second = server.requests
    assert "as=PartialObjectMetadataList;" in first.headers["accept"]
    assert "as=PartialObjectMetadata;" in second.headers["accept"]


async def test_each_namespace_has_its_own_watch_and_all_share_a_store(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.on(lambda seen: "/x/" in seen.path and not seen.is_watch, items([pod("a", 1)], "2"))
    server.lists(items([], "2"))
    server.watches(stream())
    cache = make_cache(
        streams=False, options=CacheOptions(namespaces=("x", "y"), kinds={POD: KindOptions(labels="app=z")})
    )
    informer, _ = await started(cache)
    await cache.wait_synced(10)
    await server.until(4)
    assert {each.path for each in server.requests} == {
        "/api/v1/namespaces/x/pods",
        "/api/v1/namespaces/y/pods",
    }
    assert {each.query["labelSelector"] for each in server.requests} == {"app=z"}
    assert len(informer.store) == 1


async def test_stopping_closes_the_watches(server: ScriptedServer, make_cache: Any) -> None:
    closed = asyncio.Event()

    async def reply(exchange: Exchange) -> None:
        await exchange.start(200)
        await exchange.gone()
        closed.set()

    server.lists(items([], "1"))
    server.watches(reply)
    cache = make_cache(streams=False)
    await started(cache)
    await server.until(1, watches)
    await cache.stop()
    await closed.wait()
