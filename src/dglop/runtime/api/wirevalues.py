# SPDX-License-Identifier: Apache-2.0
"""Python values that JSON has no word for, as specs and statuses write and read them."""

from __future__ import annotations

import base64
import binascii
import math
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticSerializationError, core_schema

from dglop.errors import SchemaError
from dglop.runtime.api.durations import duration_schema, format_duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import BaseModel

__all__ = ("MARK", "default_problem", "json_of", "wire_of_model", "with_wire_values")

MARK = "dglop_wire"
"""In the metadata of a part of pydantic's schema: that part is read and written as Kubernetes has it."""


def with_wire_values(schema: Any) -> Any:
    """Pydantic's schema of a model in which durations, bytes, times and numbers are as Kubernetes has them.

    Durations are in Go's form, bytes in base64; a time has a zone and a number is finite, or it is refused.
    """
    if isinstance(schema, list | tuple):
        return type(schema)(with_wire_values(each) for each in schema)
    if not isinstance(schema, dict):
        return schema
    kind = schema.get("type")
    if not isinstance(kind, str):  # the fields of a model, by name
        return {name: with_wire_values(each) for name, each in schema.items()}
    if kind == "timedelta":
        return duration_schema(schema)
    if kind in _CHANGES and MARK not in (schema.get("metadata") or {}):
        return _CHANGES[kind]({**schema, "metadata": {**(schema.get("metadata") or {}), MARK: True}})
    return {name: each if name in _LEFT else with_wire_values(each) for name, each in schema.items()}


def wire_of_model(model: BaseModel, where: str) -> dict[str, Any]:
    """A model as JSON, without nulls. Raises SchemaError, which begins with *where*."""
    try:
        return model.model_dump(by_alias=True, exclude_none=True, mode="json")
    except (PydanticSerializationError, UnicodeError) as problem:
        raise SchemaError(f"{where} cannot be written: {_sentence(problem)}") from problem


def json_of(default: Any) -> Any:
    """A default as Kubernetes writes it; what is a model says it by itself."""
    if isinstance(default, timedelta):
        return format_duration(default)
    if isinstance(default, bytes):
        return base64.b64encode(default).decode()
    if isinstance(default, list | tuple | set | frozenset):
        return [json_of(each) for each in default]
    if isinstance(default, dict):
        return {name: json_of(each) for name, each in default.items()}
    return default


def default_problem(default: Any) -> str:
    """Why a default cannot be written; "" where it can."""
    if isinstance(default, float) and not math.isfinite(default):
        return "JSON has no infinite numbers and no NaN"
    if isinstance(default, datetime) and default.tzinfo is None:
        return "it has no time zone; add tzinfo=UTC"
    if isinstance(default, dict):
        default = list(default.values())
    if isinstance(default, list | tuple | set | frozenset):
        return next((found for each in default if (found := default_problem(each))), "")
    return ""


def _time(schema: dict[str, Any]) -> Any:
    if "serialization" in schema or schema.get("tz_constraint") == "naive":
        return {**schema, "tz_constraint": schema.get("tz_constraint", "aware")}
    checked = {**schema, "tz_constraint": "aware"}
    return {**checked, "serialization": _checking(_with_zone, schema)}


def _number(schema: dict[str, Any]) -> Any:
    found = {**schema, "allow_inf_nan": False}
    return found if "serialization" in schema else {**found, "serialization": _checking(_finite, schema)}


def _bytes(schema: dict[str, Any]) -> Any:
    return core_schema.no_info_before_validator_function(
        _from_base64,
        schema,
        serialization=core_schema.plain_serializer_function_ser_schema(
            _to_base64, return_schema=core_schema.str_schema(), when_used="json-unless-none"
        ),
    )


def _checking(check: Callable[[Any, Any], Any], schema: dict[str, Any]) -> Any:
    return core_schema.wrap_serializer_function_ser_schema(
        check,
        schema=schema,
        when_used="json-unless-none",
    )


def _with_zone(value: Any, then: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone; use datetime.now(UTC) or the context's now()")
    return then(value)


def _finite(value: Any, then: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"JSON has no number {value}")
    return then(value)


def _to_base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _from_base64(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as problem:
        raise ValueError(f"the text is no base64: {problem}; give bytes") from problem


def _sentence(problem: Exception) -> str:
    return str(problem).rpartition("ValueError: ")[2]


_CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {"datetime": _time, "float": _number, "bytes": _bytes}
_LEFT = frozenset({"config", "default", "metadata", "serialization"})
