# SPDX-License-Identifier: Apache-2.0
"""What follows from a result or an error, and the patch that a status change makes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dglop.errors import AlreadyExistsError, ConflictError, TerminalError
from dglop.runtime.difference import is_touched, merge_difference
from dglop.runtime.outcome import Next, ReconcileTimeoutError, outcome_of_error, outcome_of_result
from dglop.runtime.ownwrites import PATIENCE_SECONDS, OwnWrites, is_older
from dglop.runtime.reconcile import Request, Result
from dglop.runtime.statuswrite import is_same_ground, is_written

REQUEST = Request("default", "hello")


@pytest.mark.parametrize(
    ("result", "next_", "label"),
    [
        (None, Next.FORGET, "success"),
        (Result(), Next.FORGET, "success"),
        (Result(requeue_after=timedelta(0)), Next.AFTER, "requeue_after"),
        (Result(requeue_after=timedelta(seconds=-1)), Next.AFTER, "requeue_after"),
        (Result(requeue_after=timedelta(seconds=5)), Next.AFTER, "requeue_after"),
        (Result(requeue_after=timedelta(seconds=5), requeue=True), Next.AFTER, "requeue_after"),
        (Result(requeue=True), Next.BACK_OFF, "requeue"),
    ],
)
def test_a_result_decides_what_comes_next(result, next_, label):
    outcome = outcome_of_result(result)
    assert (outcome.next, outcome.result, outcome.is_error) == (next_, label, False)


@pytest.mark.parametrize(
    ("error", "next_", "flags"),
    [
        (OSError("x"), Next.BACK_OFF, (True, False, False, False)),
        (TerminalError("x"), Next.GIVE_UP, (True, True, False, False)),
        (KeyError("x"), Next.BACK_OFF, (True, False, True, False)),
        (ReconcileTimeoutError("x"), Next.BACK_OFF, (True, False, False, True)),
        (TimeoutError("of a request"), Next.BACK_OFF, (True, False, False, False)),
        (ConflictError(409, "Conflict", "x"), Next.BACK_OFF, (False, False, False, False)),
        (AlreadyExistsError(409, "AlreadyExists", "x"), Next.BACK_OFF, (True, False, False, False)),
    ],
)
def test_an_error_decides_what_comes_next_and_what_is_counted(error, next_, flags):
    outcome = outcome_of_error(error)
    assert outcome.next is next_
    assert (outcome.is_error, outcome.is_terminal, outcome.is_bug, outcome.is_timeout) == flags


def test_a_conflict_counts_as_a_requeue_and_not_as_an_error():
    outcome = outcome_of_error(ConflictError(409, "Conflict", "x"))
    assert (outcome.next, outcome.result, outcome.is_error) == (Next.BACK_OFF, "requeue", False)


def test_what_is_gone_is_null_and_lists_are_replaced_as_a_whole():
    before = {"a": 1, "b": {"c": 1, "d": 2}, "e": [1, 2], "same": {"x": 1}}
    after = {"a": 1, "b": {"c": 3}, "e": [1], "same": {"x": 1}, "new": {}}
    assert merge_difference(before, after) == {"b": {"c": 3, "d": None}, "e": [1], "new": {}}


def test_true_and_one_are_different():
    assert merge_difference({"a": 1}, {"a": True}) == {"a": True}


json_values = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(st.sampled_from("abcd"), json_values, max_size=4)


def apply(target, patch):
    result = dict(target)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            inner = result.get(name)
            result[name] = apply(inner if isinstance(inner, dict) else {}, value)
        else:
            result[name] = value
    return result


@given(json_objects, json_objects)
def test_the_patch_leads_from_one_state_to_the_other(before, after):
    patch = merge_difference(before, after)
    assert apply(before, patch) == after
    assert bool(patch) == (repr(before) != repr(after)) or before == after


@pytest.mark.parametrize(
    ("version", "other", "older"),
    [("9", "10", True), ("10", "9", False), ("10", "10", False), ("abc", "abd", True), ("abc", "abc", False)],
)
def test_versions_compare_as_numbers_where_they_are_numbers(version, other, older):
    assert is_older(version, other) is older


def test_an_object_is_stale_until_the_cache_shows_the_write():
    writes = OwnWrites()
    writes.wrote(REQUEST, "20", 0.0)
    assert writes.is_stale(REQUEST, "19", 1.0)
    assert not writes.seen(REQUEST, "19")
    assert writes.seen(REQUEST, "21")
    assert not writes.is_stale(REQUEST, "21", 1.0)
    assert len(writes) == 0


def test_a_write_that_nobody_waited_for_wakes_nobody():
    writes = OwnWrites()
    writes.wrote(REQUEST, "20", 0.0)
    assert not writes.seen(REQUEST, "20")


def test_a_write_that_never_shows_up_is_given_up():
    writes = OwnWrites()
    writes.wrote(REQUEST, "20", 0.0)
    assert writes.is_stale(REQUEST, "19", PATIENCE_SECONDS - 1)
    assert not writes.is_stale(REQUEST, "19", PATIENCE_SECONDS)


@pytest.mark.parametrize(
    ("patch", "after", "touched"),
    [
        ({"a": 2}, {"a": 1, "b": {"c": 1}, "other": 5}, False),
        ({"a": 2}, {"a": 3, "b": {"c": 1}}, True),
        ({"b": {"c": 2}}, {"a": 1, "b": {"c": 1, "d": 7}}, False),
        ({"b": {"c": 2}}, {"a": 1, "b": {"c": 9}}, True),
        ({"b": None}, {"a": 1, "b": {"c": 1, "d": 7}}, True),
        ({"new": 1}, {"a": 1, "b": {"c": 1}, "new": None}, True),
    ],
)
def test_a_patch_is_touched_where_its_own_fields_changed(patch, after, touched):
    assert is_touched(patch, {"a": 1, "b": {"c": 1}}, after) is touched


def test_a_foreign_field_of_the_status_is_no_reason_to_decide_anew():
    read = {"metadata": {"generation": 1, "resourceVersion": "1"}, "status": {"phase": "Training"}}
    fresh = {
        "metadata": {"generation": 1, "resourceVersion": "2"},
        "status": {"phase": "Training", "trainer": {"epoch": 3}},
    }
    assert is_same_ground({"phase": "Completed"}, read, fresh)


@pytest.mark.parametrize(
    "metadata",
    [{"generation": 2}, {"generation": 1, "deletionTimestamp": "t"}, {"generation": 1, "labels": {"a": "b"}}],
)
def test_a_change_of_spec_or_metadata_is_a_reason_to_decide_anew(metadata):
    read = {"metadata": {"generation": 1}, "status": {}}
    assert not is_same_ground({"phase": "Completed"}, read, {"metadata": metadata, "status": {}})


@pytest.mark.parametrize(
    ("status", "written"),
    [
        ({"phase": "Completed", "partition": {"ready": "2/2", "more": 1}}, True),
        ({"phase": "Training", "partition": {"ready": "2/2"}}, False),
        ({"phase": "Completed", "partition": {"ready": "1/2"}}, False),
        ({"phase": "Completed", "partition": {"ready": "2/2"}, "gone": 1}, False),
    ],
)
def test_a_write_whose_answer_was_lost_is_known_by_what_it_wrote(status, written):
    patch = {"phase": "Completed", "partition": {"ready": "2/2"}, "gone": None}
    read = {"metadata": {"generation": 1}, "status": {"phase": "Training", "gone": 1}}
    assert is_written(patch, read, {"metadata": {"generation": 1}, "status": status}) is written
    assert not is_written(patch, read, {"metadata": {"generation": 2}, "status": status})
