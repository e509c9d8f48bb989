# SPDX-License-Identifier: Apache-2.0
"""Times, quantities, roles and owner references."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dglop.errors import SchemaError
from dglop.runtime.api import (
    Rule,
    format_micro_time,
    format_time,
    owner_reference,
    parse_quantity,
    parse_time,
    role_manifest,
)


@pytest.mark.parametrize("microsecond", [0, 500_000, 1])
def test_a_micro_time_always_has_six_digits_and_is_utc(microsecond: int) -> None:
    shanghai = timezone(timedelta(hours=8))
    moment = datetime(2026, 1, 1, 8, 0, 0, microsecond, tzinfo=shanghai)
    assert format_micro_time(moment) == f"2026-01-01T00:00:00.{microsecond:06d}Z"
    assert parse_time(format_micro_time(moment)) == moment


def test_a_time_is_cut_to_seconds() -> None:
    assert format_time(datetime(2026, 1, 1, 0, 0, 0, 999_999, tzinfo=UTC)) == "2026-01-01T00:00:00Z"


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        format_time(datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point
    with pytest.raises(ValueError, match="time zone"):
        parse_time("2026-01-01T00:00:00")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("500m", "0.5"),
        ("1.5Gi", "1610612736"),
        (2, "2"),
        ("1e3", "1000"),
        ("4k", "4000"),
        (".5", "0.5"),
        ("1E", "1e18"),
    ],
)
def test_quantities_are_read(text: str | int, value: str) -> None:
    assert parse_quantity(text) == Decimal(value)


@pytest.mark.parametrize("text", ["", "x", "1 Gi", "1gib", "--1", True])
def test_nonsense_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="no resource quantity"):
        parse_quantity(text)


@pytest.mark.parametrize(
    "text",
    ["1e999999999", "1e800000", "1e-999999999", "1" * 5000, "1e" + "9" * 5000, "16Ei", "1e-10", 2**63],
)
def test_a_quantity_that_kubernetes_cannot_hold_is_refused_in_words(text: str | int) -> None:
    with pytest.raises(ValueError, match="no resource quantity") as refused:
        parse_quantity(text)
    assert len(str(refused.value)) < 200


@given(
    st.from_regex(r"[+-]?[0-9]{0,80}\.?[0-9]{0,80}([eE][+-]?[0-9]{1,5000}|[KMGTPE]i|[numkMGTPE]?)")
    | st.text()
    | st.integers()
    | st.floats()
)
def test_any_text_is_a_quantity_within_bounds_or_is_refused(text: str | float) -> None:
    try:
        found = parse_quantity(text)
    except ValueError:
        return
    assert abs(found) < 2**63
    assert found == found.quantize(Decimal("1e-9"), context=Context(prec=60))


def test_a_role_has_a_namespace_and_a_cluster_role_none() -> None:
    rule = Rule((""), ("pods",), ("get",), names=("a",))
    assert role_manifest("r", [rule], "ns")["kind"] == "Role"
    assert role_manifest("r", [rule])["kind"] == "ClusterRole"
    assert role_manifest("r", [rule])["rules"][0]["resourceNames"] == ["a"]


def test_nothing_can_belong_to_an_object_without_a_uid() -> None:
    with pytest.raises(SchemaError, match="has no uid"):
        owner_reference({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})


def test_an_owner_reference_names_the_owner() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "uid": "u"}}
    assert owner_reference(owner) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "a",
        "uid": "u",
        "controller": True,
        "blockOwnerDeletion": True,
    }
