# SPDX-License-Identifier: Apache-2.0
"""Claiming and releasing, by Kubernetes' own rules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from dglop.errors import ConflictError
from dglop.runtime.api import CustomResource, Resource, Spec, Status
from dglop.runtime.cache.entry import Cached, read_object
from dglop.runtime.claim import Claim, Claims, claim_of, labels_match
from dglop.testing.scripted_replies import answer, status

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.testing.scripted import ScriptedServer, Seen

POD = Resource("", "v1", "Pod", "pods")
WIDGET = Resource("example.dev", "v1", "Widget", "widgets")
LABELS = {"app": "toy"}


class Toy(CustomResource[Spec, Status], group="example.dev", version="v1"):
    """A toy."""


def make_toy(*, deleting: bool = False) -> Toy:
    metadata: dict[str, Any] = {"name": "t", "namespace": "n", "uid": "owner"}
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return Toy.from_wire({"metadata": metadata, "spec": {}})


def make_child(
    name: str = "a",
    *,
    owner: str | None = None,
    labels: dict[str, str] = LABELS,
    deleting: bool = False,
    resource: Resource = POD,
) -> Cached:
    metadata: dict[str, Any] = {"name": name, "namespace": "n", "uid": f"uid-{name}", "resourceVersion": "7"}
    metadata["labels"] = labels
    if owner:
        reference = {"apiVersion": "example.dev/v1", "kind": "Toy", "name": "t", "uid": owner}
        metadata["ownerReferences"] = [{**reference, "controller": True}]
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return read_object(json.dumps({"metadata": metadata}).encode(), resource)[0]


@pytest.mark.parametrize(
    ("child", "matches", "owner_deleting", "wanted"),
    [
        (make_child(owner="another"), True, False, Claim.IGNORE),
        (make_child(owner="owner"), True, False, Claim.KEEP),
        (make_child(owner="owner"), True, True, Claim.KEEP),
        (make_child(owner="owner"), False, False, Claim.RELEASE),
        (make_child(owner="owner"), False, True, Claim.IGNORE),
        (make_child(), True, False, Claim.ADOPT),
        (make_child(), True, True, Claim.IGNORE),
        (make_child(), False, False, Claim.IGNORE),
        (make_child(deleting=True), True, False, Claim.IGNORE),
        (make_child(owner="owner", deleting=True), True, False, Claim.KEEP),
    ],
)
def test_what_becomes_of_an_object(
    child: Cached, *, matches: bool, owner_deleting: bool, wanted: Claim
) -> None:
    assert claim_of(child, "owner", matches=matches, is_owner_deleting=owner_deleting) is wanted


def _owner(uid: str = "owner", **more: str) -> Any:
    return answer({"metadata": {"name": "t", "namespace": "n", "uid": uid, **more}})


def _is_patch(seen: Seen) -> bool:
    return seen.method == "PATCH"


async def _claim(client: Client, *children: Cached, toy: Toy | None = None) -> list[str]:
    claims = Claims(client, toy or make_toy(), labels_match(LABELS))
    return [each.name for each in await claims.claim(children)]


@pytest.mark.scripted
async def test_orphans_are_adopted_after_one_live_look_at_the_owner(
    server: ScriptedServer, client: Client
) -> None:
    server.on(_is_patch, answer({}))
    server.lists(_owner())
    children = (make_child("a"), make_child("b"), make_child("c", owner="another"))
    assert await _claim(client, *children) == ["a", "b"]
    look, first, _ = server.requests
    assert look.path == "/apis/example.dev/v1/namespaces/n/toys/t"
    assert first.headers["content-type"] == "application/strategic-merge-patch+json"
    reference = {
        "apiVersion": "example.dev/v1",
        "kind": "Toy",
        "name": "t",
        "uid": "owner",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    assert first.json() == {"metadata": {"uid": "uid-a", "ownerReferences": [reference]}}


@pytest.mark.scripted
@pytest.mark.parametrize(
    "look",
    [_owner("a later life"), _owner(deletionTimestamp="2026-01-01T00:00:00Z"), status(404, "NotFound")],
    ids=["other uid", "deleting", "gone"],
)
async def test_an_owner_that_is_gone_or_another_adopts_nothing(
    server: ScriptedServer, client: Client, look: Any
) -> None:
    server.lists(look)
    assert await _claim(client, make_child("a"), make_child("b")) == []
    assert len(server.requests) == 1


@pytest.mark.scripted
async def test_what_no_longer_matches_is_let_go_without_a_look(
    server: ScriptedServer, client: Client
) -> None:
    server.on(_is_patch, answer({}))
    assert await _claim(client, make_child(owner="owner", labels={})) == []
    (seen,) = server.requests
    assert seen.json()["metadata"]["ownerReferences"] == [{"$patch": "delete", "uid": "owner"}]


@pytest.mark.scripted
async def test_custom_children_are_changed_only_in_the_state_that_was_seen(
    server: ScriptedServer, client: Client
) -> None:
    server.on(_is_patch, answer({}))
    await _claim(client, make_child(owner="owner", labels={}, resource=WIDGET))
    (seen,) = server.requests
    assert seen.headers["content-type"] == "application/merge-patch+json"
    assert seen.json() == {"metadata": {"uid": "uid-a", "ownerReferences": None, "resourceVersion": "7"}}


@pytest.mark.scripted
@pytest.mark.parametrize(
    "reply",
    [
        status(404, "NotFound"),
        status(422, "Invalid", "only one reference can have Controller set to true"),
        status(409, "Conflict", "Precondition failed: UID in precondition: x, UID in object meta: y"),
    ],
    ids=["gone", "taken", "another"],
)
async def test_an_orphan_that_was_lost_meanwhile_is_no_error(
    server: ScriptedServer, client: Client, reply: Any
) -> None:
    server.on(_is_patch, reply)
    server.lists(_owner())
    assert await _claim(client, make_child()) == []


@pytest.mark.scripted
async def test_an_orphan_that_changed_meanwhile_is_a_conflict(server: ScriptedServer, client: Client) -> None:
    server.on(_is_patch, status(409, "Conflict", "the object has been modified"))
    server.lists(_owner())
    with pytest.raises(ConflictError):
        await _claim(client, make_child("fluid"))


@pytest.mark.scripted
async def test_an_owner_on_its_way_out_sends_nothing(server: ScriptedServer, client: Client) -> None:
    children = (make_child("a"), make_child("b", owner="owner", labels={}), make_child("c", owner="owner"))
    assert await _claim(client, *children, toy=make_toy(deleting=True)) == ["c"]
    assert server.requests == []
