# SPDX-License-Identifier: Apache-2.0
"""Views of a client: what they add to calls, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from dglop.errors import ConfigError, NotFoundError
from dglop.runtime.api import CustomResource, Resource, Spec, Status
from dglop.runtime.client import Call, Client, ClientConfig
from dglop.runtime.metrics import Metrics
from dglop.testing.scripted_clock import EagerClock
from dglop.testing.scripted_replies import answer, items, status

if TYPE_CHECKING:
    from dglop.testing.scripted import ScriptedServer

pytestmark = pytest.mark.scripted

POD = Resource("", "v1", "Pod", "pods")
NODE = Resource("", "v1", "Node", "nodes", namespaced=False)
WIRE = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "n"}}


class ToySpec(Spec):
    size: int = 1


class Toy(CustomResource[ToySpec, Status], group="example.dev", version="v1"):
    """A toy."""


class PausesOnly(EagerClock):
    """Time in which nothing takes time but pauses."""

    def monotonic(self) -> float:
        return sum(self.pauses)


def anything(_: object) -> bool:
    return True


async def every_write(client: Client) -> None:
    await client.create(WIRE)
    await client.apply(WIRE)
    await client.patch(POD, "a", "n", {"x": 1})
    await client.subresource(POD, "status").patch("a", {"x": 1}, "n")


async def test_a_dry_run_view_keeps_no_write_and_leaves_its_client_alone(
    server: ScriptedServer, client: Client
) -> None:
    server.on(anything, answer(WIRE))
    dry = client.dry_run()
    await every_write(dry)
    assert [seen.query["dryRun"] for seen in server.requests] == ["All"] * 4
    await dry.delete(POD, "a", "n")
    assert server.requests[-1].json()["dryRun"] == ["All"]
    await client.create(WIRE)
    assert "dryRun" not in server.requests[-1].query


async def test_a_field_manager_view_owns_what_it_writes(server: ScriptedServer, client: Client) -> None:
    server.on(anything, answer(WIRE))
    await every_write(client.with_field_manager("me"))
    assert {seen.query["fieldManager"] for seen in server.requests} == {"me"}
    await client.with_field_manager("me").apply(WIRE, field_manager="another")
    assert server.requests[-1].query["fieldManager"] == "another"
    await client.apply(WIRE)
    assert server.requests[-1].query["fieldManager"] == "dglop"


async def test_typed_objects_are_checked_strictly_and_wire_dicts_as_the_server_likes(
    server: ScriptedServer, client: Client
) -> None:
    toy = Toy(name="a", spec=ToySpec())
    server.on(lambda seen: "toys" in seen.path, answer(toy.to_wire()))
    server.on(anything, answer(WIRE))
    await client.create(toy)
    await client.apply(toy)
    assert [seen.query["fieldValidation"] for seen in server.requests] == ["Strict", "Strict"]
    await client.create(WIRE)
    assert "fieldValidation" not in server.requests[-1].query
    await client.with_validation("Ignore").create(toy)
    assert server.requests[-1].query["fieldValidation"] == "Ignore"
    await every_write(client.with_validation("Strict"))
    assert {seen.query["fieldValidation"] for seen in server.requests[-4:]} == {"Strict"}


async def test_an_unknown_validation_is_refused(client: Client) -> None:
    with pytest.raises(ValueError, match="Lenient"):
        client.with_validation("Lenient")


async def test_a_bound_view_works_in_its_namespace_alone(server: ScriptedServer, client: Client) -> None:
    server.lists(answer({**WIRE, "items": [], "metadata": {}}))
    bound = client.in_namespace("team")
    assert bound.namespace == "team"
    await bound.get(POD, "a")
    await bound.get(POD, "a", "team")
    await bound.list(POD)
    await bound.get(NODE, "x")
    assert [seen.path for seen in server.requests] == [
        "/api/v1/namespaces/team/pods/a",
        "/api/v1/namespaces/team/pods/a",
        "/api/v1/namespaces/team/pods",
        "/api/v1/nodes/x",
    ]
    count = len(server.requests)
    for work in (
        bound.get(POD, "a", "other"),
        bound.list(POD, "other"),
        bound.create(WIRE),
        bound.apply(WIRE),
        bound.delete(POD, "a", "other"),
        bound.delete_all_of(POD, "other"),
        bound.metadata.list(POD, "other"),
        bound.subresource(POD, "scale").get("a", "other"),
    ):
        with pytest.raises(ConfigError, match="bound to namespace 'team' and was asked for pods in"):
            await work
    assert len(server.requests) == count


async def test_views_can_be_combined_in_any_order(server: ScriptedServer, client: Client) -> None:
    server.on(anything, answer(WIRE))
    await client.dry_run().with_field_manager("me").in_namespace("n").create(WIRE)
    await client.in_namespace("n").with_field_manager("me").dry_run().create(WIRE)
    first, second = server.requests
    assert first.query == second.query == {"dryRun": "All", "fieldManager": "me"}


async def test_metadata_alone_is_asked_for_and_given(server: ScriptedServer, client: Client) -> None:
    partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
    metadata: dict[str, Any] = {
        "name": "a",
        "namespace": "n",
        "uid": "u",
        "managedFields": [{}],
        "labels": None,
    }
    server.lists(
        answer({**partial, "metadata": metadata}),
        items([{"metadata": metadata}], "5", token="t"),
        items([{"metadata": {**metadata, "deletionTimestamp": "2026-01-01T00:00:00Z"}}], "5"),
    )
    found = await client.metadata.get(POD, "a", "n")
    assert (found.resource, found.name, found.namespace, found.uid) == (POD, "a", "n", "u")
    assert found.metadata.labels == {}
    listed = await client.metadata.list(POD, labels="x=y")
    assert [each.is_deleting for each in listed] == [False, True]
    get, first, second = server.requests
    assert get.headers["accept"] == "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    assert first.headers["accept"] == "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    assert (first.query["labelSelector"], second.query["continue"]) == ("x=y", "t")


async def test_an_interceptor_may_change_a_call_refuse_it_and_see_its_answer(
    server: ScriptedServer, client: Client
) -> None:
    server.on(anything, answer(WIRE))
    seen: list[Any] = []

    async def trace(call: Call, send: Any) -> bytes:
        seen.append(str(call))
        body: bytes = await send(replace(call, query={"traced": "yes"}))
        seen.append(len(body))
        return body

    async def refuse(call: Call, send: Any) -> bytes:
        if call.method == "DELETE":
            raise NotFoundError(404, "NotFound", "made up")
        answered: bytes = await send(call)
        return answered

    view = client.intercepted(trace).intercepted(refuse)
    assert await view.get(POD, "a", "n") == WIRE
    with pytest.raises(NotFoundError, match="made up"):
        await view.delete(POD, "a", "n")
    assert [each.query for each in server.requests] == [{"traced": "yes"}]
    assert seen[0] == "GET /api/v1/namespaces/n/pods/a"
    assert seen[1] > 0


async def test_requests_are_counted_for_a_controller_by_verb_tries_included(server: ScriptedServer) -> None:
    server.on(lambda seen: seen.method == "PATCH", status(429, "TooManyRequests"), answer(WIRE))
    server.on(anything, answer({**WIRE, "items": [], "metadata": {"name": "a"}}))
    metrics = Metrics()
    config = ClientConfig(host=server.url)
    async with await Client.connect(config, clock=EagerClock(), metrics=metrics.client) as client:
        mine = client.counted_for("toy")
        await mine.list(POD)
        await mine.get(POD, "a")
        await mine.patch(POD, "a", None, {})
        await mine.create(WIRE)
        await mine.apply(WIRE)
        await mine.delete(POD, "a")
        await client.get(POD, "a")

    def counted(verb: str) -> float | None:
        labels = {"controller": "toy", "verb": verb}
        return metrics.registry.get_sample_value("dglop_api_requests_total", labels)

    verbs = ("list", "get", "patch", "create", "apply", "delete")
    assert {verb: counted(verb) for verb in verbs} == {
        "list": 1, "get": 1, "patch": 2, "create": 1, "apply": 1, "delete": 1,
    }  # fmt: skip


async def test_a_rate_of_ones_own_holds_back_what_comes_after_the_burst(server: ScriptedServer) -> None:
    server.on(anything, answer(WIRE))
    clock, metrics = PausesOnly(), Metrics()
    config = ClientConfig(host=server.url, qps=2, burst=2)
    async with await Client.connect(config, clock=clock, metrics=metrics.client) as client:
        for _ in range(4):
            await client.get(POD, "a")
    assert clock.pauses == [0.5, 0.5]
    labels = {"verb": "GET", "host": server.url.removeprefix("http://")}
    name = "rest_client_rate_limiter_duration_seconds"
    assert metrics.registry.get_sample_value(f"{name}_count", labels) == 4
    assert metrics.registry.get_sample_value(f"{name}_sum", labels) == pytest.approx(1.0)


async def test_compressed_answers_are_read_where_they_are_allowed(server: ScriptedServer) -> None:
    import gzip
    import json

    async def zipped(exchange: Any) -> None:
        body = gzip.compress(json.dumps(WIRE).encode())
        await exchange.send(200, body, {"Content-Type": "application/json", "Content-Encoding": "gzip"})

    server.on(anything, zipped)
    async with await Client.connect(ClientConfig(host=server.url, gzip=True)) as client:
        assert await client.get(POD, "a") == WIRE
    assert server.requests[0].headers["accept-encoding"] == "gzip"
