# SPDX-License-Identifier: Apache-2.0
"""One's own kinds: wire form, tolerance, errors."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import Field

from dglop.errors import ConfigError, SchemaError
from dglop.runtime.api import CustomResource, IntOrString, Quantity, Raw, Resource, Spec, Status, resource_of

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


class InnerSpec(Spec):
    max_size: int = 3


class ThingSpec(Spec):
    text: str
    inner: InnerSpec = Field(default_factory=InnerSpec)
    port: IntOrString | None = None
    memory: Quantity | None = None
    template: Raw = Field(default_factory=dict)


class Thing(CustomResource[ThingSpec, Status], group="example.dev", version="v1"):
    """A thing."""


def wire(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", "namespace": "b"}, "spec": {"text": "hi", **spec}}


def test_a_kind_knows_its_resource_from_the_class_keywords() -> None:
    assert Thing.resource == Resource("example.dev", "v1", "Thing", "things")
    assert Thing(name="a", spec=ThingSpec(text="hi")).resource is Thing.resource


def test_name_and_namespace_are_short_for_metadata() -> None:
    thing = Thing(name="a", namespace="b", metadata={"labels": {"x": "y"}}, spec=ThingSpec(text="hi"))
    assert (thing.name, thing.namespace, thing.labels) == ("a", "b", {"x": "y"})


def test_labels_and_annotations_are_short_for_metadata_too_and_what_is_not_taken_is_an_error() -> None:
    made = Thing(name="a", labels={"team": "red"}, annotations={"why": "so"}, spec=ThingSpec(text="hi"))
    assert (made.labels, made.annotations) == ({"team": "red"}, {"why": "so"})
    assert made.to_wire()["metadata"] == {"name": "a", "labels": made.labels, "annotations": made.annotations}
    with pytest.raises(ValueError, match=r"Thing takes no lables; it takes name, namespace, labels"):
        Thing(name="a", lables={"team": "red"}, spec=ThingSpec(text="hi"))


def test_the_wire_form_is_camel_case_without_nulls_and_without_an_empty_status() -> None:
    assert Thing(name="a", spec=ThingSpec(text="hi")).to_wire() == {
        "apiVersion": "example.dev/v1",
        "kind": "Thing",
        "metadata": {"name": "a"},
        "spec": {"text": "hi", "inner": {"maxSize": 3}, "template": {}},
    }


@pytest.mark.parametrize("as_bytes", [True, False])
def test_nulls_and_unknown_fields_from_the_server_are_taken(as_bytes: bool) -> None:
    given = {**wire(inner=None, port=None, unknown={"x": 1}), "status": None}
    thing = Thing.from_wire(json.dumps(given).encode() if as_bytes else given)
    assert thing.spec == ThingSpec(text="hi")
    assert thing.status == Status()


def test_metadata_fields_without_a_name_here_are_kept() -> None:
    given = wire()
    given["metadata"] |= {"selfLink": "/x", "labels": None, "managedFields": [{"manager": "x"}]}
    assert Thing.from_wire(given).to_wire()["metadata"] == {"name": "a", "namespace": "b", "selfLink": "/x"}


def test_a_misfit_is_reported_with_object_and_path() -> None:
    with pytest.raises(SchemaError, match=r"Thing b/a: spec\.inner\.maxSize: .*integer"):
        Thing.from_wire(wire(inner={"maxSize": "many"}))


def test_a_missing_spec_is_reported_by_what_it_lacks() -> None:
    with pytest.raises(SchemaError, match=r"spec\.text: Field required"):
        Thing.from_wire({"metadata": {"name": "a"}})


def test_an_unquoted_quantity_in_a_raw_template_passes_unchanged() -> None:
    template = {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}, "x": None}]}}
    assert Thing.from_wire(wire(template=template)).to_wire()["spec"]["template"] == template


def test_a_quantity_written_as_a_number_is_its_text() -> None:
    assert Thing.from_wire(wire(memory=2)).spec.memory == "2"


def test_a_condition_keeps_its_transition_time_until_its_status_changes() -> None:
    status = Status()
    status.set("Ready", False, reason="Waiting", now=NOW)
    status.set("Ready", False, reason="StillWaiting", now=NOW + timedelta(hours=1))
    found = status.get("Ready")
    assert found is not None
    assert (found.reason, found.last_transition_time) == ("StillWaiting", NOW.replace(microsecond=0))
    status.set("Ready", True, reason="Done", now=NOW + timedelta(hours=2))
    assert status.is_true("Ready")
    found = status.get("Ready")
    assert found is not None
    assert found.last_transition_time == NOW.replace(microsecond=0) + timedelta(hours=2)


def test_a_status_survives_the_wire_unchanged() -> None:
    thing = Thing.from_wire(wire())
    thing.status.set("Ready", True, now=NOW)
    again = Thing.from_wire(json.dumps(thing.to_wire()).encode())
    assert again.to_wire() == thing.to_wire()
    assert again.to_wire()["status"]["conditions"][0]["lastTransitionTime"] == "2026-01-02T03:04:05Z"


def test_what_is_no_kind_is_named() -> None:
    with pytest.raises(ConfigError, match="is no kind that dglop knows"):
        resource_of(object)


def test_official_models_are_known_without_a_registry() -> None:
    from kubernetes.aio.client import EventsV1Event, V1Lease, V1NetworkPolicy, V1Node, V1Pod

    assert resource_of(V1Pod).path("ns", "p", "status") == "/api/v1/namespaces/ns/pods/p/status"
    assert resource_of(V1Lease).path("ns") == "/apis/coordination.k8s.io/v1/namespaces/ns/leases"
    assert resource_of(V1NetworkPolicy).plural == "networkpolicies"
    assert resource_of(V1Node).path("ignored", "n") == "/api/v1/nodes/n"
    assert resource_of(EventsV1Event).group == "events.k8s.io"


def test_every_name_in_the_table_is_an_official_model() -> None:
    from kubernetes.aio import client

    from dglop.runtime.api.builtin import BUILTIN

    assert [name for name in BUILTIN if not hasattr(client, name)] == []


def test_an_empty_name_addresses_no_collection_by_accident() -> None:
    with pytest.raises(ValueError, match="empty name"):
        Thing.resource.path("ns", "")


@pytest.mark.parametrize("type_", ["", "Two Words", "Ünready", "-a", "example.dev/", "a/b/c", None])
def test_a_condition_whose_type_is_no_word_is_refused(type_: Any) -> None:
    with pytest.raises(ValueError, match="a condition's type is one word in CamelCase, such as Ready, not"):
        Status().set(type_, True, reason="Said")


@pytest.mark.parametrize("reason", ["two words", "a-b", "é", "1st", "why?"])
def test_a_condition_whose_reason_is_no_word_is_refused(reason: str) -> None:
    with pytest.raises(ValueError, match="a condition's reason is one word in CamelCase"):
        Status().set("Ready", True, reason=reason)


def test_without_a_reason_it_is_the_type_without_its_domain() -> None:
    status = Status()
    status.set("example.dev/Is-Ready", True)
    assert [each.reason for each in status.conditions] == ["IsReady"]
