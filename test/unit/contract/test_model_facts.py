# SPDX-License-Identifier: Apache-2.0
"""The official models, as far as users may hand them to us and get them back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from dglop.runtime.api.builtin import BUILTIN
from test.unit.contract.facts import official, relied_on, stood_in

KNOWN = "runtime/api/resource.py: resource_of"
READ = "runtime/client/convert.py: typed"
WRITTEN = "runtime/client/convert.py: wire_of"
OWNED = "runtime/api/ownership.py: _put"
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "n", "uid": "u", "creationTimestamp": "2026-01-02T03:04:05Z"},
    "spec": {"nodeName": "x", "containers": [{"name": "c", "env": [{"name": "A", "value": "1"}]}]},
}
REFERENCE = {"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u", "controller": True}


@pytest.mark.parametrize("name", BUILTIN)
def test_every_kind_that_we_know_by_name_is_a_model(name: str) -> None:
    with relied_on(f"{name} is a class of kubernetes.aio.client, of a module kubernetes.*", by=KNOWN):
        model = getattr(official(), name)
        assert isinstance(model, type)
        assert model.__module__.startswith("kubernetes.")
        assert model.__name__ == name


@pytest.mark.parametrize("name", BUILTIN)
def test_a_model_looks_like_no_kind_of_ours(name: str) -> None:
    with relied_on(f"{name} has no to_wire, from_wire or resource, by which we know our own", by=READ):
        model = getattr(official(), name)
        assert [each for each in ("to_wire", "from_wire", "resource") if hasattr(model, each)] == []


@pytest.mark.parametrize("name", BUILTIN)
def test_a_model_has_the_head_of_an_object(name: str) -> None:
    with relied_on(
        f"{name}.from_dict takes apiVersion, kind and metadata, model_dump gives them", by=WRITTEN
    ):
        fields = getattr(official(), name).model_fields
        assert [each for each in ("api_version", "kind", "metadata") if each not in fields] == []


def test_a_model_is_read_from_and_written_to_a_wire_dict() -> None:
    with relied_on("from_dict and model_dump(by_alias, exclude_none) are the two ways of one", by=WRITTEN):
        pod = official().V1Pod.from_dict(POD)
        assert issubclass(type(pod), BaseModel)
        wire = pod.model_dump(by_alias=True, exclude_none=True)
        at = wire["metadata"].pop("creationTimestamp")
        assert at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        assert {**wire, "metadata": {**wire["metadata"], "creationTimestamp": "2026-01-02T03:04:05Z"}} == POD


def test_a_model_is_made_by_keywords_and_changed_by_assignment() -> None:
    with relied_on("models are made by snake_case keywords, and their attributes assigned", by=WRITTEN):
        client = official()
        thing = client.V1ConfigMap(metadata=client.V1ObjectMeta(generate_name="a-"), data={"a": "b"})
        thing.metadata.labels = {"x": "y"}
        assert thing.model_dump(by_alias=True, exclude_none=True) == {
            "metadata": {"generateName": "a-", "labels": {"x": "y"}},
            "data": {"a": "b"},
        }


def test_names_that_python_keeps_for_itself_come_out_right() -> None:
    with relied_on("by_alias gives `from` for `_from` and its like", by=WRITTEN):
        rule = {"from": [{"podSelector": {"matchLabels": {"a": "b"}}}]}
        wire = {"metadata": {"name": "a"}, "spec": {"podSelector": {}, "ingress": [rule]}}
        policy = official().V1NetworkPolicy.from_dict(wire)
        assert policy.model_dump(by_alias=True, exclude_none=True) == wire


def test_metadata_has_the_attributes_that_we_look_at() -> None:
    with relied_on(
        "metadata has name, generate_name, namespace, uid and owner_references", by="runtime/api/meta.py: uid"
    ):
        metadata = official().V1Pod.from_dict(POD).metadata
        assert (metadata.name, metadata.namespace, metadata.uid) == ("a", "n", "u")
        assert (metadata.generate_name, metadata.owner_references) == (None, None)


def test_owner_references_are_models_and_come_back_as_such() -> None:
    with relied_on("metadata's own class has from_dict, and its references model_dump", by=OWNED):
        pod = official().V1Pod.from_dict(POD)
        pod.metadata = type(pod.metadata).from_dict({"name": "a", "ownerReferences": [REFERENCE]})
        (found,) = pod.metadata.owner_references
        assert found.model_dump(by_alias=True, exclude_none=True) == REFERENCE


def test_what_does_not_fit_is_pydantics_error_with_type_input_and_place() -> None:
    with relied_on("a misfit is a pydantic ValidationError whose errors have loc, msg, type, input", by=READ):
        with pytest.raises(ValidationError) as caught:
            official().V1Pod.from_dict({**POD, "spec": {**POD["spec"], "nodeName": 5}})
        (problem,) = caught.value.errors(include_url=False)
        assert (problem["loc"][-1], problem["type"], problem["input"]) == ("nodeName", "string_type", 5)


def test_a_null_for_a_required_list_is_refused() -> None:
    trap = "from_dict refuses a null for a required list, which Go's servers may send"
    with stood_in(trap, by="runtime/client/convert.py: _without_null_lists"):
        with pytest.raises(ValidationError) as caught:
            official().V1Pod.from_dict({**POD, "spec": {"containers": None}})
        (problem,) = caught.value.errors(include_url=False)
        assert (problem["loc"][-1], problem["type"], problem["input"]) == ("containers", "list_type", None)


def test_a_null_for_a_required_map_is_refused() -> None:
    trap = "from_dict refuses a null for a required map"
    with stood_in(trap, by="runtime/client/convert.py: _without_null_lists"):
        with pytest.raises(ValidationError) as caught:
            official().V1WatchEvent.from_dict({"type": "ADDED", "object": None})
        (problem,) = caught.value.errors(include_url=False)
        assert (problem["type"], problem["input"]) == ("dict_type", None)


def test_fields_that_a_model_does_not_know_are_dropped() -> None:
    trap = "from_dict drops what the model does not know, so nothing that was parsed may be put back"
    with stood_in(trap, by="runtime/upsert.py: create_or_update"):
        pod = official().V1Pod.from_dict({**POD, "spec": {**POD["spec"], "newField": 1}})
        assert "newField" not in pod.model_dump(by_alias=True, exclude_none=True)["spec"]


def test_times_are_dumped_as_datetimes_and_not_as_the_server_wants_them() -> None:
    trap = "model_dump leaves times as datetimes, and its JSON mode has no MicroTime"
    with stood_in(trap, by="runtime/client/convert.py: _plain"):
        client = official()
        at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        lease = client.V1Lease(metadata=client.V1ObjectMeta(name="a"), spec=client.V1LeaseSpec(renew_time=at))
        assert lease.model_dump(by_alias=True, exclude_none=True)["spec"] == {"renewTime": at}
        said = lease.model_dump(by_alias=True, exclude_none=True, mode="json")["spec"]["renewTime"]
        assert said != "2026-01-02T03:04:05.000000Z"
