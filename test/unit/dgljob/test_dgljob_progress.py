# SPDX-License-Identifier: Apache-2.0
"""The progress server: whose report is believed, and when it is written."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dglop.dgljob import Tokens
from dglop.dgljob.progress import JobRef, ProgressServer
from dglop.dgljob.report import Report, Shown, is_outdated, trainer_wire
from dglop.errors import NotFoundError, ServerError
from dglop.runtime.log import make_log
from dglop.runtime.serving import HttpRequest
from dglop.testing.clock import ManualClock
from test.unit.dgljob.dgljob_world import UID

TOKENS = Tokens(b"k" * 32)


class Shelf:
    """Keeps one job and what was written of it."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.job = JobRef("t", "g", UID, Shown(attempt=1))
        self.has_later = False
        self.written: list[dict[str, Any]] = []
        self.error: Exception | None = None

    def find(self, namespace, name):
        return self.job if (namespace, name) == ("t", "g") else None

    async def write(self, job, report, now):
        if self.error:
            raise self.error
        if not self.has_later:
            self.written.append(trainer_wire(report, now))
        return not self.has_later


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def shelf(clock) -> Shelf:
    return Shelf(clock)


@pytest.fixture
def server(shelf, clock) -> ProgressServer:
    return ProgressServer(shelf, TOKENS, clock=clock, log=make_log(level="error"))


def post(percentage=40, *, token=None, name="g", body=None, **more) -> HttpRequest:
    wire = {"progressPercentage": percentage, "metrics": [{"name": "loss", "value": "0.12"}], **more}
    return HttpRequest(
        "POST",
        "/",
        params={"namespace": "t", "name": name},
        headers={"authorization": f"Bearer {token or TOKENS.status(UID)}"},
        body=json.dumps(wire).encode() if body is None else body,
    )


async def test_a_report_becomes_the_trainers_status(server, shelf, clock):
    answer = await server.handle(post(40, attempt=1, estimatedRemainingSeconds=12.4))
    assert answer.status == 200
    (trainer,) = shelf.written
    assert trainer["progressPercentage"] == 40
    assert trainer["progress"] == "40%"
    assert trainer["estimatedRemainingSeconds"] == 12
    assert trainer["metrics"] == [{"name": "loss", "value": "0.12"}]
    assert trainer["attempt"] == 1
    assert trainer["lastUpdatedTime"] == "2026-01-01T00:00:00Z"
    assert trainer["reportTime"] == "2026-01-01T00:00:00.000000Z"


@pytest.mark.parametrize(
    "request_",
    [
        post(token="stale"),
        post(token=TOKENS.status("another-uid")),
        post(token=TOKENS.parts(UID)),
        post(name="unknown"),
        HttpRequest(
            "POST", "/", params={"namespace": "t", "name": "g"}, headers={"authorization": "Basic x"}
        ),
        HttpRequest("POST", "/", params={"namespace": "t", "name": "g"}),
    ],
    ids=["stale", "foreign", "for parts", "no such job", "not bearer", "none"],
)
async def test_only_a_jobs_own_token_is_believed(server, shelf, request_):
    assert (await server.handle(request_)).status == 401
    assert not shelf.written


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"progressPercentage": "much"}',
        b'{"metrics": [1]}',
        b'{"reportTime": "2026-01-01T00:00:00"}',
    ],
)
async def test_what_is_not_understood_is_refused_with_a_reason(server, shelf, body):
    answer = await server.handle(post(body=body))
    assert answer.status == 400
    assert b"not understood" in answer.body
    assert not shelf.written


async def test_figures_out_of_range_are_brought_into_it(server, shelf):
    many = [{"name": f"m{index}", "value": index * 0.5} for index in range(100)]
    await server.handle(post(250, metrics=[{"name": "x" * 100, "value": "y" * 100}, *many]))
    (trainer,) = shelf.written
    assert trainer["progressPercentage"] == 100
    assert len(trainer["metrics"]) == 32
    assert trainer["metrics"][0] == {"name": "x" * 64, "value": "y" * 64}


async def test_a_report_of_an_attempt_that_is_over_is_refused(server, shelf):
    shelf.job = JobRef("t", "g", UID, Shown(attempt=2))
    assert (await server.handle(post(attempt=1))).status == 409
    assert not shelf.written


async def test_a_job_is_written_once_in_ten_seconds_and_the_latest_is_kept(server, shelf, clock):
    stop = asyncio.Event()
    running = asyncio.create_task(server.run(stop))
    assert (await server.handle(post(10))).status == 200
    assert (await server.handle(post(20))).status == 202
    assert (await server.handle(post(30))).status == 202
    await clock.advance(9.5)
    assert [each["progressPercentage"] for each in shelf.written] == [10]
    await clock.advance(1)
    assert [each["progressPercentage"] for each in shelf.written] == [10, 30]
    stop.set()
    await running
    assert len(shelf.written) == 2


async def test_what_is_held_back_is_written_when_the_server_stops(server, shelf):
    stop = asyncio.Event()
    running = asyncio.create_task(server.run(stop))
    await server.handle(post(90))
    await server.handle(post(100))
    stop.set()
    await running
    assert [each["progressPercentage"] for each in shelf.written] == [90, 100]


async def test_a_write_by_another_replica_counts(server, shelf, clock):
    shelf.job = JobRef("t", "g", UID, written=clock.now() - timedelta(seconds=3))
    assert (await server.handle(post(10))).status == 202
    shelf.job = JobRef("t", "g", UID, written=datetime(2000, 1, 1, tzinfo=UTC))
    other = ProgressServer(shelf, TOKENS, clock=clock, log=make_log(level="error"))
    assert (await other.handle(post(10))).status == 200


@pytest.mark.parametrize(
    ("error", "status"),
    [(NotFoundError(404, "NotFound", "gone"), 409), (ServerError(500, "InternalError", "oops"), 503)],
)
async def test_a_refusal_of_the_api_server_is_passed_on(server, shelf, error, status):
    shelf.error = error
    assert (await server.handle(post())).status == status


async def test_the_final_report_is_written_at_once_and_nothing_older_after_it(server, shelf, clock):
    assert (await server.handle(post(10))).status == 200
    assert (await server.handle(post(40))).status == 202
    assert (await server.handle(post(100, final=True))).status == 200
    assert [each["progressPercentage"] for each in shelf.written] == [10, 100]
    assert server._throttle.due(clock.now() + timedelta(seconds=60)) == []


async def test_final_reports_are_not_a_way_round_the_limit(server, shelf):
    answers = [(await server.handle(post(percentage, final=True))).status for percentage in (98, 99, 100)]
    assert answers == [200, 202, 202]
    assert len(shelf.written) == 1


async def test_a_report_that_the_status_is_ahead_of_is_answered_so(server, shelf, clock):
    shelf.has_later = True
    assert (await server.handle(post(40))).status == 409
    assert not shelf.written
    shelf.job = JobRef("t", "g", UID, Shown(attempt=1, report_attempt=1, report_time=clock.now()))
    earlier = (clock.now() - timedelta(milliseconds=1)).isoformat()
    assert (await server.handle(post(40, attempt=1, reportTime=earlier))).status == 409


async def test_of_what_is_held_back_the_latest_by_its_own_time_is_kept(server, shelf, clock):
    stop = asyncio.Event()
    running = asyncio.create_task(server.run(stop))
    for percentage, second in ((10, 1), (30, 3), (20, 2)):
        await server.handle(post(percentage, attempt=1, reportTime=f"2026-01-01T00:00:0{second}Z"))
    await clock.advance(11)
    assert [each["progressPercentage"] for each in shelf.written] == [10, 30]
    assert shelf.written[-1]["reportTime"] == "2026-01-01T00:00:03.000000Z"
    stop.set()
    await running


@pytest.mark.parametrize(
    ("attempt", "second", "shown", "outdated"),
    [
        (1, 5, Shown(), False),
        (1, 5, Shown(1, 1, datetime(2026, 1, 1, second=4, tzinfo=UTC)), False),
        (1, 5, Shown(1, 1, datetime(2026, 1, 1, second=5, tzinfo=UTC)), False),
        (1, 5, Shown(1, 1, datetime(2026, 1, 1, second=6, tzinfo=UTC)), True),
        (2, 5, Shown(2, 1, datetime(2026, 1, 1, second=6, tzinfo=UTC)), False),
        (1, 7, Shown(1, 2, datetime(2026, 1, 1, second=6, tzinfo=UTC)), True),
        (1, 7, Shown(2), True),
        (None, 5, Shown(2, 2, datetime(2026, 1, 1, second=6, tzinfo=UTC)), True),
        (None, 7, Shown(2, 2, datetime(2026, 1, 1, second=6, tzinfo=UTC)), False),
        (1, 5, Shown(1, 1, None), False),
    ],
    ids=[
        "the first one",
        "a later one",
        "the same one again",
        "an earlier one",
        "a new attempt's, whose clock is behind",
        "an old attempt's, whose clock is ahead",
        "an attempt that is over",
        "an earlier one that names no attempt",
        "a later one that names no attempt",
        "after one that named no time",
    ],
)
def test_the_later_of_two_reports_is_known_by_attempt_and_time(attempt, second, shown, outdated):
    report = Report(at=datetime(2026, 1, 1, second=second, tzinfo=UTC), attempt=attempt)
    assert is_outdated(report, shown) is outdated
