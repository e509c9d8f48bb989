# SPDX-License-Identifier: Apache-2.0
"""Fields that a model would write in another way than its schema says are refused, with what to do."""

import enum
from datetime import UTC, date, datetime
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Any, Literal

import pytest
from pydantic import ConfigDict, Field, Json, SecretStr, ValidationError, computed_field, create_model

from dglop.errors import SchemaError
from dglop.runtime.api import CustomResource, Raw, Spec, Status, Time, structural_schema

SURE = datetime(2026, 1, 2, tzinfo=UTC)


class Colour(enum.Enum):
    RED = "red"


class Bits(enum.Flag):
    A = 1
    B = 2


def schema_of(annotation: Any, default: Any = ...) -> dict[str, Any]:
    model = create_model("Made", __base__=Spec, field=(annotation, default))
    found: dict[str, Any] = structural_schema(model)["properties"]["field"]
    return found


def test_two_fields_of_one_name_on_the_wire_are_refused_at_the_class() -> None:
    with pytest.raises(SchemaError, match=r"Twice\.aB: it is aB on the wire, as a_b is"):

        class Twice(Spec):
            a_b: int = 0
            aB: int = 0  # noqa: N815 - that is what is refused


@pytest.mark.parametrize(
    ("annotation", "default", "why"),
    [
        (SecretStr, ..., "a secret .*written as asterisks"),
        (Json, ..., "pydantic's Json"),
        (Decimal, ..., "a Decimal is read as a number and written as text; use Quantity"),
        (Bits, ..., "a Flag has values beside"),
        (None, ..., "None"),
        (int | None, ..., "may be None but has no default.*; give it the default None"),
        (Literal["a"] | None, ..., "may be None but has no default"),
        (int, "x", "the default 'x' does not fit: Input should be a valid integer"),
        (Annotated[int, Field(ge=5)], 0, "the default 0 does not fit: Input should be greater"),
        (float, float("inf"), "the default inf does not fit: JSON has no infinite"),
        (datetime, datetime(2026, 1, 1), "has no time zone; add tzinfo=UTC"),  # noqa: DTZ001 - refused
        (int | Literal["a"], ..., "no union of int and str in which values are named"),
        (int, Field(default=0, serialization_alias="kk"), "written as kk but read as field"),
        (int, Field(exclude=True), "required but excluded"),
    ],
)
def test_a_field_that_is_not_read_as_it_is_written_is_refused(
    annotation: Any, default: Any, why: str
) -> None:
    with pytest.raises(SchemaError, match=rf"Made\.field: .*{why}"):
        schema_of(annotation, default)


def test_a_computed_field_is_refused() -> None:
    class Sum(Spec):
        a: int = 0

        @computed_field  # type: ignore[prop-decorator]
        @property
        def b(self) -> int:
            return self.a

    with pytest.raises(SchemaError, match=r"Sum\.b: a computed_field would be written"):
        structural_schema(Sum)


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (list[int | None], {"type": "array", "items": {"type": "integer", "nullable": True}}),
        (
            dict[str, int | None],
            {"type": "object", "additionalProperties": {"type": "integer", "nullable": True}},
        ),
        (Colour | Literal["x"], {"type": "string", "enum": ["red", "x"]}),
        (IPv4Address | IPv6Address, {"type": "string"}),
        (datetime | date, {"type": "string"}),
        (IPv4Address, {"type": "string", "format": "ipv4"}),
        (
            Annotated[int, Field(ge=0)] | Annotated[str, Field(max_length=9)],
            {"x-kubernetes-int-or-string": True, "minimum": 0, "maxLength": 9},
        ),
        (bytes, {"type": "string", "format": "byte"}),
    ],
)
def test_a_field_s_schema_takes_just_what_is_written(annotation: Any, schema: dict[str, Any]) -> None:
    assert schema_of(annotation) == schema


def test_a_model_that_keeps_unknown_fields_has_a_schema_that_does() -> None:
    class Loose(Spec):
        model_config = ConfigDict(extra="allow")
        a: int = 0

    assert structural_schema(Loose)["x-kubernetes-preserve-unknown-fields"] is True
    assert "x-kubernetes-preserve-unknown-fields" not in structural_schema(Status)["properties"]["conditions"]


class MixedSpec(Spec):
    data: bytes = b"\xff\x00"
    ratio: float = 1.0
    at: datetime = SURE
    since: Time | None = None
    type: dict[str, bytes] = Field(default_factory=dict)
    metadata: Raw = Field(default_factory=dict)


class Mixed(CustomResource[MixedSpec, Status], group="example.dev", version="v1"):
    """Has what JSON has no word for."""


def test_bytes_are_base64_on_the_wire_and_in_the_schema_s_default() -> None:
    spec = MixedSpec(data=b"\x00\xfe", type={"a": b"\xfa"})
    assert (spec.to_wire()["data"], spec.to_wire()["type"]) == ("AP4=", {"a": "+g=="})
    assert MixedSpec.model_validate(spec.to_wire()) == spec
    assert structural_schema(MixedSpec)["properties"]["data"]["default"] == "/wA="
    with pytest.raises(ValidationError, match="no base64"):
        MixedSpec.model_validate({"data": "!"})


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("ratio", float("inf"), "JSON has no number inf"),
        ("ratio", float("nan"), "JSON has no number nan"),
        ("at", datetime(2026, 1, 1), "has no time zone"),  # noqa: DTZ001 - refused
        ("since", datetime(2026, 1, 1), "has no time zone"),  # noqa: DTZ001 - refused
    ],
)
def test_what_cannot_be_written_is_refused_when_made_and_when_set(field: str, value: Any, why: str) -> None:
    with pytest.raises(ValidationError):
        MixedSpec.model_validate({field: value})
    mixed = Mixed(name="a", namespace="b", spec=MixedSpec())
    setattr(mixed.spec, field, value)
    with pytest.raises(SchemaError, match=f"Mixed b/a: spec cannot be written: .*{why}"):
        mixed.to_wire()
