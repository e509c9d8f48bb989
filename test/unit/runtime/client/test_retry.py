# SPDX-License-Identifier: Apache-2.0
"""What is sent again, and after how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dglop.errors import ApiConnectionError, ApiError, ApiTimeoutError, ServerError, TooManyRequestsError
from dglop.runtime.api import Resource
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.client.retry import backoff_seconds, is_retryable
from dglop.testing.scripted import ScriptedServer
from dglop.testing.scripted_replies import answer, drop, status

if TYPE_CHECKING:
    from dglop.testing.scripted_clock import EagerClock

POD = Resource("", "v1", "Pod", "pods")
WIRE = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "n"}}


def anything(_: object) -> bool:
    return True


@pytest.mark.parametrize(
    ("error", "read", "write"),
    [
        (TooManyRequestsError(429, "TooManyRequests", ""), True, True),
        (ServerError(500, "InternalError", ""), True, False),
        (ServerError(503, "Unavailable", "", retry_after=1), True, True),
        (ApiConnectionError("refused", sent=False), True, True),
        (ApiConnectionError("reset", sent=True), True, False),
        (ApiTimeoutError("late"), True, False),
        (ApiError(404, "NotFound", ""), False, False),
        (ValueError("bug"), False, False),
    ],
)
def test_only_what_cannot_be_done_twice_is_sent_again(error: Exception, read: bool, write: bool) -> None:
    assert is_retryable(error, idempotent=True) is read
    assert is_retryable(error, idempotent=False) is write


def test_the_pause_doubles_to_a_limit_and_is_never_under_the_servers_wish() -> None:
    assert [backoff_seconds(n, None, 0.0) for n in (1, 2, 3)] == [0.1, 0.2, 0.4]
    assert backoff_seconds(50, None, 0.999) <= 10.0
    slow = TooManyRequestsError(429, "TooManyRequests", "", retry_after=7.0)
    assert 7.0 <= backoff_seconds(1, slow, 0.5) <= 7.1


@pytest.mark.scripted
async def test_a_write_that_was_refused_for_load_is_sent_again(
    server: ScriptedServer, client: Client, clock: EagerClock
) -> None:
    server.on(anything, status(429, "TooManyRequests", retry_after=3), answer(WIRE))
    assert await client.create(WIRE) == WIRE
    assert len(server.requests) == 2
    assert clock.pauses[0] >= 3


@pytest.mark.scripted
async def test_a_write_that_may_have_been_done_is_not_sent_again(
    server: ScriptedServer, client: Client
) -> None:
    server.on(anything, status(500, "InternalError"), answer(WIRE))
    with pytest.raises(ServerError):
        await client.create(WIRE)
    assert len(server.requests) == 1


@pytest.mark.scripted
async def test_reads_and_applies_outlive_a_bad_moment(server: ScriptedServer, client: Client) -> None:
    server.on(anything, status(503, "Unavailable"), drop, answer(WIRE))
    assert await client.get(POD, "a") == WIRE
    server.requests.clear()
    assert await client.apply(WIRE) == WIRE


@pytest.mark.scripted
async def test_a_wish_beyond_the_budget_is_not_waited_for(
    server: ScriptedServer, client: Client, clock: EagerClock
) -> None:
    server.on(anything, status(429, "TooManyRequests", retry_after=999))
    with pytest.raises(TooManyRequestsError):
        await client.get(POD, "a")
    assert clock.pauses == []


async def test_a_server_that_is_not_there_is_tried_a_few_times(clock: EagerClock) -> None:
    async with ScriptedServer() as gone:
        url = gone.url
    async with await Client.connect(ClientConfig(host=url), clock=clock) as client:
        with pytest.raises(ApiConnectionError) as caught:
            await client.get(POD, "a")
    assert not caught.value.sent
    assert len(clock.pauses) == 4
