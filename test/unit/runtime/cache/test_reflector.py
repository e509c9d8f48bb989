# SPDX-License-Identifier: Apache-2.0
"""What a reflector does next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dglop.errors import (
    ApiConnectionError,
    ApiTimeoutError,
    BadRequestError,
    DglopError,
    ForbiddenError,
    GoneError,
    ServerError,
    TooManyRequestsError,
)
from dglop.runtime.cache.reflector import (
    Listed,
    ListFailed,
    NoInitialEndError,
    State,
    Stream,
    StreamEnded,
    TakeList,
    begin,
    is_too_large,
    newer,
    step,
)

GONE = GoneError(410, "Expired", "")
TOO_LARGE = ServerError(504, "Timeout", "Too large resource version: 9, current: 5")
LOAD = TooManyRequestsError(429, "TooManyRequests", "", retry_after=7.0)
REFUSED = ApiConnectionError("refused", sent=False)
RESET = ApiConnectionError("reset", sent=True)
SILENT = ApiTimeoutError("silent")
INTERNAL = ServerError(500, "InternalError", "")
FORBIDDEN = ForbiddenError(403, "Forbidden", "")
PLAIN = State(streams=False)
SEEN = State(streams=False, last_rv="5")


def ended(
    error: DglopError | None = None,
    *,
    rv: str = "9",
    events: int = 1,
    seconds: float = 60.0,
    synced: bool = True,
) -> StreamEnded:
    return StreamEnded(rv, synced, events, seconds, error)


def test_it_begins_with_a_stream_of_everything_or_a_list_of_any_version() -> None:
    assert begin(State()) == Stream("", initial=True)
    assert begin(PLAIN) == TakeList("0", 500)


def test_where_pages_are_cheap_it_begins_with_them_and_comes_back_to_them() -> None:
    cheap = State(pages=True, last_rv="5")
    assert begin(cheap) == TakeList("", 250)
    known, action = step(cheap, Listed("9", paged=True), now=0.0, jitter=0.0)
    assert (action, known.paged) == (Stream("9"), False)
    _, again = step(known, ended(GONE), now=9.0, jitter=0.0)
    assert again == TakeList("", 250, again.after)
    _, whole = step(known, ListFailed(GONE, TakeList("", 250), continuing=True), now=9.0, jitter=0.0)
    assert whole == TakeList("", 0)


def test_a_later_list_is_never_older_than_what_was_seen_and_unpaged_for_the_watch_cache() -> None:
    assert begin(SEEN) == TakeList("5", 0)
    assert begin(State(last_rv="5")) == Stream("5", initial=True)
    assert begin(State(streams=False, last_rv="5", paged=True)) == TakeList("5", 500)


def test_after_a_list_it_watches_from_there() -> None:
    state, action = step(PLAIN, Listed("7", paged=True), now=0, jitter=0)
    assert action == Stream("7")
    assert (state.last_rv, state.paged) == ("7", True)


@pytest.mark.parametrize("error", [GONE, TOO_LARGE])
def test_a_version_that_the_server_has_not_is_given_up_for_a_quorum_read_at_once(error: DglopError) -> None:
    state, action = step(SEEN, ListFailed(error, TakeList("5", 0)), now=0, jitter=0)
    assert action == TakeList("", 500)
    state, _ = step(state, Listed("8", paged=True), now=0, jitter=0)
    assert not state.rv_unavailable
    assert not state.paged


def test_an_expired_continue_token_leads_to_one_whole_page() -> None:
    _, action = step(PLAIN, ListFailed(GONE, TakeList("0", 500), continuing=True), now=0, jitter=0)
    assert action == TakeList("0", 0)


def test_other_failures_of_a_list_are_tried_again_ever_more_slowly() -> None:
    state, pauses = PLAIN, []
    for _ in range(8):
        state, action = step(state, ListFailed(FORBIDDEN, TakeList("0", 500)), now=0, jitter=0)
        pauses.append(action.after)
    assert pauses == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]


def test_two_quiet_minutes_forgive_earlier_failures() -> None:
    state, _ = step(PLAIN, ListFailed(FORBIDDEN, TakeList("0", 500)), now=0, jitter=0)
    state, action = step(state, ListFailed(FORBIDDEN, TakeList("0", 500)), now=130, jitter=0.5)
    assert action.after == pytest.approx(1.2)


def test_a_watch_that_ended_properly_is_opened_again_at_once_where_it_ended() -> None:
    assert step(SEEN, ended(), now=0, jitter=0)[1] == Stream("9")


@pytest.mark.parametrize("error", [RESET, SILENT])
def test_a_watch_that_broke_or_fell_silent_is_opened_again_without_a_list(error: DglopError) -> None:
    assert step(SEEN, ended(error), now=0, jitter=0)[1] == Stream("9")


@pytest.mark.parametrize("error", [None, RESET, REFUSED, LOAD])
def test_a_watch_that_ends_at_once_waits_before_the_next_one(error: DglopError | None) -> None:
    _, action = step(SEEN, ended(error, events=0, seconds=0.1), now=0, jitter=0)
    assert action == Stream("9", after=7.0 if error is LOAD else 0.8)


def test_a_watch_whose_version_is_gone_leads_to_one_list_at_the_version_last_seen() -> None:
    state, action = step(SEEN, ended(GONE), now=0, jitter=0)
    assert action == TakeList("9", 0, after=0.8)
    assert not state.rv_unavailable


def test_internal_errors_are_ridden_out_for_a_minute_and_then_listed() -> None:
    state, action = step(SEEN, ended(INTERNAL), now=100, jitter=0)
    assert isinstance(action, Stream)
    state, action = step(state, ended(INTERNAL), now=150, jitter=0)
    assert isinstance(action, Stream)
    _, action = step(state, ended(INTERNAL), now=160, jitter=0)
    assert isinstance(action, TakeList)


def test_a_server_that_knows_no_initial_events_is_listed_from_then_on() -> None:
    error = BadRequestError(400, "BadRequest", "")
    state, action = step(State(), ended(error, rv="", synced=False), now=0, jitter=0)
    assert action == TakeList("0", 500)
    assert not state.streams


def test_initial_events_without_an_end_lead_to_a_list_and_after_twice_for_good() -> None:
    error = NoInitialEndError()
    state, action = step(State(), ended(error, rv="", synced=False), now=0, jitter=0)
    assert (action, state.streams) == (TakeList("0", 500), True)
    state, _ = step(state, Listed("5", paged=False), now=0, jitter=0)
    state, action = step(state, ended(error, rv="", synced=False), now=0, jitter=0)
    assert (action, state.streams) == (TakeList("5", 0), False)


@pytest.mark.parametrize("error", [FORBIDDEN, INTERNAL, RESET])
def test_a_stream_of_everything_that_failed_otherwise_leads_to_a_list_and_is_tried_again_later(
    error: DglopError,
) -> None:
    state = State()
    for day in range(3):
        now = day * 86400.0
        state, action = step(state, ended(error, rv="", synced=False), now=now, jitter=0)
        assert isinstance(action, TakeList)
        state, _ = step(state, Listed("5", paged=False), now=now, jitter=0)
        assert isinstance(begin(state), Stream)


def test_a_server_that_ends_streams_itself_before_the_initial_events_is_listed_for_good_after_two() -> None:
    state = State()
    for streams in (True, False):
        state, action = step(state, ended(rv="", synced=False), now=0, jitter=0)
        assert isinstance(action, TakeList)
        assert state.streams is streams


def test_a_whole_stream_forgives_one_without_an_end() -> None:
    state, _ = step(State(), ended(NoInitialEndError(), rv="", synced=False), now=0, jitter=0)
    state, _ = step(state, StreamEnded("9", True, 1, 60.0, initial=True), now=0, jitter=0)
    state, _ = step(state, ended(NoInitialEndError(), rv="", synced=False), now=0, jitter=0)
    assert state.streams


@pytest.mark.parametrize("error", [REFUSED, LOAD])
def test_a_refused_stream_of_everything_is_tried_again_as_one(error: DglopError) -> None:
    _, action = step(State(), ended(error, rv="", synced=False), now=0, jitter=0)
    assert isinstance(action, Stream)
    assert action.initial
    assert action.after >= 0.8


def test_versions_do_not_go_back() -> None:
    assert newer("10", "9") == "10"
    assert newer("9", "10") == "10"
    assert newer("9", "") == "9"
    assert newer("", "4") == "4"
    assert newer("odd", "other") == "other"


def test_a_version_from_the_future_is_known_by_its_cause_too() -> None:
    cause = {"causes": [{"reason": "ResourceVersionTooLarge"}]}
    assert is_too_large(ServerError(504, "Timeout", "", cause))
    assert not is_too_large(ServerError(504, "Timeout", "", {"causes": None}))
    assert not is_too_large(None)


FAULTS = st.sampled_from(
    [GONE, TOO_LARGE, LOAD, REFUSED, RESET, SILENT, INTERNAL, FORBIDDEN, NoInitialEndError()]
)


@given(st.lists(st.tuples(FAULTS, st.booleans()), max_size=40), st.booleans(), st.sampled_from(["", "5"]))
def test_a_server_that_only_fails_is_never_asked_in_a_hot_loop(
    faults: list[tuple[DglopError, bool]], streams: bool, seen: str
) -> None:
    state = State(streams=streams, last_rv=seen)
    action, hot = begin(state), 0
    for error, later in faults:
        outcome: ListFailed | StreamEnded
        if isinstance(action, TakeList):
            outcome = ListFailed(error, action, continuing=later and action.limit > 0)
        else:
            outcome = StreamEnded(action.rv, not action.initial, 0, 0.1, error)
        state, action = step(state, outcome, now=0, jitter=0)
        hot = 0 if action.after else hot + 1
        # In a row, at most: the version is given up, the stream is, and then the continue token.
        assert hot <= 4
