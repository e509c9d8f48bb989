# SPDX-License-Identifier: Apache-2.0
"""The formats of strings that the real server checks."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
import uuid
from datetime import date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("is_of_format",)

_HOST = re.compile(
    r"[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)*"
)
_DURATION = re.compile(r"-?(\d+(\.\d*)?\s*(ns|us|µs|ms|[smhdw]))+|0")
_UUIDS = {"uuid": 0, "uuid3": 3, "uuid4": 4, "uuid5": 5}


def is_of_format(text: str, format_: str) -> bool:
    """Whether *text* is of *format_*; everything is of one that is not known, as with the real server."""
    if format_ in _UUIDS:
        return _is_uuid(text, _UUIDS[format_])
    check = _CHECKS.get(format_)
    if check is None:
        return True
    try:
        return bool(check(text))
    except (ValueError, binascii.Error):
        return False


def _is_uuid(text: str, version: int) -> bool:
    try:
        found = uuid.UUID(text)
    except ValueError:
        return False
    return not version or found.version == version


def _is_time(text: str) -> bool:
    return datetime.fromisoformat(text).tzinfo is not None


_CHECKS: dict[str, Callable[[str], object]] = {
    "byte": lambda text: base64.b64decode(text, validate=True) is not None,
    "cidr": lambda text: "/" in text and ipaddress.ip_network(text, strict=False),
    "date": date.fromisoformat,
    "date-time": _is_time,
    "datetime": _is_time,
    "duration": _DURATION.fullmatch,
    "email": re.compile(r"[^@\s]+@[^@\s]+").fullmatch,
    "hostname": _HOST.fullmatch,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "mac": re.compile(r"([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}").fullmatch,
    "uri": re.compile(r"([a-zA-Z][-+.a-zA-Z0-9]*:\S*|/\S*)").fullmatch,
}
