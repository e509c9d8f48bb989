# SPDX-License-Identifier: Apache-2.0
"""Durations and quantities in one's own kinds: what the server takes can be read, and nothing else."""

from __future__ import annotations

import pydoc
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from dglop import CEL, CustomResource, ListMap, SchemaError, Spec, Status
from dglop.runtime.api import Quantity, crd_manifest, format_duration, parse_duration, structural_schema


class TimerSpec(Spec):
    keep: timedelta = timedelta(hours=72)
    pauses: list[timedelta] = Field(default_factory=list)
    limit: timedelta | None = Field(default=None, ge=timedelta(0))
    size: Quantity = "4"


class Timer(CustomResource[TimerSpec, Status], group="example.dev", version="v1"):
    """A kind with times."""


class Inner(BaseModel):
    keep: timedelta


class Outer(Spec):
    inner: Inner


def timer(**spec: Any) -> Timer:
    return Timer.from_wire({"metadata": {"name": "a"}, "spec": spec})


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("72h", timedelta(hours=72)),
        ("1h30m", timedelta(minutes=90)),
        ("1.5h", timedelta(minutes=90)),
        ("-250ms", timedelta(milliseconds=-250)),
        ("0", timedelta(0)),
        ("10µs", timedelta(microseconds=10)),
        ("3d", timedelta(days=3)),
        ("2 weeks", timedelta(weeks=2)),
        ("PT72H", timedelta(hours=72)),
        ("P1DT12H", timedelta(hours=36)),
    ],
)
def test_a_duration_is_read_as_the_api_server_reads_it(text: str, time: timedelta) -> None:
    assert parse_duration(text) == time
    assert timer(keep=text).spec.keep == time


@pytest.mark.parametrize("text", ["", "lots", "72", "h", "3 fortnights", "PT"])
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="write it as 72h"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (timedelta(hours=72), "72h0m0s"),
        (timedelta(minutes=1, milliseconds=1500), "1m1.5s"),
        (timedelta(milliseconds=250), "250ms"),
        (timedelta(microseconds=-7), "-7µs"),
        (timedelta(0), "0s"),
    ],
)
def test_a_duration_is_written_as_go_writes_it(time: timedelta, text: str) -> None:
    assert format_duration(time) == text


@given(st.timedeltas(min_value=timedelta(days=-90000), max_value=timedelta(days=90000)))
def test_what_is_written_is_read_as_the_same(time: timedelta) -> None:
    assert abs(parse_duration(format_duration(time)) - time) <= timedelta(microseconds=1)


def test_what_kubernetes_cannot_hold_is_not_written() -> None:
    with pytest.raises(ValueError, match="292 years"):
        format_duration(timedelta(days=365 * 300))


def test_the_crd_has_the_format_and_defaults_in_it() -> None:
    [version] = crd_manifest(Timer)["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert spec["keep"] == {"type": "string", "format": "duration", "default": "72h0m0s"}
    assert spec["pauses"]["items"] == {"type": "string", "format": "duration"}
    assert spec["limit"]["format"] == "duration"
    assert spec["size"]["pattern"].startswith("^")


def test_a_kind_with_times_goes_to_the_wire_and_back() -> None:
    made = Timer(name="a", spec=TimerSpec(pauses=[timedelta(minutes=5)], limit=timedelta(0)))
    wire = made.to_wire()
    assert wire["spec"] == {"keep": "72h0m0s", "pauses": ["5m0s"], "limit": "0s", "size": "4"}
    assert Timer.from_wire(wire).spec == made.spec
    with pytest.raises(SchemaError, match=r"spec\.limit"):
        timer(limit="-1h")


def test_a_time_in_a_class_that_is_no_spec_is_refused() -> None:
    for model in (Inner, Outer):
        with pytest.raises(SchemaError, match=r"keep: .* a timedelta must be in a class that is a Spec"):
            structural_schema(model)


@pytest.mark.parametrize("size", ["500m", "1.5Gi", ".5", "1e3", 4, 0.5])
def test_a_quantity_is_taken(size: Any) -> None:
    assert timer(size=size).spec.size == str(size)


@pytest.mark.parametrize("size", ["lots", "", "4 Gi", "4gi", True, "4\n"])
def test_what_is_no_quantity_is_refused(size: Any) -> None:
    with pytest.raises(SchemaError, match=r"spec\.size"):
        timer(size=size)


@pytest.mark.parametrize("thing", [CEL, ListMap, Spec, Timer])
def test_help_shows_nothing_of_pydantics_unions(thing: type) -> None:
    assert "InvalidSchema" not in pydoc.render_doc(thing)
    assert "FunctionBeforeSchema" not in pydoc.render_doc(thing)
