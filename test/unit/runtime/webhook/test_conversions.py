# SPDX-License-Identifier: Apache-2.0
"""Conversion between versions by way of the hub."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dglop import CustomResource, Resource, Spec, Status
from dglop.errors import ConfigError, SchemaError
from dglop.runtime.webhook import Spoke
from dglop.runtime.webhook.conversion import Converter, convert_review, read_conversion, write_conversion

NOTE = "example.dev/mood"


class OldSpec(Spec):
    text: str
    mood: str | None = None


class Old(CustomResource[OldSpec, Status], group="example.dev", version="v1alpha1", kind="Greeting"):
    """The first version."""


class HubSpec(Spec):
    texts: list[str]


class Hub(CustomResource[HubSpec, Status], group="example.dev", version="v1beta1", kind="Greeting"):
    """The stored version, which has no mood."""


class LoudSpec(Spec):
    shout: str


class Loud(CustomResource[LoudSpec, Status], group="example.dev", version="v1", kind="Greeting"):
    """Another version."""


def to_hub(old: Old) -> Hub:
    hub = Hub(spec=HubSpec(texts=old.spec.text.split()), status=old.status)
    if old.spec.mood:
        hub.annotations[NOTE] = old.spec.mood
    return hub


def from_hub(hub: Hub) -> Old:
    mood = hub.annotations.pop(NOTE, None)
    return Old(spec=OldSpec(text=" ".join(hub.spec.texts), mood=mood), status=hub.status)


def loud_to_hub(loud: Loud) -> Hub:
    return Hub(spec=HubSpec(texts=loud.spec.shout.lower().split()))


def hub_to_loud(hub: Hub) -> Loud:
    return Loud(spec=LoudSpec(shout=" ".join(hub.spec.texts).upper()))


OLD = Spoke(Old, to_hub, from_hub)
LOUD = Spoke(Loud, loud_to_hub, hub_to_loud)
METADATA = {
    "name": "hello",
    "namespace": "default",
    "uid": "1-2",
    "resourceVersion": "7",
    "labels": {"a": "b"},
    "annotations": {"c": "d"},
    "managedFields": [{"manager": "kubectl"}],
    "finalizers": ["example.dev/f"],
    "selfLink": "/unknown/to/us",
}


def old_wire(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.dev/v1alpha1",
        "kind": "Greeting",
        "metadata": METADATA,
        "spec": {"text": "good day", **spec},
        "status": {"observedGeneration": 3},
    }


def test_all_metadata_and_the_status_go_through():
    hub = Converter(Hub, OLD).convert(old_wire(), "example.dev/v1beta1")
    assert hub == {
        "apiVersion": "example.dev/v1beta1",
        "kind": "Greeting",
        "metadata": METADATA,
        "spec": {"texts": ["good", "day"]},
        "status": {"observedGeneration": 3},
    }


def test_what_the_hub_cannot_say_is_kept_in_an_annotation_there_and_back():
    conversion = Converter(Hub, OLD)
    hub = conversion.convert(old_wire(mood="sad"), "example.dev/v1beta1")
    assert hub["metadata"]["annotations"] == {"c": "d", NOTE: "sad"}
    assert conversion.convert(hub, "example.dev/v1alpha1") == old_wire(mood="sad")


def test_two_spokes_meet_at_the_hub():
    loud = Converter(Hub, OLD, LOUD).convert(old_wire(), "example.dev/v1")
    assert (loud["apiVersion"], loud["spec"]) == ("example.dev/v1", {"shout": "GOOD DAY"})


def test_an_object_in_the_wished_version_is_given_back_as_it_is():
    wire = old_wire(unknown=1)
    assert Converter(Hub, OLD).convert(wire, "example.dev/v1alpha1") is wire


def test_versions_may_be_wire_dicts():
    new = Resource("example.dev", "v2", "Greeting", "greetings")

    def up(wire: dict[str, Any]) -> dict[str, Any]:
        return {**wire, "apiVersion": "example.dev/v2", "spec": {"words": wire["spec"]["texts"]}}

    hub = Resource("example.dev", "v1beta1", "Greeting", "greetings")
    conversion = Converter(hub, Spoke(new, lambda wire: wire, up))
    wire = {"apiVersion": "example.dev/v1beta1", "kind": "Greeting", "spec": {"texts": ["a"]}}
    assert conversion.convert({**wire, "metadata": METADATA}, "example.dev/v2") == {
        "apiVersion": "example.dev/v2",
        "kind": "Greeting",
        "metadata": METADATA,
        "spec": {"words": ["a"]},
    }


def test_a_version_that_is_not_known_is_named_beside_those_that_are():
    with pytest.raises(SchemaError, match=r"no version 'example.dev/v9'; there are example.dev/v1alpha1, ex"):
        Converter(Hub, OLD).convert(old_wire(), "example.dev/v9")


def test_a_function_that_gives_another_version_is_found_out():
    wrong: Any = Spoke(Old, lambda old: old, from_hub)
    with pytest.raises(SchemaError, match=r"a conversion to .* gave "):
        Converter(Hub, wrong).convert(old_wire(), "example.dev/v1beta1")


class Other(CustomResource[HubSpec, Status], group="example.dev", version="v1"):
    """Another kind."""


@pytest.mark.parametrize(
    ("spokes", "text"),
    [
        ((Spoke(Other, lambda each: each, lambda each: each),), "Other is no version of greetings"),
        ((OLD, OLD), "named twice"),
        ((Spoke(Hub, lambda each: each, lambda each: each),), "named twice"),
    ],
    ids=["another kind", "the same twice", "the hub as a spoke"],
)
def test_versions_that_do_not_belong_together_are_refused(spokes, text):
    with pytest.raises(ConfigError, match=text):
        Converter(Hub, *spokes)


def test_a_review_keeps_the_order_of_its_objects_and_a_failure_names_one():
    conversions = {("example.dev", "Greeting"): Converter(Hub, OLD)}
    objects = [old_wire(text=str(number)) for number in range(3)]
    request = {"uid": "u", "desiredAPIVersion": "example.dev/v1beta1", "objects": objects}
    body = json.dumps({"apiVersion": "apiextensions.k8s.io/v1", "request": request}).encode()
    uid, version, read = read_conversion(body)
    converted = convert_review(conversions, read, version)
    assert (uid, [each["spec"]["texts"] for each in converted]) == ("u", [["0"], ["1"], ["2"]])
    answer = json.loads(write_conversion(uid, converted))
    assert answer["response"]["result"] == {"status": "Success"}
    with pytest.raises(SchemaError, match=r"Greeting default/hello cannot be converted.*spec\.text"):
        convert_review(conversions, [old_wire(text=7)], version)
    with pytest.raises(SchemaError, match="Pod of  has no conversion"):
        convert_review(conversions, [{"apiVersion": "v1", "kind": "Pod"}], version)


def test_a_failure_gives_no_object():
    answer = json.loads(write_conversion("u", [{}], failure="the moon is full"))
    assert answer["response"] == {
        "uid": "u",
        "convertedObjects": [],
        "result": {"status": "Failed", "message": "the moon is full"},
    }


@pytest.mark.parametrize("body", [b"", b"{}", b'{"request":{"uid":"u"}}', b'{"apiVersion":"v9"}'])
def test_what_is_no_conversion_review_is_refused_with_a_sentence(body):
    with pytest.raises(SchemaError, match="ConversionReview"):
        read_conversion(body)
