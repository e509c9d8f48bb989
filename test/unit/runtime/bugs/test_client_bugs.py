# SPDX-License-Identifier: Apache-2.0
"""Bugs 15 to 19 of docs/bugs.md: what the client leaves behind, and what it makes of objects.

For 15 to 17 only wall time shows the symptom, and `make bench` prints it; here the cause is looked at.
"""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import threading
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.aio.client import Configuration, V1Deployment, V1Pod

from dglop.errors import ConflictError, ServerError
from dglop.runtime.cache.entry import read_object
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.upsert import create_or_patch
from dglop.testing.builders import pod_template
from dglop.testing.clock import yield_to_tasks
from dglop.testing.scripted_cache import pod
from dglop.testing.scripted_replies import answer, event, items, status, stream, text
from test.unit.runtime.cache.informers import POD, started
from test.unit.runtime.client.test_credentials import WIRE, anything, open_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.testing.scripted import ScriptedServer


def own_tasks() -> int:
    """This loop's tasks without those of the server at the other end."""
    return sum("ScriptedServer" not in repr(each.get_coro()) for each in asyncio.all_tasks())


@pytest.mark.scripted
async def test_bug_15_clients_and_watches_leave_no_thread_task_or_file_behind(server: ScriptedServer) -> None:
    """Every client had a pool of threads, and exit hung: kubernetes-client/python#411, #545, #1037."""
    server.watches(stream(b"1\n"))
    server.on(anything, answer(WIRE))

    async def use() -> None:
        async with await Client.connect(ClientConfig(host=server.url)) as client:
            await client.get(POD, "a")
            lines = client.stream("/w", query={"watch": "true"}, read_idle=9)
            assert await anext(lines) == b"1"
            await lines.aclose()

    await use()
    before = threading.active_count(), own_tasks(), await settled_files()
    for _ in range(25):
        await use()
    assert (threading.active_count(), own_tasks(), await settled_files()) == before
    assert all(each.daemon for each in threading.enumerate() if each is not threading.main_thread())


async def settled_files() -> int:
    """Open files once the server's side, too, has seen the ends of its connections."""
    seen = -1
    while seen != (seen := open_files()):
        await yield_to_tasks()
    return seen


def alive_answers() -> int:
    gc.collect()
    return sum(isinstance(each, aiohttp.ClientResponse) for each in gc.get_objects())


@pytest.mark.scripted
async def test_bug_16_every_answer_is_released_whatever_it_says(
    server: ScriptedServer, client: Client
) -> None:
    """Memory grew with every PATCH: kopf#1172."""
    good, refused = answer(WIRE, headers={"Set-Cookie": "a=b"}), status(409, "Conflict", "x" * 1000)
    server.on(anything, *[good, refused] * 25, good)
    for _ in range(25):
        assert await client.patch(POD, "a", "n", {}) == WIRE
        with pytest.raises(ConflictError):
            await client.patch(POD, "a", "n", {})
    assert server.connections == 1
    assert "cookie" not in server.requests[-1].headers
    assert alive_answers() == 0


@pytest.mark.scripted
async def test_bug_16_an_error_too_long_to_be_read_to_its_end_costs_its_connection_and_nothing_else(
    server: ScriptedServer, client: Client
) -> None:
    server.on(anything, text("x" * 3_000_000, 500))
    before = open_files()
    for _ in range(20):
        with pytest.raises(ServerError):
            await client.patch(POD, "a", "n", {})
    await yield_to_tasks()
    assert await settled_files() <= before + 1
    assert alive_answers() == 0


@pytest.mark.scripted
async def test_bug_17_reading_objects_makes_no_configuration_and_no_model(
    server: ScriptedServer, make_cache: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decoding took a lock and a copied Configuration an object: kubernetes-client/python#1867."""
    made: list[str] = []

    def counting(kind: type) -> None:
        original = kind.__init__  # type: ignore[misc]

        def count(self: Any, *arguments: Any, **named: Any) -> None:
            made.append(kind.__name__)
            original(self, *arguments, **named)

        monkeypatch.setattr(kind, "__init__", count)

    for kind in (Configuration, V1Pod):
        counting(kind)
    server.lists(items([pod(f"p-{number}", 5) for number in range(500)], "10"))
    server.watches(stream(*(event("MODIFIED", pod(f"p-{number}", 11 + number)) for number in range(500))))
    informer, hearer = await started(make_cache(streams=False))
    await hearer.until("~p-499@5>510")
    assert len(informer.store) == 500
    assert made == []


OBJECT: dict[str, Any] = {
    "kind": "Pod",
    "apiVersion": "v1",
    **pod_template(),
    "metadata": {
        "name": "a",
        "namespace": "n",
        "uid": "u",
        "resourceVersion": "7",
        "generation": 2,
        "labels": {"x": "y"},
        "annotations": {"k": "v"},
        "finalizers": ["f"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "J", "name": "j", "uid": "ju", "controller": True}],
        "creationTimestamp": "2026-01-01T00:00:00Z",
    },
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
}
Path = tuple[str | int, ...]


def paths(wire: Any, at: Path = ()) -> Iterator[Path]:
    pairs = wire.items() if isinstance(wire, dict) else enumerate(wire) if isinstance(wire, list) else ()
    for key, value in pairs:
        yield (*at, key)
        yield from paths(value, (*at, key))


def damaged(path: Path, how: str) -> dict[str, Any]:
    wire = copy.deepcopy(OBJECT)
    place: Any = wire
    for key in path[:-1]:
        place = place[key]
    if how == "null":
        place[path[-1]] = None
    elif how == "drop":
        del place[path[-1]]
    elif how == "extend" and isinstance(place, dict):
        place["newField"] = {"deep": [1, None]}
    else:
        place[path[-1]] = [{"other": 1.5}]
    return wire


@given(path=st.sampled_from(list(paths(OBJECT))), how=st.sampled_from(["null", "drop", "extend", "retype"]))
def test_bug_18_an_object_that_no_model_takes_is_cached_as_it_came(path: Path, how: str) -> None:
    """A null for a required list made a whole list unusable: kubernetes-client/python#376, #2214, #1494."""
    wire = damaged(path, how)
    found, _ = read_object(json.dumps(wire, separators=(",", ":")).encode(), POD)
    assert json.loads(found.raw) == wire


@pytest.mark.scripted
async def test_bug_19_fields_that_no_model_knows_survive_an_update(
    server: ScriptedServer, client: Client
) -> None:
    """They were dropped when read and lost with the next replace; so nothing that was parsed is put back."""
    containers = [{"name": "x", "image": "one", "newField": 1}, {"name": "y"}]
    template = {"spec": {"containers": containers, "newPolicy": "z"}}
    spec = {"selector": {}, "template": template, "newStrategy": {"a": 1}}
    metadata = {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "7"}
    held = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}
    server.on(anything, answer(held))
    wanted = V1Deployment.from_dict(held)
    assert wanted is not None

    def change(found: V1Deployment) -> None:
        found.spec.template.spec.containers[0].image = "two"
        found.spec.replicas = 3

    await create_or_patch(client, wanted, change)
    before = await client.get(V1Deployment, "a", "n")
    after = copy.deepcopy(before)
    after.spec.replicas = 4
    await client.merge_from(before, after)
    first, second = [seen for seen in server.requests if seen.method != "GET"]
    changed = [{"name": "x", "image": "two", "newField": 1}, {"name": "y"}]
    assert first.json() == {"spec": {"replicas": 3, "template": {"spec": {"containers": changed}}}}
    assert second.json() == {"spec": {"replicas": 4}}
    assert {(each.method, each.headers["content-type"]) for each in (first, second)} == {
        ("PATCH", "application/merge-patch+json")
    }
