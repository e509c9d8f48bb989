# SPDX-License-Identifier: Apache-2.0
"""Subresources by name, deletions with conditions, pages, and patches from two states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop.errors import GoneError, SchemaError
from dglop.runtime.api import CustomResource, Resource, Spec, Status
from dglop.testing.scripted_replies import answer, items, status

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.testing.scripted import ScriptedServer

pytestmark = pytest.mark.scripted

POD = Resource("", "v1", "Pod", "pods")
ACCOUNT = Resource("", "v1", "ServiceAccount", "serviceaccounts")
WIRE = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "n"}}


class ToySpec(Spec):
    size: int = 1
    colour: str | None = None


class Toy(CustomResource[ToySpec, Status], group="example.dev", version="v1"):
    """A toy."""


def anything(_: object) -> bool:
    return True


@pytest.mark.parametrize(
    ("kind", "name", "body", "sent"),
    [
        (POD, "eviction", None, {"apiVersion": "policy/v1", "kind": "Eviction"}),
        (POD, "binding", {"target": {"name": "node"}}, {"apiVersion": "v1", "kind": "Binding"}),
        (
            ACCOUNT,
            "token",
            {"spec": {"audiences": ["x"]}},
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"},
        ),
    ],
)
async def test_an_action_names_its_own_kind(
    server: ScriptedServer,
    client: Client,
    *,
    kind: Resource,
    name: str,
    body: dict[str, Any] | None,
    sent: dict[str, Any],
) -> None:
    server.on(anything, answer({"kind": "Status"}))
    assert await client.subresource(kind, name).create("a", body, "n") == {"kind": "Status"}
    (seen,) = server.requests
    assert (seen.method, seen.path) == ("POST", f"/api/v1/namespaces/n/{kind.plural}/a/{name}")
    assert seen.json() == {**sent, "metadata": {"name": "a", "namespace": "n"}, **(body or {})}


async def test_scale_is_read_patched_and_applied(server: ScriptedServer, client: Client) -> None:
    scale = {"kind": "Scale", "spec": {"replicas": 3}}
    server.on(anything, answer(scale))
    view = client.subresource(Toy, "scale")
    assert await view.get("a", "n") == scale
    await view.patch("a", {"spec": {"replicas": 4}}, "n")
    await view.apply("a", {"spec": {"replicas": 5}}, "n", field_manager="me", force=False)
    read, patched, applied = server.requests
    assert read.path == "/apis/example.dev/v1/namespaces/n/toys/a/scale"
    assert patched.json() == {"spec": {"replicas": 4}}
    assert applied.query == {"fieldManager": "me", "force": "false"}
    assert (applied.json()["apiVersion"], applied.json()["kind"]) == ("autoscaling/v1", "Scale")


async def test_a_deletion_may_ask_for_the_very_state(server: ScriptedServer, client: Client) -> None:
    server.on(anything, answer({}))
    await client.delete(POD, "a", "n", resource_version="7", propagation="Foreground")
    body = server.requests[0].json()
    assert body["preconditions"] == {"resourceVersion": "7"}
    assert body["propagationPolicy"] == "Foreground"


async def test_a_collection_is_deleted_in_one_namespace_by_selector(
    server: ScriptedServer, client: Client
) -> None:
    server.on(anything, answer({}))
    await client.delete_all_of(
        POD, "n", labels={"a": "b", "c": "d"}, fields="status.phase=Failed", grace_seconds=0
    )
    await client.delete_all_of(POD)
    first, second = server.requests
    assert (first.method, first.path) == ("DELETE", "/api/v1/namespaces/n/pods")
    assert first.query == {"labelSelector": "a=b,c=d", "fieldSelector": "status.phase=Failed"}
    assert first.json()["gracePeriodSeconds"] == 0
    assert second.path == "/api/v1/namespaces/default/pods"


async def test_pages_come_one_by_one_and_an_expired_one_is_an_error(
    server: ScriptedServer, client: Client
) -> None:
    server.lists(items([WIRE], "5", token="t"), items([WIRE, WIRE], "5", token="u"), status(410, "Expired"))
    pages = client.pages(POD, "n", size=2)
    assert [len(await anext(pages)), len(await anext(pages))] == [1, 2]
    with pytest.raises(GoneError):
        await anext(pages)
    assert [seen.query.get("continue") for seen in server.requests] == [None, "t", "u"]
    assert server.requests[0].query["limit"] == "2"


async def test_only_what_changed_is_merged_and_nothing_where_nothing_did(
    server: ScriptedServer, client: Client
) -> None:
    before = Toy(name="a", namespace="n", spec=ToySpec(size=1, colour="red"))
    before.metadata.resource_version, before.metadata.uid = "7", "u"
    server.on(anything, answer(before.to_wire()))
    after = before.model_copy(deep=True)
    assert await client.merge_from(before, after) is after
    assert server.requests == []
    after.spec.colour, after.spec.size = None, 2
    after.status.observed_generation = 3
    await client.merge_from(before, after)
    await client.merge_from(before, after, lock=True)
    await client.merge_from(before, after, subresource="status")
    plain, locked, status_only = (seen.json() for seen in server.requests)
    assert plain == {"spec": {"size": 2, "colour": None}}
    assert locked == {**plain, "metadata": {"uid": "u", "resourceVersion": "7"}}
    assert status_only == {"status": {"observedGeneration": 3}}
    assert server.requests[2].path.endswith("/toys/a/status")


async def test_two_states_of_different_objects_are_no_patch(client: Client) -> None:
    one, other = Toy(name="a", spec=ToySpec()), Toy(name="b", spec=ToySpec())
    with pytest.raises(SchemaError, match=r"Toy a: metadata.name was changed from 'a' to 'b'"):
        await client.merge_from(one, other)
    changed = Toy(name="a", spec=ToySpec(size=9))
    with pytest.raises(SchemaError, match="no resourceVersion to lock by"):
        await client.merge_from(one, changed, lock=True)
