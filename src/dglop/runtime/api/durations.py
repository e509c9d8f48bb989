# SPDX-License-Identifier: Apache-2.0
"""Durations as Kubernetes writes them, in Go's form: `72h`, `1h30m`, `250ms`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import core_schema

__all__ = ("duration_schema", "format_duration", "is_kubernetes_duration", "parse_duration")

_MICROSECOND: Final = {"ns": 0.001, "us": 1, "µs": 1, "μs": 1, "ms": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6}
_GO: Final = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|[+-]?0", re.ASCII)
_GO_PART: Final = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
# The API server's check of `format: duration` lets words through too: `3d`, `2 weeks`.
_WORDS: Final = re.compile(r"(\d+)\s*([A-Za-zµ]+)", re.ASCII)
_UNITS: Final = (
    (("ns",), "nano", 0.001),
    (("us", "µs"), "micro", 1),
    (("ms",), "milli", 1e3),
    (("s",), "sec", 1e6),
    (("m",), "min", 60e6),
    (("h", "hr"), "hour", 3600e6),
    (("d",), "day", 86400e6),
    (("w", "wk"), "week", 604800e6),
)
_MOST: Final = timedelta(microseconds=(2**63 - 1) // 1000)  # Go's are nanoseconds in 64 bits
_MARK: Final = "dglop_duration"


def parse_duration(text: str) -> timedelta:
    """The time that `text` says: all that the API server takes for a duration, and ISO 8601 (`PT72H`).

    What is finer than a microsecond is cut off. Raises ValueError for anything else.
    """
    stripped = text.strip()
    if _GO.fullmatch(stripped):
        size = sum(float(number) * _MICROSECOND[unit] for number, unit in _GO_PART.findall(stripped))
        return _checked(text, -size if stripped.startswith("-") else size)
    if stripped.lstrip("+-").startswith("P"):
        try:
            return TypeAdapter(timedelta).validate_strings(stripped)
        except ValidationError as problem:
            raise ValueError(f"{text!r} is no duration; write it as 72h, 1h30m or 250ms") from problem
    found = [float(number) * size for number, word in _WORDS.findall(stripped) if (size := _size_of(word))]
    if not found:
        raise ValueError(f"{text!r} is no duration; write it as 72h, 1h30m or 250ms")
    return _checked(text, sum(found))


def format_duration(time: timedelta) -> str:
    """`time` as Go prints it: `72h0m0s`, `1m30s`, `250ms`. Raises ValueError beyond 292 years."""
    if abs(time) > _MOST:
        raise ValueError(f"{time} is longer than the 292 years that Kubernetes can hold")
    sign, left = ("-", -time) if time < timedelta(0) else ("", time)
    micro = left // timedelta(microseconds=1)
    if micro == 0:
        return "0s"
    if micro < 1_000_000:
        return sign + (f"{micro}µs" if micro < 1000 else f"{_number(micro, 1000)}ms")
    minutes, rest = divmod(micro, 60_000_000)
    hours, minutes = divmod(minutes, 60)
    shown = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{shown}{_number(rest, 1_000_000)}s"


def duration_schema(schema: dict[str, Any]) -> Any:
    """Pydantic's schema of a timedelta, read and written in Go's form; itself where it is so already."""
    if _MARK in (schema.get("metadata") or {}):
        return schema
    inner = {**schema, "metadata": {**(schema.get("metadata") or {}), _MARK: True}}
    return core_schema.no_info_before_validator_function(
        _read,
        inner,
        serialization=core_schema.plain_serializer_function_ser_schema(
            format_duration, return_schema=core_schema.str_schema(), when_used="json-unless-none"
        ),
    )


def is_kubernetes_duration(schema: Any) -> bool:
    """Whether a timedelta in pydantic's schema is read and written in Go's form."""
    return _MARK in (schema.get("metadata") or {})


def _read(value: Any) -> Any:
    return parse_duration(value) if isinstance(value, str) else value


def _checked(text: str, microseconds: float) -> timedelta:
    try:
        return timedelta(microseconds=int(microseconds))
    except OverflowError as problem:
        raise ValueError(f"{text!r} is longer than Kubernetes can hold") from problem


def _size_of(word: str) -> float:
    unit = word.lower()
    return next((size for short, name, size in _UNITS if unit in short or unit.startswith(name)), 0.0)


def _number(value: int, unit: int) -> str:
    whole, part = divmod(value, unit)
    digits = f"{part:0{len(str(unit)) - 1}d}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
