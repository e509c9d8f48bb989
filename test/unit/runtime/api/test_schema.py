# SPDX-License-Identifier: Apache-2.0
"""Structural schemas and CRDs from models."""

from enum import StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import Field

from dglop.errors import SchemaError
from dglop.runtime.api import (
    CEL,
    Column,
    CustomResource,
    IntOrString,
    ListMap,
    Raw,
    Spec,
    Status,
    Time,
    crd_manifest,
    structural_schema,
)


class Mode(StrEnum):
    FAST = "Fast"
    SLOW = "Slow"


class Item(Spec, rules=(CEL("self.size > 0", "size must be positive"),)):
    name: str
    size: int = Field(default=1, ge=1, lt=9)


class WideSpec(Spec):
    text: str = Field(max_length=8, pattern="^a")
    """What to say."""
    mode: Mode = Mode.FAST
    only: Literal["X"] = "X"
    item: Annotated[Item | None, CEL("has(self.name)", "name it")] = None
    """One item."""
    items: Annotated[list[Item], ListMap("name")] = Field(default_factory=list, max_length=5)
    by_name: dict[str, Item] = Field(default_factory=dict)
    template: Raw = Field(default_factory=dict)
    port: IntOrString = 80
    since: Time | None = None
    ratio: float | None = None


class Wide(
    CustomResource[WideSpec, Status],
    group="example.dev",
    version="v1",
    short_names=("wd",),
    categories=("all",),
    columns={"Ready": ".status.x", "Deep": Column(".spec.y", "integer", priority=1)},
    rules=(CEL("self.metadata.name.size() < 50", "the name is too long", reason="FieldValueInvalid"),),
):
    """Something wide."""


def test_the_schema_is_structural_and_says_what_the_model_says() -> None:
    schema = structural_schema(WideSpec)
    item = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "size": {"type": "integer", "default": 1, "minimum": 1, "maximum": 9, "exclusiveMaximum": True},
        },
        "x-kubernetes-validations": [{"rule": "self.size > 0", "message": "size must be positive"}],
    }
    assert schema["required"] == ["text"]
    assert schema["properties"] == {
        "text": {"type": "string", "maxLength": 8, "pattern": "^a", "description": "What to say."},
        "mode": {"type": "string", "enum": ["Fast", "Slow"], "default": "Fast"},
        "only": {"type": "string", "enum": ["X"], "default": "X"},
        "item": {
            **item,
            "description": "One item.",
            "x-kubernetes-validations": [
                *item["x-kubernetes-validations"],
                {"rule": "has(self.name)", "message": "name it"},
            ],
        },
        "items": {
            "type": "array",
            "items": item,
            "maxItems": 5,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        "byName": {"type": "object", "additionalProperties": item},
        "template": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "port": {"x-kubernetes-int-or-string": True, "default": 80},
        "since": {"type": "string", "format": "date-time"},
        "ratio": {"type": "number"},
    }


def test_the_crd_carries_names_columns_rules_and_the_status_subresource() -> None:
    crd = crd_manifest(Wide)
    assert crd["metadata"] == {"name": "wides.example.dev"}
    assert crd["spec"]["names"]["shortNames"] == ["wd"]
    (version,) = crd["spec"]["versions"]
    assert version["subresources"] == {"status": {}}
    assert version["additionalPrinterColumns"] == [
        {"name": "Ready", "type": "string", "jsonPath": ".status.x"},
        {"name": "Deep", "type": "integer", "jsonPath": ".spec.y", "priority": 1},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    root = version["schema"]["openAPIV3Schema"]
    assert root["description"] == "Something wide."
    assert root["required"] == ["spec"]
    assert root["x-kubernetes-validations"][0]["reason"] == "FieldValueInvalid"


def test_a_union_a_crd_cannot_say_is_named_with_its_path() -> None:
    class Bad(Spec):
        field: int | list[str]

    with pytest.raises(SchemaError, match=r"Bad\.field: a CRD has no unions"):
        structural_schema(Bad)


def test_a_model_that_contains_itself_is_refused() -> None:
    class Loop(Spec):
        again: "Loop | None" = None

    Loop.model_rebuild(_types_namespace={"Loop": Loop})
    with pytest.raises(SchemaError, match="contains itself"):
        structural_schema(Loop)


def test_a_tuple_is_refused() -> None:
    class Pair(Spec):
        pair: tuple[int, str]

    with pytest.raises(SchemaError, match="no tuples"):
        structural_schema(Pair)


def test_versions_of_different_kinds_make_no_crd() -> None:
    class Other(CustomResource[WideSpec, Status], group="example.dev", version="v2"):
        pass

    with pytest.raises(SchemaError, match="no version of"):
        crd_manifest(Wide, Other)
