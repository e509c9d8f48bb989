# SPDX-License-Identifier: Apache-2.0
"""Marks on fields and models that only the CRD schema sees: CEL rules, list maps, raw content."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, StrictInt, StrictStr

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

__all__ = (
    "CEL",
    "AtomicList",
    "AtomicMap",
    "Embedded",
    "Extension",
    "Format",
    "GranularMap",
    "IntOrString",
    "ListMap",
    "ListSet",
    "Nullable",
    "Preserved",
    "Quantity",
    "Raw",
    "RawList",
)


@dataclass(frozen=True, slots=True)
class Extension:
    """Puts keywords into the schema of the field it annotates."""

    keywords: tuple[tuple[str, Any], ...]

    def __get_pydantic_json_schema__(
        self, schema: "CoreSchema", handler: "GetJsonSchemaHandler"
    ) -> "JsonSchemaValue":
        return {**handler(schema), **dict(self.keywords)}


@dataclass(frozen=True, slots=True)
class CEL:
    """A validation rule the API server checks, on a field (`Annotated[...]`), a model or a kind (`rules=`).

    `message` is what the user reads; `expression` may build it instead. `reason` and `field_path`
    are as in x-kubernetes-validations.
    """

    rule: str
    message: str = ""
    expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool = False

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"rule": self.rule}
        pairs = (
            ("message", self.message),
            ("messageExpression", self.expression),
            ("reason", self.reason),
            ("fieldPath", self.field_path),
            ("optionalOldSelf", self.optional_old_self),
        )
        return wire | {key: value for key, value in pairs if value}

    def __get_pydantic_json_schema__(
        self, schema: "CoreSchema", handler: "GetJsonSchemaHandler"
    ) -> "JsonSchemaValue":
        inner = dict(handler(schema))
        rules = [*inner.get("x-kubernetes-validations", []), self.to_wire()]
        return {**inner, "x-kubernetes-validations": rules}


class ListMap:
    """Marks a list as a map by the wire names of its keys, so that apply merges it item by item."""

    __slots__ = ("keys",)

    def __init__(self, *keys: str) -> None:
        self.keys: tuple[str, ...] = keys

    def __get_pydantic_json_schema__(
        self, schema: "CoreSchema", handler: "GetJsonSchemaHandler"
    ) -> "JsonSchemaValue":
        return {
            **handler(schema),
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": list(self.keys),
        }


ListSet: Extension = Extension((("x-kubernetes-list-type", "set"),))
"""Marks a list of scalars as a set: apply merges it item by item, and the server refuses doubles."""

AtomicList: Extension = Extension((("x-kubernetes-list-type", "atomic"),))
"""Marks a list as one value: who applies it owns it whole. It is the default, said aloud."""

GranularMap: Extension = Extension((("x-kubernetes-map-type", "granular"),))
"""Marks an object whose fields may each have an owner. It is the default, said aloud."""

AtomicMap: Extension = Extension((("x-kubernetes-map-type", "atomic"),))
"""Marks an object as one value: who applies it owns it whole."""

Nullable: Extension = Extension((("nullable", True),))
"""Marks a field in which a null is kept, as a value of its own; elsewhere the server drops nulls."""

Preserved: Extension = Extension((("x-kubernetes-preserve-unknown-fields", True),))
"""Marks an object in which the server keeps fields that the schema does not name."""


class Format:
    """Says how a string is written, such as `uuid`, `cidr` or `duration`, for the API server to check.

    A format that the server does not know it would not check, so `structural_schema` refuses it.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name: str = name

    def __get_pydantic_json_schema__(
        self, schema: "CoreSchema", handler: "GetJsonSchemaHandler"
    ) -> "JsonSchemaValue":
        return {**handler(schema), "format": self.name, MEANT: True}


MEANT = "x-dglop-format"
"""Stands beside a format that was asked for, so that one that pydantic chose can be told from it."""

_PRESERVED = Extension((("type", "object"), ("x-kubernetes-preserve-unknown-fields", True)))
_INT_OR_STRING = Extension((("x-kubernetes-int-or-string", True),))

Raw = Annotated[dict[str, Any], _PRESERVED]
"""An object that is kept as it came, such as a pod template: `nvidia.com/gpu: 1` unquoted passes."""

Embedded = Annotated[
    dict[str, Any],
    Extension(
        (
            ("type", "object"),
            ("x-kubernetes-embedded-resource", True),
            ("x-kubernetes-preserve-unknown-fields", True),
        )
    ),
]
"""A whole object in a field, kept as it came; the server sees to its apiVersion, kind and metadata."""

RawList = Annotated[list[Raw], Extension(())]
"""A list of objects that are kept as they came."""

IntOrString = Annotated[StrictInt | StrictStr, _INT_OR_STRING]
"""A number or a string, such as a port or a percentage."""


def _text_of_number(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    return str(value) if isinstance(value, int | float) else value


_QUANTITY = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE])?$"

Quantity = Annotated[str, Field(pattern=_QUANTITY), BeforeValidator(_text_of_number), _INT_OR_STRING]
"""A resource quantity, such as `500m`, `2` or `1.5Gi`, for both to check: the API server and Python.

A bare number is taken as its text. `parse_quantity` makes a number of it."""
