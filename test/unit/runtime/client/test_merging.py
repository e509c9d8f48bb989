# SPDX-License-Identifier: Apache-2.0
"""Merge bodies, grafts and tries after a conflict, as plain functions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dglop.errors import ConflictError, NotFoundError
from dglop.runtime.client import retry_on_conflict
from dglop.runtime.client.merging import graft, merge_body
from dglop.runtime.difference import is_merged


def test_what_the_server_owns_is_no_change() -> None:
    before = {"kind": "A", "metadata": {"name": "a", "resourceVersion": "1", "generation": 1}}
    after = {"kind": "A", "metadata": {"name": "a", "resourceVersion": "2", "generation": 2}}
    assert merge_body(before, after) is None
    assert merge_body(before, {**after, "status": {"x": 1}}) is None


@pytest.mark.parametrize(
    ("base", "before", "after", "wanted"),
    [
        # a field that the type does not know stays beside one that changed
        ({"a": 1, "new": 2}, {"a": 1}, {"a": 3}, {"a": 3, "new": 2}),
        # one that was taken away goes, whatever else is there
        ({"a": 1, "new": 2}, {"a": 1}, {}, {"new": 2}),
        # a default that only the type knows of is not written
        ({}, {"a": 1}, {"a": 1}, {}),
        ({}, {"a": 1, "b": 1}, {"a": 1, "b": 2}, {"b": 2}),
        # items are paired by name
        (
            {"c": [{"name": "x", "new": 1, "v": 1}, {"name": "y", "new": 2, "v": 1}]},
            {"c": [{"name": "x", "v": 1}, {"name": "y", "v": 1}]},
            {"c": [{"name": "z", "v": 0}, {"name": "y", "v": 5}]},
            {"c": [{"name": "z", "v": 0}, {"name": "y", "new": 2, "v": 5}]},
        ),
        # without names, by place
        ({"c": [{"new": 1, "v": 1}]}, {"c": [{"v": 1}]}, {"c": [{"v": 2}]}, {"c": [{"new": 1, "v": 2}]}),
        # two items of one name are not told apart by it
        (
            {"p": [{"port": 1, "x": "T"}, {"port": 1, "x": "U"}]},
            {"p": [{"port": 1}, {"port": 1}]},
            {"p": [{"port": 1}, {"port": 1, "v": 1}]},
            {"p": [{"port": 1, "x": "T"}, {"port": 1, "x": "U", "v": 1}]},
        ),
        ({"l": [1, 2]}, {"l": [1, 2]}, {"l": [2]}, {"l": [2]}),
        ({"a": True}, {"a": True}, {"a": 1}, {"a": 1}),
    ],
)
def test_a_change_is_grafted_onto_what_the_type_does_not_show(
    base: Any, before: Any, after: Any, wanted: Any
) -> None:
    found = graft(base, before, after)
    assert found == wanted
    assert repr(found) == repr(wanted) or set(map(str, found)) == set(map(str, wanted))


_JSON = st.recursive(
    st.integers() | st.text(max_size=3) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=8,
)
_OBJECT = st.dictionaries(st.sampled_from("abcd"), _JSON, max_size=4)


@given(_OBJECT, _OBJECT)
def test_where_the_type_shows_all_the_graft_is_the_change_itself(before: Any, after: Any) -> None:
    assert graft(before, before, after) == after
    assert graft(before, after, after) == before


@given(_OBJECT, _OBJECT)
def test_a_merge_body_leads_from_one_state_to_the_other(before: Any, after: Any) -> None:
    one = {"kind": "A", "metadata": {"name": "a"}, "spec": before}
    other = {"kind": "A", "metadata": {"name": "a"}, "spec": after}
    body = merge_body(one, other)
    if body is None:
        assert one == other
    else:
        assert is_merged(body, other)


async def test_a_conflict_is_tried_again_and_the_last_one_raised() -> None:
    tries, pauses = 0, []

    async def work() -> str:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise ConflictError(409, "Conflict", f"try {tries}")
        return "done"

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    assert await retry_on_conflict(work, sleep=sleep, jitter=lambda: 0.0) == "done"
    assert pauses == [0.01, 0.02]
    tries = -9
    with pytest.raises(ConflictError, match="try -5"):
        await retry_on_conflict(work, attempts=4, sleep=sleep)


async def test_another_error_is_raised_at_once() -> None:
    tries = 0

    async def work() -> None:
        nonlocal tries
        tries += 1
        raise NotFoundError(404, "NotFound", "gone")

    with pytest.raises(NotFoundError):
        await retry_on_conflict(work)
    assert tries == 1
