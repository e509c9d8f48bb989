# SPDX-License-Identifier: Apache-2.0
"""From a pydantic model to a structural schema, the subset of OpenAPI that CRDs accept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic.errors import PydanticUserError

from dglop.errors import SchemaError
from dglop.runtime.api.markers import MEANT
from dglop.runtime.api.modelschema import INVALID, ModelSchema
from dglop.runtime.api.unions import one_of

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ("structural_schema",)

Schema = dict[str, Any]

_KEPT = frozenset(
    {
        "type", "format", "description", "enum", "required", "nullable", "default",
        "maximum", "minimum", "multipleOf", "maxLength", "minLength", "pattern",
        "maxItems", "minItems", "maxProperties", "minProperties",
    }
)  # fmt: skip
# What the API server checks; it does not look at others.
_FORMATS = frozenset(
    {
        "bsonobjectid", "byte", "cidr", "creditcard", "date", "date-time", "datetime", "double",
        "duration", "email", "float", "hexcolor", "hostname", "int32", "int64", "ipv4", "ipv6",
        "isbn", "isbn10", "isbn13", "k8s-long-name", "k8s-short-name", "mac", "password", "rgbcolor",
        "ssn", "uri", "uuid", "uuid3", "uuid4", "uuid5",
    }
)  # fmt: skip
_SET = ("x-kubernetes-list-type", "set")
_INT_OR_STRING = "x-kubernetes-int-or-string"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_RULES = "x-kubernetes-validations"


def structural_schema(model: type[BaseModel]) -> Schema:
    """The structural schema of `model`: references inlined, no titles, unions or null types.

    What the model writes fits it, and what fits it the model reads. Raises SchemaError, with the path, where
    that cannot be: unions other than of int and str, tuples, recursion, a None without a default, and Python
    types that have no schema at all.
    """
    try:
        whole = model.model_json_schema(by_alias=True, mode="validation", schema_generator=ModelSchema)
    except PydanticUserError as problem:
        if problem.code != "class-not-fully-defined":
            raise
        # All modules are imported by now: the name is misspelt, or imported for type checkers alone.
        names = re.findall("define `([^`]+)`", str(problem))
        raise SchemaError(
            f"{model.__name__}: {', '.join(names)} is not known where it runs; "
            "import it for real, not under TYPE_CHECKING"
        ) from problem
    return _Converter(whole.pop("$defs", {})).convert(whole, (model.__name__,), frozenset())


class _Converter:
    """Walks one JSON schema; `seen` are the definitions on the way down, to find recursion."""

    def __init__(self, definitions: dict[str, Schema]) -> None:
        self._definitions = definitions

    def convert(self, schema: Schema, path: tuple[str, ...], seen: frozenset[str]) -> Schema:
        schema, seen = self._resolved(schema, path, seen)
        if INVALID in schema:
            raise SchemaError(f"{_dotted(path)}: this type has no schema: {schema[INVALID]}")
        if schema.get("writeOnly"):
            raise SchemaError(
                f"{_dotted(path)}: a secret would be written as asterisks; name a Secret instead"
            )
        if schema.get("type") == "null":
            raise SchemaError(f"{_dotted(path)}: a field that is only ever None says nothing; drop it")
        result = {key: schema[key] for key in schema if key in _KEPT or key.startswith("x-kubernetes-")}
        if result.get("default", ...) is None and not result.get("nullable"):
            result.pop("default", None)
        _format(schema, result, path)
        _enum(schema, result, path)
        _bounds(schema, result)
        if schema.get("uniqueItems"):
            result.setdefault(*_SET)  # uniqueItems itself is forbidden: it would cost the square
        if result.get(_INT_OR_STRING):
            result.pop("type", None)
            return result
        self._children(schema, result, path, seen)
        if "type" not in result and _PRESERVE not in result:
            result[_PRESERVE] = True
        return result

    def _children(self, schema: Schema, result: Schema, path: tuple[str, ...], seen: frozenset[str]) -> None:
        if "prefixItems" in schema:
            raise SchemaError(f"{_dotted(path)}: a CRD has no tuples; use a list or an object")
        if "items" in schema:
            result["items"] = self._element(schema["items"], (*path, "items"), seen)
        elif result.get("type") == "array":
            result["items"] = {_PRESERVE: True}
        if "properties" in schema:
            for name in schema.get("required", ()):
                if self._has_null(schema["properties"][name]):
                    raise SchemaError(
                        f"{_dotted((*path, name))}: it may be None but has no default, and a None is not "
                        "written; give it the default None"
                    )
            if schema.get("additionalProperties"):
                result[_PRESERVE] = True  # the model keeps, and writes, what it does not name
            result["properties"] = {
                name: self.convert(each, (*path, name), seen) for name, each in schema["properties"].items()
            }
            return
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict) and extra and _PRESERVE not in result:
            result["additionalProperties"] = self._element(extra, (*path, "*"), seen)
        elif result.get("type") == "object":
            result[_PRESERVE] = True

    def _element(self, schema: Schema, path: tuple[str, ...], seen: frozenset[str]) -> Schema:
        """The schema of what is in a list or a map: a None is written there, so the server has to keep it."""
        found = self.convert(schema, path, seen)
        if self._has_null(schema) and ("type" in found or _INT_OR_STRING in found):
            found["nullable"] = True
        return found

    def _has_null(self, schema: Schema) -> bool:
        if "$ref" in schema:
            return self._has_null(self._definitions[schema["$ref"].rpartition("/")[2]])
        parts = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
        is_null = schema.get("type") == "null" or None in schema.get("enum", ())
        return is_null or any(map(self._has_null, parts))

    def _resolved(
        self, schema: Schema, path: tuple[str, ...], seen: frozenset[str]
    ) -> tuple[Schema, frozenset[str]]:
        """The schema with references, single allOf and optional anyOf taken apart."""
        while True:
            rest = {
                key: value for key, value in schema.items() if key not in ("$ref", "allOf", "anyOf", "oneOf")
            }
            if "$ref" in schema:
                name = schema["$ref"].rpartition("/")[2]
                if name in seen:
                    raise SchemaError(f"{_dotted(path)}: {name} contains itself; a CRD cannot say that")
                seen |= {name}
                schema = _merged(self._definitions[name], rest)
            elif "allOf" in schema and len(schema["allOf"]) == 1:
                schema = _merged(schema["allOf"][0], rest)
            elif "anyOf" in schema or "oneOf" in schema:
                real = [each for each in schema.get("anyOf") or schema["oneOf"] if each.get("type") != "null"]
                if len(real) != 1:
                    real = [
                        one_of([self._resolved(each, path, seen)[0] for each in real], rest, _dotted(path))
                    ]
                schema = _merged(real[0], rest)
            else:
                return schema, seen


def _merged(inner: Schema, outer: Schema) -> Schema:
    """What is said where a thing is used goes before what is said where it is defined; rules add up."""
    rules = [*inner.get(_RULES, []), *outer.get(_RULES, [])]
    return {**inner, **outer, **({_RULES: rules} if rules else {})}


def _bounds(schema: Schema, result: Schema) -> None:
    # OpenAPI 3.0 has exclusive bounds as a boolean beside the number.
    for exclusive, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if exclusive in schema:
            result[plain], result[exclusive] = schema[exclusive], True


def _format(schema: Schema, result: Schema, path: tuple[str, ...]) -> None:
    found = result.get("format")
    if found is None:
        return
    if schema.get(MEANT):
        if found not in _FORMATS:
            raise SchemaError(f"{_dotted(path)}: the API server checks no format {found!r}")
    elif found not in _FORMATS:
        del result["format"]


def _enum(schema: Schema, result: Schema, path: tuple[str, ...]) -> None:
    if "const" in schema:
        result["enum"] = [schema["const"]]
    if "enum" not in result:
        return
    if not result.get("nullable"):
        result["enum"] = [each for each in result["enum"] if each is not None]
    types = {_type_of(each) for each in result["enum"] if each is not None}
    if len(types) > 1:
        raise SchemaError(f"{_dotted(path)}: a CRD has no enum of {' and '.join(sorted(types))}")
    if "type" not in result and types:
        result["type"] = types.pop()


def _type_of(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "integer" if isinstance(value, int) else "string"


def _dotted(path: tuple[str, ...]) -> str:
    return ".".join(path)
