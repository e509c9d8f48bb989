# SPDX-License-Identifier: Apache-2.0
"""One line of a watch, read in one pass where it is written as the API server writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from dglop.runtime.api.outline import cut
from dglop.runtime.cache.entry import Cached, Head, cached_of, read_object
from dglop.runtime.client.answers import error_of_status

if TYPE_CHECKING:
    from dglop.runtime.api.resource import Resource

__all__ = ("Bookmark", "Change", "read_line")

Change = tuple[str, Cached, str]
"""The event's type, the object, and the kind it says it is."""


class Bookmark(msgspec.Struct, rename="camel"):
    """The metadata of a BOOKMARK event."""

    resource_version: str | None = None
    annotations: dict[str, str] | None = None


class _Marked(msgspec.Struct, gc=False):
    metadata: Bookmark


class _Event(msgspec.Struct, gc=False):
    type: str
    object: msgspec.Raw


class _Whole(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A line with nothing but an event in it."""

    type: str
    object: Head


_EVENT = msgspec.json.Decoder(_Event)
_WHOLE = msgspec.json.Decoder(_Whole)
_BOOKMARK = msgspec.json.Decoder(_Marked)
_STARTS = {f'{{"type":"{type_}","object":'.encode(): type_ for type_ in ("ADDED", "MODIFIED", "DELETED")}


def read_line(line: bytes, resource: Resource) -> Change | Bookmark:
    """What a line says. Raises ApiError for an ERROR event, and msgspec.DecodeError for what is no event."""
    try:
        return _read(line, resource)
    except RecursionError:
        rest, objects = cut(line, 1)
        obj, kind = read_object(b"".join(objects), resource)
        return _EVENT.decode(rest).type, obj, kind


def _read(line: bytes, resource: Resource) -> Change | Bookmark:
    for start, type_ in _STARTS.items():
        if line.startswith(start):
            try:
                head = _WHOLE.decode(line).object
            except msgspec.ValidationError:
                break  # metadata as nobody expects it, or more in the line: the slow way knows
            # Nothing but the event's own bracket follows the object: other members were refused.
            return type_, cached_of(head, line[len(start) : line.rindex(b"}")], resource), head.kind
    event = _EVENT.decode(line)
    if event.type == "BOOKMARK":
        return _BOOKMARK.decode(event.object).metadata
    if event.type == "ERROR":
        raise error_of_status(msgspec.json.decode(event.object))
    obj, kind = read_object(event.object, resource)
    return event.type, obj, kind
