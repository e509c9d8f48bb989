# SPDX-License-Identifier: Apache-2.0
"""Reading objects into the cache."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dglop.errors import SchemaError
from dglop.runtime.api import Resource
from dglop.runtime.cache.entry import read_object

POD = Resource("", "v1", "Pod", "pods")
FULL: dict[str, Any] = {
    "metadata": {
        "name": "a",
        "namespace": "n",
        "uid": "u",
        "resourceVersion": "7",
        "generation": 2,
        "labels": {"x": "y"},
        "annotations": {"k": '{"managedFields":[]}'},
        "ownerReferences": [{"apiVersion": "v1", "kind": "J", "name": "j", "uid": "ju", "controller": True}],
        "finalizers": ["f"],
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "deletionTimestamp": None,
        "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {}}}],
    },
    "spec": {"containers": None, "newField": {"deep": [1, None]}},
    "status": {"phase": "Running"},
}


class PodStatus(msgspec.Struct):
    phase: str = ""


class PodView(msgspec.Struct):
    status: PodStatus


def compact(wire: Any) -> bytes:
    return json.dumps(wire, separators=(",", ":")).encode()


def without_managed(wire: dict[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in wire["metadata"].items() if key != "managedFields"}
    return {**wire, "metadata": metadata}


def test_metadata_is_decoded_and_the_rest_kept_as_bytes() -> None:
    obj, kind = read_object(compact({"kind": "Pod", **FULL}), POD)
    assert kind == "Pod"
    assert obj.key == ("n", "a")
    assert (obj.uid, obj.resource_version, obj.meta.generation) == ("u", "7", 2)
    assert obj.meta.labels == {"x": "y"}
    assert obj.controller_uid() == "ju"
    assert not obj.is_deleting
    assert obj.to_dict() == {"apiVersion": "v1", "kind": "Pod", **without_managed(FULL)}


@pytest.mark.parametrize("order", ["first", "last", "only"])
@pytest.mark.parametrize("spaces", [True, False])
def test_managed_fields_are_cut_out_wherever_they_stand(*, order: str, spaces: bool) -> None:
    managed = {"managedFields": [{"manager": "m"}]}
    name = {} if order == "only" else {"name": "a"}
    metadata = {**managed, **name} if order == "first" else {**name, **managed}
    wire = {"metadata": metadata, "spec": {"template": {"metadata": {"managedFields": [1]}}}}
    raw = json.dumps(wire).encode() if spaces else compact(wire)
    obj, _ = read_object(raw, POD)
    assert json.loads(obj.raw) == {**wire, "metadata": name}


def test_an_inner_object_with_fields_of_the_same_name_is_left_alone() -> None:
    inner = {"metadata": {"managedFields": [{"manager": "inner"}]}}
    wire = {"spec": inner, "metadata": {"name": "a", "managedFields": [{"manager": "outer"}]}}
    obj, _ = read_object(compact(wire), POD)
    assert json.loads(obj.raw) == {"spec": inner, "metadata": {"name": "a"}}


def test_the_page_an_object_came_in_is_not_kept_alive() -> None:
    page = msgspec.json.decode(b"[" + compact(FULL) + b"]", type=list[msgspec.Raw])
    obj, _ = read_object(page[0], POD)
    assert type(obj.raw) is bytes


def test_a_view_is_decoded_once_and_remembered() -> None:
    obj, _ = read_object(compact(FULL), POD)
    assert obj.view(PodView).status.phase == "Running"
    assert obj.view(PodView) is obj.view(PodView)
    other: object = obj.view(PodStatus)
    assert other is not obj.view(PodView)


def test_a_view_that_does_not_fit_says_which_object_and_where() -> None:
    obj, _ = read_object(compact({**FULL, "status": 5}), POD)
    with pytest.raises(SchemaError, match=r"Pod n/a at 7.*\$\.status"):
        obj.view(PodView)


def test_a_copy_may_be_changed_without_changing_the_cache() -> None:
    obj, _ = read_object(compact(FULL), POD)
    obj.to(POD)["metadata"]["name"] = "changed"
    assert obj.to(POD)["metadata"]["name"] == "a"


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [here] if here else []
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, each in children:
        found += paths(each, (*here, key))
    return found


@given(
    path=st.sampled_from(paths(FULL)),
    value=st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.just([]), st.just({})),
    drop=st.booleans(),
)
def test_no_odd_field_keeps_an_object_out_of_the_cache(path: tuple[Any, ...], value: Any, drop: bool) -> None:
    wire = json.loads(json.dumps(FULL))
    owner = wire
    for key in path[:-1]:
        owner = owner[key]
    if drop and isinstance(owner, dict):
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    obj, _ = read_object(compact(wire), POD)
    kept = json.loads(obj.raw)
    if isinstance(kept.get("metadata"), dict):
        kept["metadata"].pop("managedFields", None)
        wire["metadata"].pop("managedFields", None)
    assert kept == wire


def test_an_object_costs_little_more_memory_than_its_json() -> None:
    """Of a real pod the managedFields are a third, and a parsed one takes several times its text."""
    spec = {"containers": [{"name": f"c-{n}", "image": "x" * 60} for n in range(30)]}
    managed = [{"manager": "m", "fieldsV1": {f"f:{n}": {} for n in range(150)}}]
    lines = [
        compact(
            {
                **FULL,
                "metadata": {**FULL["metadata"], "name": f"a-{n}", "managedFields": managed},
                "spec": spec,
            }
        )
        for n in range(500)
    ]
    kept = len(compact({**without_managed(FULL), "spec": spec}))
    tracemalloc.start()
    objects = [read_object(line, POD)[0] for line in lines]
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(objects) == 500
    assert held / 500 < 1.2 * kept + 1000
