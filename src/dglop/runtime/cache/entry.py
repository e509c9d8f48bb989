# SPDX-License-Identifier: Apache-2.0
"""Cached: one object as its JSON bytes and decoded metadata."""

from __future__ import annotations

from typing import Any, TypeVar, overload

import msgspec

from dglop.errors import SchemaError
from dglop.runtime.api.outline import outline
from dglop.runtime.api.resource import Kind, Resource
from dglop.runtime.cache.meta import Meta, WireMeta, meta_of, read_meta
from dglop.runtime.client.convert import UNREADABLE, decode, typed

__all__ = ("Cached", "DeepCached", "Head", "Key", "PartialCached", "cached_of", "read_object")

Key = tuple[str, str]
"""Namespace ("" for cluster scope) and name."""

T = TypeVar("T")
ViewT = TypeVar("ViewT", bound=msgspec.Struct)


class Cached:
    """An object as the server sent it, without managedFields. Immutable, and shared by all readers."""

    __slots__ = ("_views", "key", "meta", "raw", "resource")

    def __init__(self, raw: bytes, meta: Meta, resource: Resource) -> None:
        self.raw: bytes = raw
        self.meta: Meta = meta
        self.resource: Resource = resource
        self.key: Key = (meta.namespace, meta.name)
        self._views: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        meta = self.meta
        return f"<{self.resource.kind} {meta.namespace}/{meta.name} at {meta.resource_version}>"

    @property
    def name(self) -> str:
        return self.meta.name

    @property
    def namespace(self) -> str:
        return self.meta.namespace

    @property
    def uid(self) -> str:
        return self.meta.uid

    @property
    def resource_version(self) -> str:
        return self.meta.resource_version

    @property
    def is_deleting(self) -> bool:
        return self.meta.deletion_timestamp is not None

    def controller_uid(self) -> str | None:
        """The uid of the owner that controls this object."""
        owner = self.meta.controller()
        return owner.uid if owner else None

    def view(self, type_: type[ViewT]) -> ViewT:
        """The fields that a Struct of one's own declares, decoded once and remembered with the object.

        Raises SchemaError, which names the path, where they do not fit.
        """
        views = self._views
        for index in range(0, len(views), 2):
            if views[index] is type_:
                found: ViewT = views[index + 1]
                return found
        try:
            view = msgspec.json.decode(self.raw, type=type_)
        except UNREADABLE as problem:
            raise SchemaError(f"{self!r} does not fit {type_.__name__}: {problem}") from problem
        self._views = (*views, type_, view)
        return view

    @overload
    def to(self, kind: type[T]) -> T: ...
    @overload
    def to(self, kind: Resource) -> dict[str, Any]: ...
    def to(self, kind: Kind) -> Any:
        """A copy as `kind`, that the caller may change. Raises SchemaError where it does not fit."""
        if isinstance(kind, Resource):
            return self.to_dict()
        return decode(kind, self.raw) if hasattr(kind, "from_wire") else typed(kind, self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """A copy as a wire dict, with apiVersion and kind. Raises SchemaError for what Python cannot hold."""
        try:
            wire: dict[str, Any] = msgspec.json.decode(self.raw)
        except UNREADABLE as problem:
            raise SchemaError(f"{self!r} cannot be read: {problem}") from problem
        # Of metadata alone the server says that it is a PartialObjectMetadata.
        head = {"apiVersion": self.resource.api_version, "kind": self.resource.kind}
        return {**head, **wire, **head}


class PartialCached(Cached):
    """An object of which only the metadata was asked for."""

    __slots__ = ()

    def to(self, kind: Kind) -> Any:
        """A copy as a wire dict, for a Resource. Raises SchemaError for a type: it would look empty."""
        if isinstance(kind, Resource):
            return self.to_dict()
        raise SchemaError(
            f"of {self!r} only metadata is cached, which is no {kind.__name__}; "
            "look at its `meta`, or read it with ctx.client.get"
        )


class DeepCached(Cached):
    """
    An object that is nested deeper than Python's decoders go, with null for what is nested too deep.

    Its metadata is whole, and views and `to_dict` have what lies further out.
    """

    __slots__ = ()

    def to(self, kind: Kind) -> Any:
        """Raises SchemaError: to leave out in silence what nobody can read would be worse."""
        del kind
        raise SchemaError(
            f"{self!r} cannot be read, since parts of it are nested deeper than Python decodes; "
            "write it with fewer lists and objects inside each other"
        )


class Head(msgspec.Struct, gc=False):
    """What is decoded of an object. Strictly for the cache package."""

    metadata: WireMeta
    kind: str = ""


class _RawHead(msgspec.Struct, gc=False):
    metadata: msgspec.Raw = msgspec.Raw(b"{}")
    kind: msgspec.Raw = msgspec.Raw(b"")


_HEAD = msgspec.json.Decoder(Head)
_RAW_HEAD = msgspec.json.Decoder(_RawHead)
_NOBODY = Meta()
_FIELD = b'"managedFields":'
_DEEPEST = 100  # Python decodes ten times as much, less what it is called from


def read_object(raw: bytes | msgspec.Raw, resource: Resource, like: Meta = _NOBODY) -> tuple[Cached, str]:
    """A Cached of one object's JSON, which is copied, and the kind it says it is ("" in lists).

    What its metadata has in common with `like` is shared with that.
    Raises msgspec.DecodeError where it is no JSON object.
    """
    try:
        return _read(raw, resource, like)
    except RecursionError:
        obj, kind = _read(outline(bytes(raw), _DEEPEST), resource, like)
        return DeepCached(obj.raw, obj.meta, resource), kind


def _read(raw: bytes | msgspec.Raw, resource: Resource, like: Meta) -> tuple[Cached, str]:
    try:
        head = _HEAD.decode(raw)
    except msgspec.ValidationError:
        odd = _RAW_HEAD.decode(raw)
        kind = bytes(odd.kind).decode("utf-8", "replace").strip('"')
        head = Head(read_meta(odd.metadata), kind)
    # A Raw would keep its whole page alive.
    return cached_of(head, bytes(raw), resource, like), head.kind


def cached_of(head: Head, data: bytes, resource: Resource, like: Meta = _NOBODY) -> Cached:
    """The Cached of an object's JSON, which is `data`, and of what was decoded of it."""
    metadata = head.metadata
    if managed := bytes(metadata.managed_fields):
        data = _cut(data, managed)
    return Cached(data, meta_of(metadata, like), resource)


def _cut(data: bytes, value: bytes) -> bytes:
    """`data` without `"managedFields":value`.

    Quotes inside JSON strings are escaped, so these bytes can only be that member.
    """
    at = data.find(_FIELD)
    # The same name further out, in a raw part of the object, has another value.
    while at >= 0 and not data.startswith(value, at + len(_FIELD)):
        at = data.find(_FIELD, at + 1)
    if at < 0:  # written with spaces: the slow way
        wire = msgspec.json.decode(data)
        del wire["metadata"]["managedFields"]
        return msgspec.json.encode(wire)
    end = at + len(_FIELD) + len(value)
    if data[end : end + 1] == b",":
        return data[:at] + data[end + 1 :]
    if data[at - 1 : at] == b",":
        return data[: at - 1] + data[end:]
    return data[:at] + data[end:]
