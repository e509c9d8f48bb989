# SPDX-License-Identifier: Apache-2.0
"""CRDs of several versions, and all that a schema and a version can say."""

import datetime as dt
import ipaddress
import uuid
from collections.abc import Callable
from typing import Annotated, Literal

import pytest
from pydantic import ConfigDict, Field

from dglop.errors import SchemaError
from dglop.runtime.api import (
    CEL,
    AtomicList,
    AtomicMap,
    Conversion,
    CustomResource,
    Embedded,
    Format,
    GranularMap,
    ListSet,
    Nullable,
    Preserved,
    Scale,
    Spec,
    Status,
    crd_manifest,
    structural_schema,
)


class OldSpec(Spec):
    size: int = 1


class OldShip(
    CustomResource[OldSpec, Status],
    group="example.dev",
    version="v1alpha1",
    kind="Ship",
    deprecation="example.dev/v1alpha1 Ship is deprecated; use v1",
):
    """A ship, as it was."""


class ShipSpec(Spec):
    size: int = 1
    colour: str = "blue"


class ShipStatus(Status):
    replicas: int = 0


class Ship(
    CustomResource[ShipSpec, ShipStatus],
    group="example.dev",
    version="v1",
    singular="vessel",
    short_names=("sh",),
    storage=True,
    scale=Scale(".spec.size", selector_path=".status.selector"),
    selectable=(".spec.colour",),
):
    """A ship."""


def test_one_of_several_versions_is_stored_and_each_says_what_it_has() -> None:
    spec = crd_manifest(OldShip, Ship)["spec"]
    old, new = spec["versions"]
    assert (old["name"], old["storage"], old["served"]) == ("v1alpha1", False, True)
    assert (new["name"], new["storage"]) == ("v1", True)
    assert old["deprecated"] is True
    assert old["deprecationWarning"] == "example.dev/v1alpha1 Ship is deprecated; use v1"
    assert "deprecated" not in new
    assert old["subresources"] == {"status": {}}
    assert new["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.size",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    }
    assert new["selectableFields"] == [{"jsonPath": ".spec.colour"}]
    assert spec["names"]["singular"] == "vessel"
    assert spec["names"]["shortNames"] == ["sh"]
    assert "conversion" not in spec


def test_without_a_mark_the_first_version_is_stored() -> None:
    assert [each["storage"] for each in crd_manifest(OldShip)["spec"]["versions"]] == [True]


def test_a_conversion_names_the_service_or_the_url_that_converts() -> None:
    by_service = Conversion(service="dglop", namespace="system", ca_bundle="Q0E=")
    found = crd_manifest(OldShip, Ship, conversion=by_service)["spec"]["conversion"]
    assert found == {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {
                "service": {"name": "dglop", "namespace": "system", "path": "/convert", "port": 443},
                "caBundle": "Q0E=",
            },
            "conversionReviewVersions": ["v1"],
        },
    }
    by_url = Conversion(url="https://example.dev/convert").to_wire()
    assert by_url["webhook"]["clientConfig"] == {"url": "https://example.dev/convert"}
    with pytest.raises(SchemaError, match="needs a url, or a service and its namespace"):
        Conversion(service="dglop").to_wire()


def test_versions_that_contradict_each_other_are_refused() -> None:
    class Second(
        CustomResource[OldSpec, Status], group="example.dev", version="v2", kind="Ship", storage=True
    ):
        pass

    class Twin(CustomResource[OldSpec, Status], group="example.dev", version="v1", kind="Ship"):
        pass

    class Afloat(
        CustomResource[OldSpec, Status], group="example.dev", version="v3", kind="Ship", scope="Cluster"
    ):
        pass

    with pytest.raises(SchemaError, match="only one version is stored, not v1, v2"):
        crd_manifest(Ship, Second)
    with pytest.raises(SchemaError, match="two classes are of the same version"):
        crd_manifest(Ship, Twin)
    with pytest.raises(SchemaError, match="is no version of"):
        crd_manifest(Ship, Afloat)


class Inner(Spec):
    value: int = 0


class AllSpec(Spec):
    tags: Annotated[list[str], ListSet] = Field(default=[])
    colours: set[str] = Field(default=set())
    steps: Annotated[list[int], AtomicList] = Field(default=[])
    whole: Annotated[dict[str, str], AtomicMap] = Field(default={})
    parts: Annotated[Inner, GranularMap] = Inner()
    open: Annotated[Inner, Preserved] = Inner()
    any: Embedded = Field(default={})
    maybe: Annotated[str | None, Nullable] = None
    id: uuid.UUID | None = None
    day: dt.date | None = None
    address: ipaddress.IPv4Address | None = None
    span: dt.timedelta | None = None
    wait: Annotated[str, Format("duration")] = "1h"
    size: Annotated[
        int,
        CEL(
            "self >= oldSelf.orValue(0)",
            expression="'not below ' + string(self)",
            reason="FieldValueForbidden",
            optional_old_self=True,
        ),
    ] = 0


def test_every_marker_is_said_in_the_schema() -> None:
    found = structural_schema(AllSpec)["properties"]
    inner = {"type": "object", "properties": {"value": {"type": "integer", "default": 0}}}
    strings = {"type": "array", "items": {"type": "string"}}
    assert found["tags"] == {**strings, "default": [], "x-kubernetes-list-type": "set"}
    assert found["colours"] == {**strings, "default": [], "x-kubernetes-list-type": "set"}
    assert found["steps"]["x-kubernetes-list-type"] == "atomic"
    assert found["whole"]["x-kubernetes-map-type"] == "atomic"
    assert found["parts"] == {**inner, "default": {"value": 0}, "x-kubernetes-map-type": "granular"}
    assert found["open"]["x-kubernetes-preserve-unknown-fields"] is True
    assert found["any"] == {
        "type": "object",
        "default": {},
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
    assert found["maybe"] == {"type": "string", "nullable": True, "default": None}
    assert found["id"] == {"type": "string", "format": "uuid"}
    assert found["day"] == {"type": "string", "format": "date"}
    assert found["address"] == {"type": "string", "format": "ipv4"}
    assert found["span"] == {"type": "string", "format": "duration"}
    assert found["wait"] == {"type": "string", "format": "duration", "default": "1h"}
    (rule,) = found["size"]["x-kubernetes-validations"]
    assert rule == {
        "rule": "self >= oldSelf.orValue(0)",
        "messageExpression": "'not below ' + string(self)",
        "reason": "FieldValueForbidden",
        "optionalOldSelf": True,
    }


def test_a_python_type_without_a_schema_is_named_with_its_place() -> None:
    class Hook(Spec):
        call: Callable[[int], str] | None = None

    class Foreign:
        pass

    class Outer(Spec):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        hooks: list[Hook] = Field(default=[])
        thing: dict[str, Foreign] = Field(default={})

    with pytest.raises(SchemaError, match=r"^Outer\.hooks\.items\.call: this type has no schema"):
        structural_schema(Outer)

    class Alone(Spec):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        thing: dict[str, Foreign] = Field(default={})

    with pytest.raises(SchemaError, match=r"^Alone\.thing\.\*: this type has no schema: .*Foreign"):
        structural_schema(Alone)


def test_a_class_whose_field_has_an_impossible_type_is_refused_with_the_fields_name() -> None:
    class Foreign:
        pass

    with pytest.raises(SchemaError, match=r"^Bad\.things: this type has no schema: .*Foreign"):

        class Bad(Spec):
            fine: int = 0
            things: dict[str, Foreign | None] = Field(default={})


def test_a_constraint_that_does_not_fit_its_type_is_refused_with_the_fields_name() -> None:
    with pytest.raises(SchemaError, match=r"^Bad\.count: what is said of this field does not fit.*integer"):

        class Bad(Spec):
            fine: int = 0
            count: int = Field(default=0, ge="a")


def test_a_type_that_only_type_checkers_know_is_refused_with_its_name() -> None:
    class Late(Spec):
        thing: "Nowhere"  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(SchemaError, match=r"^Late: Nowhere is not known where it runs; import it for real"):
        structural_schema(Late)


def test_a_format_that_no_server_checks_and_a_mixed_enum_are_refused() -> None:
    class Odd(Spec):
        when: Annotated[str, Format("sundial")] = ""

    class Mixed(Spec):
        value: Literal["a", 1] = 1

    with pytest.raises(SchemaError, match=r"Odd\.when: the API server checks no format 'sundial'"):
        structural_schema(Odd)
    with pytest.raises(SchemaError, match=r"Mixed\.value: a CRD has no enum of integer and string"):
        structural_schema(Mixed)
