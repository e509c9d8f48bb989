# SPDX-License-Identifier: Apache-2.0
"""A reflector's store equals the server's after any course of events."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dglop.errors import (
    ApiConnectionError,
    ApiError,
    ForbiddenError,
    GoneError,
    ServerError,
    TooManyRequestsError,
)
from dglop.runtime.api import Resource
from dglop.runtime.cache import Cache, Cached
from dglop.testing.clock import ManualClock, yield_to_tasks
from dglop.testing.scripted_world import PodWorld
from test.properties import SECONDS, thousand

if TYPE_CHECKING:
    from dglop.runtime.client import Client

POD = Resource("", "v1", "Pod", "pods")
FAULTS = [
    ApiConnectionError("refused", sent=False),
    ApiConnectionError("reset", sent=True),
    TooManyRequestsError(429, "TooManyRequests", "", retry_after=5.0),
    ServerError(500, "InternalError", ""),
    ServerError(502, "BadGateway", "<html>"),
    ServerError(504, "Timeout", "Too large resource version"),
    GoneError(410, "Expired", ""),
    ForbiddenError(403, "Forbidden", ""),
]
CHANGES = st.tuples(st.sampled_from(["put", "put", "remove", "recreate"]), st.sampled_from("abc"))
ENDINGS = st.one_of(st.sampled_from(["", "compact", "compact", "cut"]), st.sampled_from(FAULTS))
ROUNDS = st.lists(st.tuples(st.lists(CHANGES, max_size=4), ENDINGS, st.booleans()), max_size=8)
"""Changes of which none is heard before the round's ending, which may hide them; then time passes, or not."""


Rounds = list[tuple[list[tuple[str, str]], str | ApiError, bool]]


class Follower:
    """Keeps what it is told, and refuses what does not follow from it."""

    def __init__(self) -> None:
        self.pods: dict[str, Cached] = {}
        self.versions: dict[str, int] = {}

    def on_add(self, obj: Cached, is_initial: bool) -> None:
        assert obj.name not in self.pods
        assert not is_initial or obj.uid not in self.versions
        self._take(obj)

    def on_update(self, old: Cached, new: Cached) -> None:
        assert self.pods[new.name] is old
        assert old.uid == new.uid
        self._take(new)

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None:
        known = self.pods.pop(obj.name)
        assert known.uid == obj.uid
        assert not final_state_unknown or known is obj

    def _take(self, obj: Cached) -> None:
        version = int(obj.resource_version)
        assert version > self.versions.get(obj.uid, 0), "a version came twice or went back"
        self.versions[obj.uid] = version
        self.pods[obj.name] = obj


async def play(world: PodWorld, rounds: Rounds, *, streams: bool, pages: bool) -> None:
    clock = ManualClock()
    cache = Cache(cast("Client", world), clock=clock, streams=streams, pages=pages)
    informer, follower = cache.informer(POD), Follower()
    failures: list[BaseException] = []
    informer.add_handler(Checked(follower, failures))
    await cache.start()
    for changes, ending, has_time in rounds:
        for how, name in changes:
            if how == "recreate":
                world.remove(name)
            getattr(world, how.replace("recreate", "put"))(name)
        if isinstance(ending, ApiError):
            world.fault = ending
        elif ending:
            getattr(world, ending)()
        await (clock.advance(40) if has_time else yield_to_tasks())
    for _ in range(12):
        await clock.advance(70)
    await yield_to_tasks()
    expected = {name: each["metadata"]["resourceVersion"] for name, each in world.pods.items()}
    assert {each.name: each.resource_version for each in informer.store} == expected
    assert {name: each.resource_version for name, each in follower.pods.items()} == expected
    assert failures == []
    assert informer.has_synced()
    await cache.stop()


class Checked:
    """Brings a handler's refusals out, since an informer only logs them."""

    def __init__(self, inner: Follower, failures: list[BaseException]) -> None:
        self._inner = inner
        self._failures = failures

    def on_add(self, obj: Cached, is_initial: bool) -> None:
        self._checked(self._inner.on_add, obj, is_initial)

    def on_update(self, old: Cached, new: Cached) -> None:
        self._checked(self._inner.on_update, old, new)

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None:
        self._checked(self._inner.on_delete, obj, final_state_unknown)

    def _checked(self, call: object, *arguments: object) -> None:
        try:
            call(*arguments)  # type: ignore[operator]
        except (AssertionError, KeyError) as failure:
            self._failures.append(failure)


@pytest.mark.timeout(SECONDS)
@thousand()
@given(rounds=ROUNDS, streams=st.booleans(), knows_streams=st.booleans(), pages=st.booleans())
def test_store_and_handlers_equal_the_server_after_any_course_of_events(
    *, rounds: Rounds, streams: bool, knows_streams: bool, pages: bool
) -> None:
    asyncio.run(play(PodWorld(streams=knows_streams), rounds, streams=streams, pages=pages))
