# SPDX-License-Identifier: Apache-2.0
"""Bugs 6 to 11 and 30 of docs/bugs.md: what a watch says, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop import errors
from dglop.errors import CacheNotSyncedError
from dglop.runtime.cache import Limits
from dglop.testing.scripted_cache import pod
from dglop.testing.scripted_replies import bookmark, event, expired, items, status, stream, text
from test.unit.runtime.cache.informers import started, watches

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.testing.scripted import Exchange, Reply, ScriptedServer
    from dglop.testing.scripted_clock import EagerClock

pytestmark = pytest.mark.scripted


def versions(server: ScriptedServer) -> list[str | None]:
    return [each.query.get("resourceVersion") for each in server.requests if each.is_watch]


async def test_bug_06_unordered_initial_events_do_not_move_the_version(
    server: ScriptedServer, make_cache: Any
) -> None:
    """The official client's watch went back to 5 and replayed on each reconnect."""
    server.watches(
        stream(
            event("ADDED", pod("a", 7)),
            event("ADDED", pod("b", 5)),
            bookmark("8", ends_initial=True),
            then="end",
        ),
        stream(event("MODIFIED", pod("b", 9)), then="end"),
        stream(),
    )
    _, hearer = await started(make_cache())
    await server.until(3, watches)
    assert versions(server) == [None, "8", "9"]
    assert hearer.heard == ["+a@7!", "+b@5!", "~b@5>9"]


async def test_bug_06_a_version_that_comes_late_does_not_take_the_watch_back(
    server: ScriptedServer, make_cache: Any
) -> None:
    server.lists(items([pod("a", 5)], "10"))
    server.watches(stream(event("MODIFIED", pod("a", 12)), bookmark("11"), then="end"), stream())
    await started(make_cache(streams=False))
    await server.until(2, watches)
    assert versions(server) == ["10", "12"]


@pytest.mark.parametrize("how", ["in the stream", "as the answer"])
async def test_bug_07_an_expired_version_costs_one_list_and_brings_the_missed_deletion(
    server: ScriptedServer, make_cache: Any, clock: EagerClock, how: str
) -> None:
    """The same version was tried again and again: kubernetes_asyncio#136, kr8s#476."""
    gone = stream(expired()) if how == "in the stream" else status(410, "Expired")
    server.lists(items([pod("a", 5), pod("b", 6)], "10"), items([pod("b", 6)], "50"))
    server.watches(gone, stream(event("MODIFIED", pod("b", 51))))
    informer, hearer = await started(make_cache(streams=False))
    await hearer.until("~b@6>51")
    assert hearer.heard == ["+a@5!", "+b@6!", "-a@5?", "~b@6>51"]
    assert versions(server) == ["10", "50"]
    assert len(server.requests) == 4
    assert min(clock.pauses) >= 0.8
    assert informer.health.relists == 1


CODES = {
    400: ("BadRequest", errors.BadRequestError),
    401: ("Unauthorized", errors.UnauthorizedError),
    403: ("Forbidden", errors.ForbiddenError),
    404: ("NotFound", errors.NotFoundError),
    410: ("Expired", errors.GoneError),
    429: ("TooManyRequests", errors.TooManyRequestsError),
    500: ("InternalError", errors.ServerError),
    502: ("BadGateway", errors.ServerError),
    504: ("Timeout", errors.ServerError),
}


def bad(code: int, *, is_json: bool) -> Reply:
    return status(code, CODES[code][0], "no") if is_json else text("<html>\nno\n</html>\n", code)


@pytest.mark.parametrize("is_json", [True, False])
@pytest.mark.parametrize("code", CODES)
async def test_bug_08_an_error_is_a_typed_error_and_never_an_event(
    server: ScriptedServer, client: Client, make_cache: Any, *, code: int, is_json: bool
) -> None:
    """A Status was decoded as an event, its version was "None": python-base#57, #199."""
    server.lists(items([pod("a", 5)], "10"))
    reply = bad(code, is_json=is_json)
    server.watches(reply, reply, stream(event("MODIFIED", pod("a", 11))))
    with pytest.raises(CODES[code][1]) as caught:
        await anext(client.stream("/w", query={"watch": "true"}, read_idle=30))
    assert caught.value.status == code
    _, hearer = await started(make_cache(streams=False))
    await hearer.until("~a@5>11")
    assert hearer.heard == ["+a@5!", "~a@5>11"]
    assert versions(server)[1:] == ["10", "10"]


@pytest.mark.parametrize("body", ["<html>\nlog in\n</html>\n", '{"kind":"Status","code":403}\n'])
async def test_bug_08_a_good_status_with_anything_but_events_in_it_is_an_error_too(
    server: ScriptedServer, make_cache: Any, body: str
) -> None:
    server.lists(items([pod("a", 5)], "10"))
    server.watches(text(body, 200), stream(event("MODIFIED", pod("a", 11))))
    _, hearer = await started(make_cache(streams=False))
    await hearer.until("~a@5>11")
    assert hearer.heard == ["+a@5!", "~a@5>11"]
    assert versions(server) == ["10", "10"]


async def test_bug_09_a_server_that_closes_at_once_gets_four_requests_in_five_seconds(
    server: ScriptedServer, make_cache: Any, clock: EagerClock
) -> None:
    """The official client's watch made 2 911 requests in 2 s."""
    server.lists(items([], "1"))
    server.watches(stream(then="end"))
    await started(make_cache(streams=False, jitter=lambda: 0.0))
    await server.until(6, watches)
    sent_at = [0.0] + [sum(clock.pauses[:count]) for count in range(5)]  # the list, then five watches
    assert sum(moment < 5.0 for moment in sent_at) <= 4


@pytest.mark.parametrize("size", [3_000_000, 8_000_000])
async def test_bug_10_a_line_may_be_longer_than_any_buffer(
    server: ScriptedServer, make_cache: Any, size: int
) -> None:
    """A line over the HTTP library's limit ended the watch: zalando kopf#275, kubernetes_asyncio#137."""
    server.lists(items([], "1"))
    server.watches(stream(event("ADDED", pod("a", 2, data="x" * size)), event("ADDED", pod("b", 3))))
    informer, hearer = await started(make_cache(streams=False))
    await hearer.until("+b@3")
    assert hearer.heard == ["+a@2", "+b@3"]
    assert informer.health.last_error == ""


@pytest.mark.parametrize("end", ["cut", "reset"])
async def test_bug_11_a_half_line_is_dropped_and_the_watch_goes_on_from_the_last_whole_one(
    server: ScriptedServer, make_cache: Any, end: str
) -> None:
    """IncompleteRead was thrown at the user: kubernetes-client/python#972, #728."""
    line = event("ADDED", pod("b", 3))

    async def half(exchange: Exchange) -> None:
        await exchange.start(200)
        await exchange.chunk(event("ADDED", pod("a", 2)) + line[:40])
        await hearer.until("+a@2")  # a reset would overtake it
        getattr(exchange, end)()

    server.lists(items([], "1"))
    server.watches(half, stream(line))
    _, hearer = await started(make_cache(streams=False))
    await hearer.until("+b@3")
    assert hearer.heard == ["+a@2", "+b@3"]
    assert versions(server) == ["1", "2"]
    assert sum(not each.is_watch for each in server.requests) == 1


@pytest.mark.parametrize("then", ["stay", "end"])
async def test_bug_30_initial_events_that_never_end_lead_to_a_list(
    server: ScriptedServer, make_cache: Any, then: str
) -> None:
    """A server that takes sendInitialEvents and does not end them: kubernetes#140890, k9s#4186."""
    server.on(lambda seen: "sendInitialEvents" in seen.query, stream(event("ADDED", pod("a", 5)), then=then))
    server.lists(status(500, "InternalError"), items([pod("a", 5)], "10"))
    server.watches(stream())
    cache = make_cache(limits=Limits(initial=0.05))
    informer, hearer = await started(cache)
    await cache.wait_synced(60)
    assert hearer.heard == ["+a@5!"]
    assert sum("sendInitialEvents" in each.query for each in server.requests) <= 3
    assert informer.health.synced


async def test_bug_30_until_then_readiness_names_the_kind(server: ScriptedServer, make_cache: Any) -> None:
    server.on(lambda seen: "sendInitialEvents" in seen.query, stream(event("ADDED", pod("a", 5))))
    informer, _ = await started(make_cache())
    await server.until(1, watches)
    assert str(informer.health) == "pods: waiting for the first list"
    with pytest.raises(CacheNotSyncedError, match="pods: waiting for the first list"):
        await informer.wait_synced(0.05)
