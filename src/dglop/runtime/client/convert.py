# SPDX-License-Identifier: Apache-2.0
"""Between wire JSON and the types that callers ask for."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec
from pydantic import ValidationError

from dglop.errors import SchemaError, ServerError
from dglop.runtime.api.outline import cut
from dglop.runtime.api.problems import schema_error
from dglop.runtime.api.resource import Kind, Resource, resource_of
from dglop.runtime.api.times import format_micro_time, format_time

__all__ = (
    "UNREADABLE",
    "ListMeta",
    "Page",
    "applicable",
    "decode",
    "decode_page",
    "encoded",
    "kind_of",
    "page_of",
    "typed",
    "wire_of",
)

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What a decoder raises for what is no JSON, or none that Python can hold."""

_MICRO = frozenset({"renewTime", "acquireTime", "eventTime", "lastObservedTime"})
_SERVER_OWNED = ("managedFields", "creationTimestamp", "generation", "resourceVersion", "selfLink")


class ListMeta(msgspec.Struct, rename="camel"):
    """A list's own fields."""

    resource_version: str | None = None
    continue_: str | None = msgspec.field(default=None, name="continue")


class Page(msgspec.Struct):
    """One page of a list; the items are slices of the page's own buffer."""

    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
    items: list[msgspec.Raw] | None = None


_PAGE = msgspec.json.Decoder(Page)


def wire_of(obj: Any) -> dict[str, Any]:
    """A new wire dict of a CustomResource, official model or wire dict, with apiVersion and kind."""
    if isinstance(obj, Mapping):
        wire = dict(obj)
    elif hasattr(obj, "to_wire"):
        wire = obj.to_wire()
    else:
        wire = _plain(obj.model_dump(by_alias=True, exclude_none=True), "")
    resource = resource_of(obj)
    wire = {"apiVersion": resource.api_version, "kind": resource.kind, **wire}
    if "managedFields" in (wire.get("metadata") or {}):
        wire["metadata"] = {key: value for key, value in wire["metadata"].items() if key != "managedFields"}
    return wire


def applicable(
    wire: dict[str, Any], *, subresource: str | None, version: str | None = None
) -> dict[str, Any]:
    """`wire` without what the server owns, so that applying what was read does not claim or test it.

    Only a `version` that is given is tested.
    """
    metadata = {key: value for key, value in wire["metadata"].items() if key not in _SERVER_OWNED}
    if version:
        metadata["resourceVersion"] = version
    kept = {key: value for key, value in wire.items() if key != "status" or subresource == "status"}
    return {**kept, "metadata": metadata}


def kind_of(obj: Any) -> Kind:
    """What an answer about `obj` is to be decoded as."""
    return resource_of(obj) if isinstance(obj, Mapping) else type(obj)


def encoded(body: Any) -> bytes:
    return msgspec.json.encode(body)


def decode(kind: Kind, body: bytes) -> Any:
    """The object of `kind` that `body` says.

    Raises SchemaError where it does not fit, and ServerError where it is no JSON: then something
    between here and the API server answered.
    """
    if hasattr(kind, "from_wire") and body[:1] == b"{":
        return kind.from_wire(body)
    return typed(kind, _json(body))


def typed(kind: Kind, wire: dict[str, Any]) -> Any:
    """The wire dict as `kind`: itself for a Resource."""
    if isinstance(kind, Resource):
        return wire
    if hasattr(kind, "from_wire"):
        return kind.from_wire(wire)
    try:
        return kind.from_dict(wire)
    except ValidationError as problem:
        # The official models insist on lists that the server may leave null (an empty list in Go).
        repaired = _without_null_lists(wire, problem)
        try:
            return kind.from_dict(repaired)
        except ValidationError:
            raise schema_error(resource_of(kind).kind, wire, problem) from problem


def page_of(body: bytes) -> Page:
    """A page of a list. Raises msgspec.DecodeError where it is none."""
    try:
        return _PAGE.decode(body)
    except RecursionError:
        # One of its items is nested too deep, which is no reason to miss the others.
        rest, items = cut(body, 2)
        page = _PAGE.decode(rest)
        if len(items) != len(page.items or ()):
            raise msgspec.ValidationError("the items of the list are no objects") from None
        page.items = [msgspec.Raw(each) for each in items]
        return page


def decode_page(kind: Kind, body: bytes) -> tuple[list[Any], str]:
    """The items of a list page as `kind`, and the token of the next page or ""."""
    page: Page = _json(body, Page)
    return list(_items(kind, page)), page.metadata.continue_ or ""


def _items(kind: Kind, page: Page) -> Iterator[Any]:
    resource = resource_of(kind)
    # The server leaves apiVersion and kind out of a list's items.
    head = {"apiVersion": resource.api_version, "kind": resource.kind}
    for raw in page.items or ():
        if hasattr(kind, "from_wire"):
            yield kind.from_wire(bytes(raw))
        else:
            yield typed(kind, {**head, **_json(bytes(raw))})


def _json(body: bytes, type_: Any = dict) -> Any:
    try:
        return msgspec.json.decode(body, type=type_)
    except RecursionError as problem:
        raise SchemaError(
            "the answer is nested deeper than Python decodes, so it cannot be read"
        ) from problem
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        text = " ".join(body[:300].decode("utf-8", "replace").split())
        raise ServerError(200, "NotJSON", f"the answer was no object: {problem}: {text}") from problem


def _plain(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each, name) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, key) for each in value]
    if isinstance(value, datetime):
        try:
            return format_micro_time(value) if key in _MICRO else format_time(value)
        except ValueError as problem:
            raise SchemaError(f"{key}: {problem}") from problem
    return value


def _without_null_lists(wire: dict[str, Any], problem: ValidationError) -> dict[str, Any]:
    repaired: dict[str, Any] = copy.deepcopy(wire)
    aliases = {"list_type": list, "dict_type": dict}
    for each in problem.errors(include_url=False):
        empty = aliases.get(each["type"])
        if empty is not None and each["input"] is None:
            _fill_nulls(repaired, str(each["loc"][-1]), empty)
    return repaired


def _fill_nulls(value: Any, key: str, empty: type[Any]) -> None:
    # from_dict validates each part alone, so the path is not known from the top: look everywhere.
    if isinstance(value, dict):
        if key in value and value[key] is None:
            value[key] = empty()
        for each in value.values():
            _fill_nulls(each, key, empty)
    elif isinstance(value, list):
        for each in value:
            _fill_nulls(each, key, empty)
