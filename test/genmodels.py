# SPDX-License-Identifier: Apache-2.0
"""Models made at random: fields of all types that a spec may have, with values of them."""

from __future__ import annotations

import enum
from datetime import UTC, date, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

from hypothesis import strategies as st
from pydantic import Field, create_model

from dglop.runtime.api import IntOrString, Quantity, Raw, Spec

__all__ = ("Made", "made_models")


class Colour(enum.Enum):
    """Words."""

    RED = "red"
    BLUE = "blue"


class Made(NamedTuple):
    """A class, and an object of it."""

    cls: type[Spec]
    value: Spec


_INTS = st.integers(-(2**63), 2**63 - 1)
_FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=32)
_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=5)
_MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
_DURATIONS = st.integers(-(10**12), 10**12).map(lambda each: timedelta(microseconds=each))
_LEAVES: tuple[tuple[Any, st.SearchStrategy[Any]], ...] = (
    (int, _INTS),
    (float, _FLOATS),
    (bool, st.booleans()),
    (str, _TEXT),
    (bytes, st.binary(max_size=6)),
    (datetime, _MOMENTS),
    (date, st.dates(date(1000, 1, 1))),
    (timedelta, _DURATIONS),
    (UUID, st.uuids()),
    (IPv4Address, st.ip_addresses(v=4)),
    (IPv4Address | IPv6Address, st.ip_addresses()),
    (Colour, st.sampled_from(Colour)),
    (Colour | Literal["x"], st.sampled_from([*Colour, "x"])),
    (Literal["a", "b"], st.sampled_from(["a", "b"])),
    (Literal[1, 2], st.sampled_from([1, 2])),
    (IntOrString, _INTS | _TEXT),
    (int | str, _INTS | _TEXT),
    (Quantity, st.sampled_from(["1", "500m", "1.5Gi"])),
    (Annotated[int, Field(ge=3, lt=9)], st.integers(3, 8)),
    (Annotated[str, Field(min_length=1, max_length=3)], st.text("aä😀", min_size=1, max_size=3)),
    (Raw, st.dictionaries(st.sampled_from(["k", "l"]), _TEXT, max_size=2)),
)
_Typed = tuple[Any, st.SearchStrategy[Any]]


def _lists(inner: _Typed) -> _Typed:
    made: Any = list
    return made[inner[0]], st.lists(inner[1], max_size=2)


def _maps(inner: _Typed) -> _Typed:
    made: Any = dict
    return made[str, inner[0]], st.dictionaries(st.sampled_from(["a", "b.c/d", ""]), inner[1], max_size=2)


def _with_none(inner: _Typed) -> _Typed:
    return inner[0] | None, st.none() | inner[1]


def _nested(inner: st.SearchStrategy[_Typed]) -> st.SearchStrategy[_Typed]:
    optional = inner.map(_with_none)
    return st.one_of(inner.map(_lists), inner.map(_maps), optional.map(_lists), optional.map(_maps))


_TYPES = st.recursive(st.sampled_from(_LEAVES), _nested, max_leaves=3)


@st.composite
def made_models(draw: st.DrawFn) -> Made:
    """A Spec of a few fields, half of them optional, and one object of it."""
    fields: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for index, found in enumerate(draw(st.lists(_TYPES, min_size=1, max_size=4))):
        name = f"field_{index}"
        is_optional = draw(st.booleans())
        annotation, drawn = _with_none(found) if is_optional else found
        fields[name] = (annotation, None if is_optional else ...)
        values[name] = draw(drawn)
    cls: type[Spec] = create_model("Made", __base__=Spec, **fields)
    return Made(cls, cls(**values))
