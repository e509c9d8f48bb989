# SPDX-License-Identifier: Apache-2.0
"""The decoded metadata of a cached object, read without parsing the rest of it."""

from __future__ import annotations

from sys import intern
from typing import Any

import msgspec

__all__ = ("Meta", "Owner", "WireMeta", "meta_of", "read_meta")


class Owner(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """One owner reference."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class Meta(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """What controllers read of an object's metadata; shared, so not to be changed.

    Timestamps are the server's text; `dglop.runtime.api.parse_time` reads them.
    """

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[Owner, ...] = ()
    finalizers: tuple[str, ...] = ()
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None

    def controller(self) -> Owner | None:
        """The one owner that controls the object."""
        return next((each for each in self.owner_references if each.controller), None)


class WireMeta(msgspec.Struct, rename="camel", gc=False):
    """Metadata as it is decoded, to become a Meta and be forgotten."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[Owner] | None = None
    finalizers: tuple[str, ...] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    managed_fields: msgspec.Raw = msgspec.Raw(b"")


_NOTHING: dict[str, str] = {}
_WIRE = msgspec.json.Decoder(WireMeta)


def meta_of(wire: WireMeta, like: Meta) -> Meta:
    """The Meta, with one object in memory for what thousands of objects have in common.

    That are words, and what it has in common with `like`, which may be the one before it in a list.
    """
    annotations = (
        {intern(key): value for key, value in wire.annotations.items()} if wire.annotations else _NOTHING
    )
    return Meta(
        wire.name,
        intern(wire.namespace),
        wire.uid,
        wire.resource_version,
        wire.generation,
        _labels(wire.labels, like.labels) if wire.labels else _NOTHING,
        annotations,
        _owners(tuple(wire.owner_references), like.owner_references) if wire.owner_references else (),
        wire.finalizers or (),
        wire.creation_timestamp or "",
        wire.deletion_timestamp,
    )


def _labels(labels: dict[str, str], like: dict[str, str]) -> dict[str, str]:
    return like if labels == like else {intern(key): intern(value) for key, value in labels.items()}


def _owners(owners: tuple[Owner, ...], like: tuple[Owner, ...]) -> tuple[Owner, ...]:
    return like if owners == like else tuple(map(_shared, owners))


def read_meta(raw: bytes | msgspec.Raw) -> WireMeta:
    """What there is of metadata in any JSON value.

    Servers write null where a Go slice or map is nil, and a proxy kind may write anything: whatever
    does not fit is left out, rather than that the object is missing from the cache.
    Raises msgspec.DecodeError where it is no JSON.
    """
    try:
        return _WIRE.decode(raw)
    except msgspec.ValidationError:
        wire = msgspec.json.decode(raw)
        return _lenient(wire) if isinstance(wire, dict) else WireMeta()


def _shared(owner: Owner) -> Owner:
    return Owner(
        intern(owner.api_version),
        intern(owner.kind),
        intern(owner.name),
        intern(owner.uid),
        owner.controller,
        owner.block_owner_deletion,
    )


def _lenient(wire: dict[str, Any]) -> WireMeta:
    kept: dict[str, Any] = {}
    for field in msgspec.structs.fields(WireMeta):
        value = wire.get(field.encode_name)
        if field.name == "managed_fields":
            continue
        if isinstance(value, dict):
            value = {key: each for key, each in value.items() if isinstance(each, str)}
        elif isinstance(value, list):
            value = [_owner(each) for each in value if isinstance(each, dict | str)]
        try:
            kept[field.name] = msgspec.convert(value, field.type)
        except msgspec.ValidationError:
            continue
    return WireMeta(**kept)


def _owner(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return {key: each for key, each in value.items() if isinstance(each, str | bool)}
