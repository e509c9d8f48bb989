# SPDX-License-Identifier: Apache-2.0
"""Objects that are nested deeper than Python decodes: an API server stores up to ten thousand levels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from dglop.errors import SchemaError
from dglop.runtime import api
from dglop.runtime.api import CustomResource, Resource
from dglop.runtime.api.outline import cut, outline
from dglop.runtime.cache import CacheOptions, KindOptions, without
from dglop.runtime.cache.consistency import differences_now
from dglop.runtime.cache.entry import read_object
from dglop.runtime.client.convert import decode, page_of
from dglop.runtime.webhook.authentication import read_token_review
from dglop.runtime.webhook.conversion import read_conversion
from dglop.runtime.webhook.review import read_review
from dglop.testing.scripted_cache import pod
from dglop.testing.scripted_replies import bookmark, event, stream
from test.unit.runtime.cache.informers import POD, started

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.client import Client
    from dglop.testing.scripted import Exchange, Reply, ScriptedServer

LEVELS = 9000
HOLE = {"here": "goes the deep part"}
WRITTEN = json.dumps(HOLE, separators=(",", ":")).encode()
SHAPES = {"maps": b'{"a":' * LEVELS + b"1" + b"}" * LEVELS, "lists": b"[" * LEVELS + b"]" * LEVELS}


def deepened(line: bytes, part: bytes = SHAPES["maps"]) -> bytes:
    return line.replace(WRITTEN, part)


def deep_pod(name: str, rv: int) -> dict[str, Any]:
    wire = pod(name, rv, spec={"near": 1, "far": HOLE})
    wire["metadata"]["managedFields"] = [{"fieldsV1": HOLE}]
    return wire


def wire_bytes(wire: Any) -> bytes:
    return json.dumps(wire, separators=(",", ":")).encode()


def listed(*objects: dict[str, Any], rv: str) -> Reply:
    """A page of a list with the deep parts in it."""
    body = deepened(wire_bytes({"kind": "PodList", "metadata": {"resourceVersion": rv}, "items": objects}))

    async def reply(exchange: Exchange) -> None:
        await exchange.send(200, body, {"Content-Type": "application/json"})

    return reply


class Spec(msgspec.Struct):
    near: int


class Near(msgspec.Struct):
    spec: Spec


@pytest.mark.parametrize("shape", SHAPES)
def test_metadata_and_what_lies_further_out_of_a_deep_object_are_read(shape: str) -> None:
    obj, kind = read_object(deepened(wire_bytes(deep_pod("a", 5)), SHAPES[shape]), POD)
    assert (kind, obj.key, obj.uid, obj.resource_version) == ("Pod", ("n", "a"), "uid-a", "5")
    assert obj.view(Near).spec.near == 1
    assert obj.to_dict()["spec"]["near"] == 1
    assert b"managedFields" not in obj.raw
    with pytest.raises(SchemaError, match=r"Pod n/a at 5> cannot be read, .* nested deeper than Python"):
        obj.to(POD)


def test_a_text_with_brackets_and_quotes_is_no_nesting() -> None:
    wire = {"a": '{"[\\" ]}' * 50, "b": [{"c\\": [1, {}]}, "x\n"], "d": {}}
    assert json.loads(outline(wire_bytes(wire), 9)) == wire
    rest, parts = cut(wire_bytes(wire), 1)
    assert json.loads(rest) == {"a": wire["a"], "b": None, "d": None}
    assert [json.loads(part) for part in parts] == [wire["b"], wire["d"]]


def test_a_page_of_which_one_item_is_deep_has_the_others_too() -> None:
    wire = {"metadata": {"resourceVersion": "7", "continue": "x"}, "items": [pod("a", 1), deep_pod("b", 2)]}
    page = page_of(deepened(wire_bytes(wire)))
    assert (page.metadata.resource_version, page.metadata.continue_) == ("7", "x")
    assert [read_object(raw, POD)[0].name for raw in page.items or ()] == ["a", "b"]
    odd = {"metadata": {}, "items": [1, HOLE]}
    with pytest.raises(msgspec.DecodeError, match="no objects"):
        page_of(deepened(wire_bytes(odd)))


@pytest.mark.scripted
async def test_an_informer_keeps_deep_objects_beside_the_others(
    server: ScriptedServer, make_cache: Any, client: Client
) -> None:
    changed, added, plain = deep_pod("b", 11), deep_pod("c", 12), pod("d", 13)
    server.lists(
        listed(pod("a", 1), deep_pod("b", 2), rv="10"), listed(pod("a", 1), changed, added, plain, rv="14")
    )
    changes = (event("MODIFIED", changed), event("ADDED", added), event("ADDED", plain))
    server.watches(stream(*map(deepened, changes)))
    informer, hearer = await started(make_cache(streams=False))
    await hearer.until("+d@13")
    assert hearer.heard == ["+a@1!", "+b@2!", "~b@2>11", "+c@12", "+d@13"]
    assert await differences_now(client, informer) == set()


@pytest.mark.scripted
async def test_a_deep_object_among_initial_events_is_kept(server: ScriptedServer, make_cache: Any) -> None:
    lines = [deepened(event("ADDED", deep_pod("b", 2))), bookmark("10", ends_initial=True)]
    server.watches(stream(*lines, event("ADDED", pod("d", 13))))
    _, hearer = await started(make_cache(streams=True))
    await hearer.until("+d@13")
    assert hearer.heard == ["+b@2!", "+d@13"]


@pytest.mark.scripted
@pytest.mark.parametrize(
    "options", [KindOptions(transform=without("spec.near")), KindOptions(metadata_only=True)]
)
async def test_transforms_and_metadata_take_deep_objects_and_do_not_hide_that_they_are(
    server: ScriptedServer, make_cache: Any, options: KindOptions
) -> None:
    server.lists(listed(deep_pod("b", 2), rv="10"))
    server.watches(stream())
    cache = make_cache(streams=False, options=CacheOptions(kinds={POD: options}))
    informer, hearer = await started(cache)
    await hearer.until("+b@2!")
    (obj,) = informer.store.list()
    if options.transform:
        assert "near" not in obj.to_dict()["spec"]
        with pytest.raises(SchemaError, match="nested deeper"):
            obj.to(POD)


@pytest.mark.parametrize("read", [read_review, read_conversion, read_token_review])
def test_a_webhook_refuses_a_review_that_is_too_deep_in_a_sentence(read: Callable[[bytes], object]) -> None:
    with pytest.raises(SchemaError, match=r"the body is no .*Review: maximum recursion depth"):
        read(deepened(wire_bytes({"request": {"object": HOLE}, "spec": HOLE})))


def test_a_client_reads_no_deep_object_and_says_why() -> None:
    class Wide(CustomResource[api.Spec, api.Status], group="example.dev", version="v1"):
        pass

    body = deepened(wire_bytes({**deep_pod("a", 5), "kind": "Wide"}))
    with pytest.raises(SchemaError, match=r"Wide n/a: .*recursion"):
        decode(Wide, body)
    with pytest.raises(SchemaError, match="nested deeper than Python decodes"):
        decode(Resource("example.dev", "v1", "Wide", "wides"), body)
