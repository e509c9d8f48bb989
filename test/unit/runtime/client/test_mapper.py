# SPDX-License-Identifier: Apache-2.0
"""From names to resources: lazily, once, and again where a kind is missing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from dglop.errors import NoKindMatchError, NotFoundError
from dglop.runtime.api import Resource
from dglop.testing.scripted_replies import answer, status

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.testing.scripted import ScriptedServer

pytestmark = pytest.mark.scripted

WIDGET = Resource("example.dev", "v1", "Widget", "widgetz", namespaced=False)
DEPLOYMENT = Resource("apps", "v1", "Deployment", "deployments")


def _resource(name: str, kind: str, *, namespaced: bool = True, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": kind, "namespaced": namespaced, "verbs": ["get"], **more}


WIDGETS = answer(
    {
        "kind": "APIResourceList",
        "groupVersion": "example.dev/v1",
        "resources": [
            _resource("widgetz", "Widget", namespaced=False, shortNames=["wd"], singularName="widget"),
            _resource("widgetz/scale", "Scale"),
        ],
    }
)
NONE = answer({"kind": "APIResourceList", "groupVersion": "example.dev/v1", "resources": []})


def _new(
    group: str, version: str, name: str, kind: str, scope: str = "Namespaced", **more: Any
) -> dict[str, Any]:
    resource = {"resource": name, "responseKind": {"kind": kind}, "scope": scope, "verbs": ["get"], **more}
    return {"metadata": {"name": group}, "versions": [{"version": version, "resources": [resource]}]}


def _aggregated(*groups: dict[str, Any]) -> Any:
    return answer({"kind": "APIGroupDiscoveryList", "items": [*groups]})


def _serve_new(server: ScriptedServer, *replies: Any) -> None:
    server.on(lambda seen: seen.path == "/api", _aggregated(_new("", "v1", "pods", "Pod", shortNames=["po"])))
    server.on(lambda seen: seen.path == "/apis", *replies)


ALL = _aggregated(
    _new("apps", "v1", "deployments", "Deployment", shortNames=["deploy"], singularResource="deployment"),
    _new("example.dev", "v1", "widgetz", "Widget", "Cluster", subresources=[{"subresource": "scale"}]),
    _new("metrics.k8s.io", "v1beta1", "pods", "PodMetrics"),
)


async def test_a_kind_of_a_known_version_costs_one_request_once(
    server: ScriptedServer, client: Client
) -> None:
    server.on(lambda seen: seen.path == "/apis/example.dev/v1", WIDGETS)
    for _ in range(2):
        assert await client.mapper.resource("Widget", group="example.dev", version="v1") == WIDGET
    assert len(server.requests) == 1
    served = await client.mapper.served("wd", group="example.dev", version="v1")
    assert served.subresources == ("scale",)
    assert len(server.requests) == 1


async def test_a_kind_that_appears_later_is_found_by_reading_again(
    server: ScriptedServer, client: Client
) -> None:
    server.on(lambda seen: seen.path == "/apis/example.dev/v1", status(404, "NotFound"), NONE, WIDGETS)
    with pytest.raises(NoKindMatchError):
        await client.mapper.resource("Widget", group="example.dev", version="v1")
    with pytest.raises(NoKindMatchError, match=r"no kind 'Widget' in example\.dev/v1; is its CRD installed"):
        await client.mapper.resource("Widget", group="example.dev", version="v1")
    assert await client.mapper.resource("Widget", group="example.dev", version="v1") == WIDGET


async def test_a_missing_kind_counts_as_not_found(server: ScriptedServer, client: Client) -> None:
    with pytest.raises(NotFoundError):
        await client.mapper.resource("Widget", group="example.dev", version="v1")
    assert server.requests


@pytest.mark.parametrize(
    ("name", "resource"),
    [
        ("Deployment", DEPLOYMENT),
        ("deploy", DEPLOYMENT),
        ("deployment.apps", DEPLOYMENT),
        ("deployments.v1.apps", DEPLOYMENT),
        ("widgetz.example.dev", WIDGET),
        ("po", Resource("", "v1", "Pod", "pods")),
        ("pods", Resource("", "v1", "Pod", "pods")),
        ("pods.metrics.k8s.io", Resource("metrics.k8s.io", "v1beta1", "PodMetrics", "pods")),
    ],
)
async def test_a_name_means_what_it_means_to_kubectl(
    server: ScriptedServer, client: Client, name: str, resource: Resource
) -> None:
    _serve_new(server, ALL)
    assert await client.mapper.find(name) == resource


async def test_an_unknown_name_is_refused_after_one_more_look(server: ScriptedServer, client: Client) -> None:
    _serve_new(server, ALL)
    with pytest.raises(NoKindMatchError, match="no kind 'gadgets'"):
        await client.mapper.find("gadgets")
    await client.mapper.find("deploy")
    assert len(server.requests) == 2


async def test_an_older_server_is_asked_group_by_group(server: ScriptedServer, client: Client) -> None:
    server.on(lambda seen: seen.path == "/api", answer({"kind": "APIVersions", "versions": ["v1"]}))
    server.on(
        lambda seen: seen.path == "/apis",
        answer(
            {
                "kind": "APIGroupList",
                "groups": [
                    {
                        "name": "example.dev",
                        "versions": [
                            {"groupVersion": "example.dev/v1beta1"},
                            {"groupVersion": "example.dev/v1"},
                        ],
                        "preferredVersion": {"groupVersion": "example.dev/v1"},
                    }
                ],
            }
        ),
    )
    server.on(lambda seen: seen.path == "/apis/example.dev/v1", WIDGETS)
    assert await client.mapper.find("widget") == WIDGET
    assert [each.resource for each in await client.mapper.all()] == [WIDGET]


async def test_many_who_miss_one_kind_share_one_reading(server: ScriptedServer, client: Client) -> None:
    server.on(lambda seen: seen.path == "/apis/example.dev/v1", WIDGETS)
    asked = [client.mapper.resource("Widget", group="example.dev", version="v1") for _ in range(5)]
    assert set(await asyncio.gather(*asked)) == {WIDGET}
    assert len(server.requests) == 1


async def test_verbs_take_a_kind_by_name_and_a_wire_dict_by_its_own(
    server: ScriptedServer, client: Client
) -> None:
    _serve_new(server, ALL)
    server.on(lambda seen: seen.path == "/apis/example.dev/v1", WIDGETS)
    wire = {"apiVersion": "example.dev/v1", "kind": "Widget", "metadata": {"name": "a"}}
    server.on(lambda _: True, answer(wire))
    assert await client.get("widgetz.example.dev", "a") == wire
    assert await client.create(wire) == wire
    assert await client.create(wire, resource=WIDGET) == wire
    paths = [seen.path for seen in server.requests]
    assert paths[2:] == [
        "/apis/example.dev/v1/widgetz/a",
        "/apis/example.dev/v1/widgetz",
        "/apis/example.dev/v1/widgetz",
    ]
