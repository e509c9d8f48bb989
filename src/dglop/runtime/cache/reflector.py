# SPDX-License-Identifier: Apache-2.0
"""What a reflector does next: a pure step from what it knows and what just happened.

The rules are client-go's (tools/cache/reflector.go), with two of our own: a watch that ends at once is
opened again with back-off instead of listing anew, and a server that takes sendInitialEvents but never
ends them is listed after a bounded time (kubernetes/kubernetes#140890).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dglop.errors import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    BadRequestError,
    DglopError,
    GoneError,
    InvalidError,
    ServerError,
    TooManyRequestsError,
)

__all__ = (
    "Action",
    "ListFailed",
    "Listed",
    "NoInitialEndError",
    "Outcome",
    "State",
    "Stream",
    "StreamEnded",
    "TakeList",
    "begin",
    "is_too_large",
    "newer",
    "step",
)

PAGE = 500
SMALL_PAGE = 250  # some are in memory at once, and cost a server that has them little more than one
_FIRST_SECONDS = 0.8
_LONGEST_SECONDS = 30.0
_FORGIVEN_SECONDS = 120.0
_SHORT_SECONDS = 1.0
_INTERNAL_SECONDS = 60.0
_ENDLESS_STREAMS = 2


class NoInitialEndError(DglopError):
    """The server took sendInitialEvents, but its initial events did not end."""


@dataclass(frozen=True, slots=True)
class State:
    """What a reflector knows of the server.

    `last_rv` is the newest resource version seen; a list may never be older. `rv_unavailable` says that
    the server could not serve that, so that the next list is a quorum read. `paged` says that the first
    list came in pages: there is no watch cache. `endless` counts the streams in a row whose initial events
    did not end, though nothing else was wrong. Times are of the caller's monotonic clock.
    """

    last_rv: str = ""
    rv_unavailable: bool = False
    paged: bool = False
    pages: bool = False
    streams: bool = True
    endless: int = 0
    failures: int = 0
    failed_at: float = 0.0
    internal_since: float | None = None


@dataclass(frozen=True, slots=True)
class TakeList:
    """List everything, `limit` objects a page (0: all at once), after a pause."""

    rv: str
    limit: int
    after: float = 0.0


@dataclass(frozen=True, slots=True)
class Stream:
    """Watch from `rv`, after a pause; with `initial`, the server first sends everything."""

    rv: str
    initial: bool = False
    after: float = 0.0


Action = TakeList | Stream


@dataclass(frozen=True, slots=True)
class Listed:
    """A list was complete and is in the store."""

    rv: str
    paged: bool


@dataclass(frozen=True, slots=True)
class ListFailed:
    """A list failed; `continuing` if on a later page."""

    error: DglopError
    action: TakeList
    continuing: bool = False


@dataclass(frozen=True, slots=True)
class StreamEnded:
    """A watch ended: `rv` is where to go on, `error` None for the server's own end.

    `synced` says that there is a whole state: always true unless initial events were asked for and
    did not end.
    """

    rv: str
    synced: bool
    events: int
    seconds: float
    error: DglopError | None = None
    initial: bool = False


Outcome = Listed | ListFailed | StreamEnded


def begin(state: State, *, after: float = 0.0) -> Action:
    """How to get the whole state."""
    if state.pages:
        return TakeList("", SMALL_PAGE, after)
    if state.streams:
        return Stream("" if state.rv_unavailable else state.last_rv, initial=True, after=after)
    return _list(state, after)


def step(state: State, outcome: Outcome, *, now: float, jitter: float) -> tuple[State, Action]:
    """What follows from `outcome`; `jitter` is in [0, 1)."""
    match outcome:
        case Listed():
            paged = state.paged or (outcome.paged and not state.last_rv and not state.pages)
            known = replace(state, last_rv=outcome.rv, rv_unavailable=False, paged=paged)
            return known, Stream(outcome.rv)
        case ListFailed():
            return _after_list(state, outcome, now, jitter)
        case StreamEnded(synced=True):
            endless = 0 if outcome.initial else state.endless
            known = replace(state, last_rv=outcome.rv, rv_unavailable=False, endless=endless)
            return _after_watch(known, outcome, now, jitter)
        case StreamEnded():
            return _after_initial(state, outcome, now, jitter)


def _after_list(state: State, failed: ListFailed, now: float, jitter: float) -> tuple[State, Action]:
    if isinstance(failed.error, GoneError) and failed.continuing:
        # The history that the continue token needs is gone; one unpaged answer needs none.
        return state, TakeList(failed.action.rv, 0)
    if (isinstance(failed.error, GoneError) or is_too_large(failed.error)) and failed.action.rv:
        unavailable = replace(state, rv_unavailable=True)
        return unavailable, _list(unavailable, 0.0)
    state, pause = _failed(state, failed.error, now, jitter)
    return state, begin(state, after=pause)


def _after_initial(state: State, ended: StreamEnded, now: float, jitter: float) -> tuple[State, Action]:
    error = ended.error
    if isinstance(error, TooManyRequestsError) or _is_refused(error):
        state, pause = _failed(state, error, now, jitter)
        return state, begin(state, after=pause)
    if (isinstance(error, GoneError) or is_too_large(error)) and not state.rv_unavailable:
        state = replace(state, rv_unavailable=True)
        return state, begin(state)
    if isinstance(error, BadRequestError | InvalidError):
        state = replace(state, streams=False)  # a server that does not know initial events
        return state, _list(state, 0.0)
    if error is None or isinstance(error, NoInitialEndError):
        # Only this would go on for ever; after any other failure the next stream may well be whole.
        endless = state.endless + 1
        state = replace(state, endless=endless, streams=endless < _ENDLESS_STREAMS)
    if isinstance(error, NoInitialEndError):
        return state, _list(state, 0.0)
    state, pause = _failed(state, error, now, jitter)
    return state, _list(state, pause)


def _after_watch(state: State, ended: StreamEnded, now: float, jitter: float) -> tuple[State, Action]:
    error = ended.error
    resumed = Stream(ended.rv)
    was_short = ended.events == 0 and ended.seconds < _SHORT_SECONDS
    if error is None or _is_cut(error):
        if not was_short:
            return replace(state, internal_since=None), resumed
        state, pause = _failed(state, error, now, jitter)
        return state, replace(resumed, after=pause)
    state, pause = _failed(state, error, now, jitter)
    if isinstance(error, TooManyRequestsError) or _is_refused(error):
        return state, replace(resumed, after=pause)
    if isinstance(error, ServerError) and error.reason == "InternalError":
        since = now if state.internal_since is None else state.internal_since
        if now - since < _INTERNAL_SECONDS:
            return replace(state, internal_since=since), replace(resumed, after=pause)
    state = replace(state, internal_since=None)
    # Also for 410: the list may be served at the version last seen, by a replica that still has it.
    return state, begin(state, after=pause)


def _list(state: State, after: float) -> TakeList:
    rv = "" if state.rv_unavailable else state.last_rv or "0"
    # A concrete version is served from the watch cache only without a limit.
    limit = PAGE if rv in ("", "0") or state.paged else 0
    return TakeList(rv, limit, after)


def _failed(state: State, error: DglopError | None, now: float, jitter: float) -> tuple[State, float]:
    """Counts a failure and says how long to wait: [d, 2d) with d doubling from 0.8 s to 30 s."""
    failures = state.failures if now - state.failed_at <= _FORGIVEN_SECONDS else 0
    pause = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2.0 ** min(failures, 16)) * (1.0 + jitter)
    wished = error.retry_after if isinstance(error, ApiError) and error.retry_after else 0.0
    return replace(state, failures=failures + 1, failed_at=now), max(pause, wished)


def _is_refused(error: DglopError | None) -> bool:
    return isinstance(error, ApiConnectionError) and not error.sent


def _is_cut(error: DglopError) -> bool:
    """Whether the answer broke off or fell silent, which says nothing about the version."""
    return isinstance(error, ApiConnectionError | ApiTimeoutError) and error.sent


def is_too_large(error: DglopError | None) -> bool:
    """Whether the server says that it has not yet seen the version asked for."""
    if not isinstance(error, ApiError):
        return False
    causes = error.details.get("causes")
    if isinstance(causes, list) and any(
        isinstance(each, dict) and each.get("reason") == "ResourceVersionTooLarge" for each in causes
    ):
        return True
    return "Too large resource version" in error.message


def newer(known: str, seen: str) -> str:
    """`seen`, unless it is plainly older than `known`: versions are decimal and grow."""
    if known.isdecimal() and seen.isdecimal() and int(seen) < int(known):
        return known
    return seen or known
