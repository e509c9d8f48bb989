# SPDX-License-Identifier: Apache-2.0
"""The decoded metadata of a cached object, read without parsing the rest of it."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ("Meta", "Owner", "read_meta")


class Owner(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """One owner reference."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class Meta(msgspec.Struct, rename="camel", frozen=True):
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


def read_meta(raw: bytes | msgspec.Raw) -> Meta:
    """The Meta in the JSON of a metadata object.

    Servers write null where a Go slice or map is nil, and a proxy kind may write anything: whatever
    does not fit is left out rather than that the object is missing from the cache.
    Raises msgspec.DecodeError where it is no JSON.
    """
    try:
        return _DECODER.decode(raw)
    except msgspec.ValidationError:
        return _lenient(msgspec.json.decode(raw))


_DECODER = msgspec.json.Decoder(Meta)


def _lenient(wire: Any) -> Meta:
    if not isinstance(wire, dict):
        return Meta()
    kept: dict[str, Any] = {}
    for field in msgspec.structs.fields(Meta):
        value = wire.get(field.encode_name)
        if isinstance(value, dict):
            value = {key: each for key, each in value.items() if isinstance(each, str)}
        elif isinstance(value, list):
            value = [_owner(each) for each in value if isinstance(each, dict | str)]
        try:
            kept[field.name] = msgspec.convert(value, field.type)
        except msgspec.ValidationError:
            continue
    return Meta(**kept)


def _owner(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return {key: each for key, each in value.items() if isinstance(each, str | bool)}
