# SPDX-License-Identifier: Apache-2.0
"""JSON schemas of models as they write themselves, with what no CRD can say marked where it stands."""

from __future__ import annotations

from enum import Flag
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from dglop.errors import SchemaError
from dglop.runtime.api.durations import is_kubernetes_duration
from dglop.runtime.api.markers import MEANT
from dglop.runtime.api.wirevalues import MARK, default_problem, json_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

__all__ = ("INVALID", "ModelSchema", "check_names")

INVALID = "x-dglop-invalid"
"""Stands in a schema for a type that has none, with why."""


class ModelSchema(GenerateJsonSchema):
    """Marks a type that has no schema where it stands, as only there its path is known.

    Raises SchemaError for fields that a model would write in another way than it reads them.
    """

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> JsonSchemaValue:
        return {INVALID: f"{error_info}, from {_name_of(schema)}"}

    def encode_default(self, dft: Any) -> Any:
        return super().encode_default(json_of(dft))

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        for problem in _problems(schema["cls"]):
            raise SchemaError(problem)
        return super().model_schema(schema)

    def timedelta_schema(self, schema: Any) -> JsonSchemaValue:
        if not is_kubernetes_duration(schema):
            return {INVALID: "a timedelta must be in a class that is a Spec, which reads and writes it"}
        return {"type": "string", "format": "duration", MEANT: True}

    def bytes_schema(self, schema: Any) -> JsonSchemaValue:
        if MARK not in (schema.get("metadata") or {}):
            return {INVALID: "bytes must be in a class that is a Spec, which reads and writes them as base64"}
        return {"type": "string", "format": "byte", MEANT: True}

    def decimal_schema(self, schema: Any) -> JsonSchemaValue:  # noqa: ARG002 - pydantic's name
        return {INVALID: "a Decimal is read as a number and written as text; use Quantity, float or str"}

    def json_schema(self, schema: Any) -> JsonSchemaValue:  # noqa: ARG002 - pydantic's name
        return {INVALID: "pydantic's Json is read as text and written as what it holds; use a Spec, or Raw"}

    def enum_schema(self, schema: Any) -> JsonSchemaValue:
        if issubclass(schema["cls"], Flag):
            return {INVALID: "a Flag has values beside those that it names; use a list of an Enum"}
        return super().enum_schema(schema)


def check_names(model: type[BaseModel]) -> None:
    """Raises SchemaError where two fields of a model have one name on the wire."""
    seen: dict[str, str] = {}
    for name, field in model.model_fields.items():
        wire = field.serialization_alias or name
        if wire in seen:
            raise SchemaError(
                f"{model.__name__}.{name}: it is {wire} on the wire, as {seen[wire]} is; rename one, or give "
                "it an alias"
            )
        seen[wire] = name


def _problems(model: type[BaseModel]) -> Iterator[str]:
    check_names(model)
    for name in model.model_computed_fields:
        yield (
            f"{model.__name__}.{name}: a computed_field would be written but is no field of the kind; make "
            "it a property, or a field of the status"
        )
    for name, field in model.model_fields.items():
        why = _alias_problem(name, field) or _default_problem(field)
        if why:
            yield f"{model.__name__}.{name}: {why}"


def _alias_problem(name: str, field: FieldInfo) -> str:
    written = field.serialization_alias or name
    read = field.validation_alias
    choices = getattr(read, "choices", None)
    first = choices[0] if choices else read
    if first is not None and first != written:
        return f"it is written as {written} but read as {first}; give one alias=, for both"
    if field.exclude and field.is_required():
        return "it is required but excluded from what is written; give it a default"
    return ""


def _default_problem(field: FieldInfo) -> str:
    if field.is_required() or field.default is None or field.default_factory is not None:
        return ""
    why = default_problem(field.default)
    if not why:
        try:
            parts: Any = (field.annotation, *field.metadata, None)
            whole: Any = Annotated[parts]
            TypeAdapter(whole).validate_python(field.default)
        except ValidationError as problem:
            why = problem.errors(include_url=False)[0]["msg"]
        except PydanticUserError:
            return ""  # what is wrong with the type is told by its schema
    return f"the default {field.default!r} does not fit: {why}; change it" if why else ""


def _name_of(schema: Any) -> str:
    """The Python type of a part of pydantic's inner schema, as far as that tells."""
    found = schema.get("cls") or schema.get("function") or schema.get("type")
    return getattr(found, "__qualname__", None) or str(found)
