# SPDX-License-Identifier: Apache-2.0
"""Informers against servers and networks that misbehave, over real sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop.runtime.cache import Limits
from dglop.testing.scripted_replies import (
    bookmark,
    drop,
    event,
    expired,
    items,
    silence,
    status,
    stream,
    text,
)

if TYPE_CHECKING:
    from dglop.testing.scripted import Exchange, ScriptedServer
    from dglop.testing.scripted_clock import EagerClock
from dglop.testing.scripted_cache import pod
from test.unit.runtime.cache.informers import started, watches

pytestmark = pytest.mark.scripted


async def test_a_reconnected_watch_goes_on_where_the_last_one_was(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.lists(items([pod("a", 5)], "10"))
    server.watches(
        stream(event("MODIFIED", pod("a", 11)), then="end"),
        stream(event("MODIFIED", pod("a", 12)), bookmark("20"), then="cut"),
        stream(bookmark("30"), then="end"),
        stream(event("DELETED", pod("a", 31)), then="reset"),
        stream(event("ADDED", pod("b", 32))),
    )
    _, hearer = await started(make_cache(streams=False))
    await hearer.until("+b@32")
    assert hearer.heard == ["+a@5!", "~a@5>11", "~a@11>12", "-a@31", "+b@32"]
    seen = await server.until(5, watches)
    assert [each.query["resourceVersion"] for each in seen] == ["10", "11", "20", "30", "31"]
    assert sum(not each.is_watch for each in server.requests) == 1


async def test_every_watch_has_limits_on_both_sides_and_asks_for_bookmarks(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.lists(items([], "1"))
    server.watches(stream())
    cache = make_cache(streams=False)
    await started(cache)
    (seen,) = await server.until(1, watches)
    assert 300 <= int(seen.query["timeoutSeconds"]) < 601
    assert seen.query["allowWatchBookmarks"] == "true"


async def test_a_watch_that_falls_silent_is_opened_again_without_losing_an_event(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.lists(items([], "1"))
    server.watches(stream(), stream(event("ADDED", pod("a", 2))))
    informer, hearer = await started(make_cache(streams=False, limits=Limits(watch=0.02, grace=0.05)))
    await hearer.until("+a@2")
    assert [each.query["resourceVersion"] for each in server.requests if each.is_watch] == ["1", "1"]
    assert informer.health.last_error != ""
    assert informer.health.consecutive_failures == 0


async def test_a_server_that_takes_requests_and_never_answers_is_left_in_time(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.lists(items([], "1"))
    server.watches(silence, stream(event("ADDED", pod("a", 2))))
    _, hearer = await started(make_cache(streams=False, limits=Limits(watch=0.02, grace=0.05)))
    await hearer.until("+a@2")


@pytest.mark.parametrize("streams", [True, False])
async def test_an_expired_watch_leads_to_one_new_state_with_the_deletions_it_implies(
    server: ScriptedServer, make_cache: Any, clock: EagerClock, *, streams: bool
) -> None:
    before = [pod("a", 5), pod("b", 3), pod("c", 4)]
    after = [pod("b", 7), pod("c", 4, uid="new")]
    later = event("ADDED", pod("d", 51))
    if streams:
        first, second = ([event("ADDED", each) for each in state] for state in (before, after))
        server.watches(
            stream(*first, bookmark("10", ends_initial=True), expired()),
            stream(*second, bookmark("50", ends_initial=True), later),
        )
    else:
        server.lists(items(before, "10"), items(after, "50"))
        server.watches(stream(expired()), stream(later))
    informer, hearer = await started(make_cache(streams=streams))
    await hearer.until("+d@51")
    assert hearer.heard == ["+a@5!", "+b@3!", "+c@4!", "-a@5?", "~b@3>7", "-c@4?", "+c@4", "+d@51"]
    whole = [each for each in server.requests if not each.is_watch or "sendInitialEvents" in each.query]
    assert len(whole) == 2
    assert whole[1].query["resourceVersion"] == "10"
    assert informer.health.relists == 1
    assert min(clock.pauses) >= 0.8
    assert {each.key for each in informer.store} == {("n", "b"), ("n", "c"), ("n", "d")}


async def test_a_watch_refused_as_expired_leads_to_one_list(server: ScriptedServer, make_cache: Any) -> None:
    server.lists(items([], "10"), items([pod("a", 11)], "50"))
    server.watches(status(410, "Expired"), stream())
    _, hearer = await started(make_cache(streams=False))
    await hearer.until("+a@11")
    await server.until(2, watches)
    assert len(server.requests) == 4


async def test_a_list_whose_version_is_gone_is_taken_of_any_version(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.lists(items([], "10"), status(410, "Expired"), items([pod("a", 11)], "50"))
    server.watches(stream(expired()), stream())
    _, hearer = await started(make_cache(streams=False))
    await hearer.until("+a@11")
    lists = [each.query for each in server.requests if not each.is_watch]
    assert [each.get("resourceVersion") for each in lists] == ["0", "10", None]


async def test_initial_events_come_in_any_order_and_only_their_end_counts(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.watches(
        stream(event("ADDED", pod("a", 7)), event("ADDED", pod("b", 5)), then="cut"),
        stream(event("ADDED", pod("a", 7)), bookmark("9"), bookmark("8", ends_initial=True), then="end"),
        stream(),
    )
    server.lists(items([pod("a", 7)], "8"))
    informer, hearer = await started(make_cache())
    await hearer.until("+a@7!")
    await informer.wait_synced(10)
    first, *rest = await server.until(2, watches)
    assert "resourceVersion" not in first.query
    assert rest[-1].query["resourceVersion"] == "8"
    assert hearer.heard == ["+a@7!"]


async def test_a_server_that_closes_at_once_is_not_asked_in_a_hot_loop(
    server: ScriptedServer, make_cache: Any, clock: EagerClock
) -> None:
    server.lists(items([], "1"))
    server.watches(stream(then="end"))
    await started(make_cache(streams=False))
    await server.until(6, watches)
    assert sum(not each.is_watch for each in server.requests) == 1
    assert all(pause >= 0.8 * 2**index for index, pause in enumerate(clock.pauses[:5]))


@pytest.mark.parametrize(
    "bad",
    [
        status(400, "BadRequest"),
        status(401, "Unauthorized"),
        status(403, "Forbidden"),
        status(404, "NotFound"),
        status(429, "TooManyRequests"),
        status(500, "InternalError"),
        text("<html>502</html>", 502),
        text("", 504),
        text("<html>\nlog in\n</html>\n", 200),
        text('{"kind":"Status","code":403}\n', 200),
        drop,
    ],
)
async def test_a_bad_answer_to_a_watch_is_never_an_event_and_leaves_the_version(
    server: ScriptedServer, make_cache: Any, bad: Any
) -> None:
    server.lists(items([pod("a", 5)], "10"))
    server.watches(bad, stream(event("MODIFIED", pod("a", 11))))
    _informer, hearer = await started(make_cache(streams=False))
    await hearer.until("~a@5>11")
    assert hearer.heard == ["+a@5!", "~a@5>11"]
    assert [each.query["resourceVersion"] for each in server.requests if each.is_watch] == ["10", "10"]


async def test_an_object_of_eight_megabytes_is_taken(server: ScriptedServer, make_cache: Any) -> None:
    server.lists(items([], "1"))
    server.watches(stream(event("ADDED", pod("a", 2, data="x" * 8_000_000)), event("ADDED", pod("b", 3))))
    _, hearer = await started(make_cache(streams=False))
    await hearer.until("+b@3")
    assert hearer.heard == ["+a@2", "+b@3"]


async def test_a_half_line_is_dropped_and_sent_again_whole(server: ScriptedServer, make_cache: Any) -> None:
    line = event("ADDED", pod("a", 2))

    async def half(exchange: Exchange) -> None:
        await exchange.start(200)
        await exchange.chunk(bookmark("1") + line[:40])
        exchange.cut()

    server.lists(items([], "1"))
    server.watches(half, stream(line))
    _, hearer = await started(make_cache(streams=False))
    await hearer.until("+a@2")
    assert hearer.heard == ["+a@2"]
