# SPDX-License-Identifier: Apache-2.0
"""Patches from two states, and typed changes carried over to what the types do not know."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dglop.runtime.webhook.jsonpatch import carry_over, json_patch

KEYS = st.sampled_from(["a", "b", "a/b", "m~n", ""])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.floats(0, 2) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def apply(document: Any, patch: list[dict[str, Any]]) -> Any:
    """A plain reading of RFC 6902, of the three operations that are used."""
    root = {"": copy.deepcopy(document)}
    for operation in patch:
        *way, last = ["", *(_plain(step) for step in operation["path"].split("/")[1:])]
        place: Any = root
        for step in way:
            place = place[int(step)] if isinstance(place, list) else place[step]
        if isinstance(place, list):
            index = len(place) if last == "-" else int(last)
            if operation["op"] == "add":
                place.insert(index, operation["value"])
            elif operation["op"] == "remove":
                del place[index]
            else:
                place[index] = operation["value"]
        elif operation["op"] == "remove":
            del place[last]
        else:
            assert operation["op"] == "add" or last in place
            place[last] = operation["value"]
    return root[""]


def _plain(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def _strict(value: Any) -> Any:
    """What keeps 1, 1.0 and True apart."""
    if isinstance(value, dict):
        return {key: _strict(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_strict(each) for each in value]
    return (type(value).__name__, value)


@given(JSON, JSON)
def test_a_patch_makes_the_one_state_of_the_other(before, after):
    assert _strict(apply(before, json_patch(before, after))) == _strict(after)


@given(JSON)
def test_nothing_changed_is_no_operation(state):
    assert json_patch(state, copy.deepcopy(state)) == []


@given(JSON, JSON)
def test_where_types_know_everything_their_change_is_the_whole_change(before, after):
    assert _strict(carry_over(before, before, after)) == _strict(after)


@pytest.mark.parametrize(
    ("raw", "before", "after", "result"),
    [
        pytest.param({"new": 1}, {"size": 1}, {"size": 1}, {"new": 1}, id="a default of the type alone"),
        pytest.param({"new": 1}, {"size": 1}, {"size": 2}, {"new": 1, "size": 2}, id="a change"),
        pytest.param({"new": 1, "a": 1}, {"a": 1}, {}, {"new": 1}, id="a removal"),
        pytest.param(
            [{"n": "a", "new": 1}, {"n": "b", "new": 2}],
            [{"n": "a"}, {"n": "b"}],
            [{"n": "b"}],
            [{"n": "b", "new": 2}],
            id="an item gone",
        ),
        pytest.param(
            [{"n": "a", "new": 1}],
            [{"n": "a"}],
            [{"n": "z"}, {"n": "a"}],
            [{"n": "z"}, {"n": "a", "new": 1}],
            id="an item before",
        ),
        pytest.param(
            [{"n": "a", "new": 1}], [{"n": "a"}], [{"n": "z"}], [{"n": "z", "new": 1}], id="an item changed"
        ),
        pytest.param({"a": None}, {}, {"a": {"b": 1}}, {"a": {"b": 1}}, id="a null that was filled"),
    ],
)
def test_what_the_types_do_not_know_stays(raw, before, after, result):
    assert carry_over(raw, before, after) == result
