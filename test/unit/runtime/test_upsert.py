# SPDX-License-Identifier: Apache-2.0
"""Create or patch: what is sent, and what is said to have been done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1Deployment

from dglop.errors import ConflictError, SchemaError
from dglop.runtime.api import CustomResource, Spec, Status
from dglop.runtime.upsert import Upsert, create_or_patch, create_or_update
from dglop.testing.scripted_replies import answer, status

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.testing.scripted import ScriptedServer

pytestmark = pytest.mark.scripted


class ToySpec(Spec):
    size: int = 1
    colour: str = "red"


class Toy(CustomResource[ToySpec, Status], group="example.dev", version="v1"):
    """A toy."""


METADATA = {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "7"}
HELD = {
    "apiVersion": "example.dev/v1",
    "kind": "Toy",
    "metadata": METADATA,
    "spec": {"size": 1, "unknown": {"to": "us"}},
}


def make_toy(size: int = 1) -> Toy:
    return Toy(name="a", namespace="n", spec=ToySpec(size=size))


def _grow(toy: Toy) -> None:
    toy.spec.size = 2


async def test_what_is_missing_is_created_as_the_change_has_it(
    server: ScriptedServer, client: Client
) -> None:
    server.lists(status(404, "NotFound"))
    server.on(lambda seen: seen.method == "POST", answer({**HELD, "spec": {"size": 2}}))
    made, done = await create_or_patch(client, make_toy(), _grow)
    assert done is Upsert.CREATED
    assert made.uid == "u"
    assert server.requests[1].json()["spec"] == {"size": 2, "colour": "red"}


async def test_a_status_follows_the_creation(server: ScriptedServer, client: Client) -> None:
    server.lists(status(404, "NotFound"))
    server.on(lambda _: True, answer(HELD))

    async def observe(toy: Toy) -> None:
        toy.status.observed_generation = 1

    _, done = await create_or_patch(client, make_toy(), observe)
    assert done is Upsert.CREATED
    assert server.requests[2].path.endswith("/toys/a/status")
    assert server.requests[2].json() == {"metadata": {"uid": "u"}, "status": {"observedGeneration": 1}}


async def test_what_is_as_wanted_is_left_alone(server: ScriptedServer, client: Client) -> None:
    server.lists(answer(HELD))
    found, done = await create_or_patch(client, make_toy(), lambda _: None)
    assert (done, found.uid) == (Upsert.UNCHANGED, "u")
    assert len(server.requests) == 1


async def test_only_the_change_is_sent(server: ScriptedServer, client: Client) -> None:
    server.on(lambda _: True, answer(HELD))
    _, done = await create_or_patch(client, make_toy(), _grow)
    assert done is Upsert.UPDATED
    assert server.requests[1].json() == {"spec": {"size": 2}}


async def test_an_update_holds_only_for_the_state_that_was_read(
    server: ScriptedServer, client: Client
) -> None:
    server.lists(answer(HELD))
    server.on(lambda _: True, status(409, "Conflict"))
    with pytest.raises(ConflictError):
        await create_or_update(client, make_toy(), _grow)
    assert server.requests[1].json()["metadata"] == {"uid": "u", "resourceVersion": "7"}


@pytest.mark.parametrize("locked", [False, True])
async def test_spec_and_status_are_two_writes_and_status_alone_is_one(
    server: ScriptedServer, client: Client, *, locked: bool
) -> None:
    after = {**HELD, "metadata": {**METADATA, "resourceVersion": "8"}}
    server.lists(answer(HELD))
    server.on(lambda _: True, answer(after))
    upsert = create_or_update if locked else create_or_patch

    def observe(toy: Toy) -> None:
        toy.status.observed_generation = 1

    def both(toy: Toy) -> None:
        toy.spec.size = 2
        observe(toy)

    assert (await upsert(client, make_toy(), observe))[1] is Upsert.UPDATED_STATUS_ONLY
    assert (await upsert(client, make_toy(), both))[1] is Upsert.UPDATED_STATUS
    alone, first, second = (seen.json() for seen in server.requests if seen.method == "PATCH")
    assert alone["status"] == second["status"] == {"observedGeneration": 1}
    assert "status" not in first
    if locked:
        assert alone["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"] == "7"
        assert second["metadata"]["resourceVersion"] == "8"


async def test_fields_that_the_model_does_not_know_survive_in_a_list_that_changed(
    server: ScriptedServer, client: Client
) -> None:
    template = {"spec": {"containers": [{"name": "x", "image": "one", "newField": 1}, {"name": "y"}]}}
    spec = {"selector": {}, "template": template}
    held = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": METADATA, "spec": spec}
    server.on(lambda _: True, answer(held))

    def change(found: V1Deployment) -> None:
        found.spec.template.spec.containers[0].image = "two"

    wanted = V1Deployment.from_dict({**held, "metadata": {"name": "a", "namespace": "n"}})
    assert wanted is not None
    _, done = await create_or_patch(client, wanted, change)
    assert done is Upsert.UPDATED
    containers = [{"name": "x", "image": "two", "newField": 1}, {"name": "y"}]
    assert server.requests[1].json() == {"spec": {"template": {"spec": {"containers": containers}}}}


async def test_wire_dicts_are_taken_too(server: ScriptedServer, client: Client) -> None:
    held = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": METADATA, "data": {"a": "1"}}
    server.on(lambda _: True, answer(held))
    wire: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    _, done = await create_or_patch(client, wire, lambda found: found["data"].pop("a"))
    assert done is Upsert.UPDATED
    assert server.requests[1].json() == {"data": {"a": None}}


async def test_the_change_may_not_make_it_another_object(server: ScriptedServer, client: Client) -> None:
    def rename(toy: Toy) -> None:
        toy.metadata.name = "b"

    server.lists(status(404, "NotFound"), answer(HELD))
    with pytest.raises(SchemaError, match="its name or namespace was changed"):
        await create_or_patch(client, make_toy(), rename)
    with pytest.raises(SchemaError, match=r"metadata\.name was changed from 'a' to 'b'"):
        await create_or_patch(client, make_toy(), rename)
    with pytest.raises(SchemaError, match=r"metadata\.name is missing"):
        await create_or_patch(client, Toy(spec=ToySpec()), _grow)
