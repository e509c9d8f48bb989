# SPDX-License-Identifier: Apache-2.0
"""The rules of the lease, on a store in memory and a clock that a test moves."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dglop.errors import InvalidError
from dglop.runtime.election import LeaseRecord, LeaseTimes
from dglop.testing.clock import ManualClock, yield_to_tasks
from test.unit.runtime.lease_store import TIMES, MemoryStore, candidate


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


async def test_the_first_candidate_creates_the_lease_and_leads(store, clock):
    election = candidate(store, clock)
    await election.acquire()
    assert (store.record.holder, store.record.duration, store.record.transitions) == ("a", 15, 0)
    assert election.valid_until() == 15.0


@pytest.mark.parametrize("microseconds", [0, 500_000])
async def test_times_in_the_lease_are_utc_with_exactly_six_digits(store, microseconds):
    """Regression of kubernetes #89156 and #141204."""
    start = datetime(2026, 1, 1, 0, 0, 0, microseconds, UTC)
    await candidate(store, ManualClock(start)).acquire()
    assert re.fullmatch(r"2026-01-01T00:00:00\.\d{6}Z", store.record.renewed)
    assert store.record.acquired == store.record.renewed


async def test_a_second_candidate_waits_for_the_duration_that_the_record_says(store, clock):
    """Regression of the fabric8 and csharp clients: the holder's duration counts, not one's own."""
    store.put(LeaseRecord("other", 40, "t", "t", 3))
    short = LeaseTimes(duration=5, renew_deadline=3, retry_period=1)
    waiting = asyncio.create_task(candidate(store, clock, times=short).acquire())
    await clock.advance(39.0)
    assert store.record.holder == "other"
    await clock.advance(2.0)
    await waiting
    assert (store.record.holder, store.record.transitions) == ("a", 4)


@pytest.mark.parametrize("skew", [timedelta(hours=-1), timedelta(hours=1)])
async def test_what_the_holders_wall_clock_shows_does_not_matter(store, skew):
    clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC) + skew)
    store.put(LeaseRecord("other", 15, "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000000Z"))
    waiting = asyncio.create_task(candidate(store, clock).acquire())
    await clock.advance(14.0)
    assert store.record.holder == "other"
    await clock.advance(3.0)
    await waiting


async def test_every_change_of_the_record_starts_the_waiting_anew(store, clock):
    store.put(LeaseRecord("other", 15, "t", "0"))
    waiting = asyncio.create_task(candidate(store, clock).acquire())
    for second in range(5):
        await clock.advance(10.0)
        store.put(replace(store.record, renewed=str(second + 1)))
    assert store.record.holder == "other"
    waiting.cancel()


async def test_a_leader_renews_without_reading_first(store, clock):
    election = candidate(store, clock)
    await election.acquire()
    store.calls.clear()
    keeping = asyncio.create_task(election.keep())
    await clock.advance(20.0)
    assert set(store.calls) == {"update"}
    assert len(store.calls) == 10
    assert election.valid_until() == 35.0
    keeping.cancel()


async def test_renewing_keeps_the_time_of_acquisition_and_counts_no_transition(store, clock):
    election = candidate(store, clock)
    await election.acquire()
    acquired = store.record.acquired
    keeping = asyncio.create_task(election.keep())
    await clock.advance(8.0)
    assert (store.record.acquired, store.record.transitions) == (acquired, 0)
    assert store.record.renewed != acquired
    keeping.cancel()


async def test_a_leader_whose_record_was_touched_reads_it_and_leads_on(store, clock):
    election = candidate(store, clock)
    await election.acquire()
    keeping = asyncio.create_task(election.keep())
    store.put(replace(store.record, renewed="touched"))
    await clock.advance(4.0)
    assert not keeping.done()
    assert store.record.renewed != "touched"
    keeping.cancel()


@pytest.mark.parametrize("trouble", ["is_down", "hangs"])
async def test_a_leader_that_cannot_renew_gives_up_before_anyone_may_take_over(store, clock, trouble):
    election = candidate(store, clock)
    await election.acquire()
    keeping = asyncio.create_task(election.keep())
    await clock.advance(6.0)
    setattr(store, trouble, True)
    await clock.advance(9.9)
    assert not keeping.done()
    await clock.advance(0.2)
    loss = await keeping
    assert clock.monotonic() <= 6.0 + TIMES.renew_deadline + 0.1
    assert loss.valid_until == 6.0 + TIMES.duration
    assert election.valid_until() is None


async def test_a_hung_request_leaves_time_for_another(store, clock):
    election = candidate(store, clock)
    await election.acquire()
    keeping = asyncio.create_task(election.keep())
    store.hangs = True
    await clock.advance(6.0)
    store.hangs = False
    await clock.advance(20.0)
    assert not keeping.done()
    keeping.cancel()


async def test_a_leader_that_finds_another_holder_stops_at_once(store, clock):
    election = candidate(store, clock)
    await election.acquire()
    keeping = asyncio.create_task(election.keep())
    store.put(LeaseRecord("b", 15, "t", "t", 1))
    await clock.advance(2.0)
    assert "b holds the lease" in (await keeping).reason


async def test_a_released_lease_is_taken_within_a_retry_period(store, clock):
    first, second = candidate(store, clock, "a"), candidate(store, clock, "b")
    await first.acquire()
    waiting = asyncio.create_task(second.acquire())
    await clock.advance(1.0)
    assert await first.release()
    assert (store.record.holder, store.record.duration) == ("", 1)
    await clock.advance(TIMES.retry_period)
    await waiting
    assert (store.record.holder, store.record.transitions) == ("b", 1)


async def test_releasing_leaves_a_lease_alone_that_somebody_else_holds(store, clock):
    election = candidate(store, clock)
    await election.acquire()
    store.put(LeaseRecord("b", 15, "t", "t", 1))
    assert not await election.release()
    assert store.record.holder == "b"


@pytest.mark.parametrize("trouble", ["is_down", "hangs"])
async def test_releasing_ends_even_if_the_server_does_not_answer(store, clock, trouble):
    """Regression of kubernetes #124588."""
    election = candidate(store, clock)
    await election.acquire()
    setattr(store, trouble, True)
    releasing = asyncio.create_task(election.release())
    await clock.advance(5.0)
    assert not await releasing


async def test_of_many_candidates_under_random_trouble_never_two_are_valid_at_once(store, clock):
    elections = [candidate(store, clock, name) for name in "abc"]

    async def stand(election):
        while True:
            await election.acquire()
            await election.keep()

    tasks = [asyncio.create_task(stand(election)) for election in elections]
    leaders: set[int] = set()
    for step in range(400):
        store.is_down = step % 50 > 25
        store.hangs = step % 70 > 60
        await clock.advance(1.0)
        now = clock.monotonic()
        valid = [e for e in elections if (until := e.valid_until()) is not None and now < until]
        assert len(valid) <= 1
        leaders.update(elections.index(e) for e in valid)
    assert leaders
    for task in tasks:
        task.cancel()
    await yield_to_tasks()


async def test_a_lease_that_changed_hands_as_often_as_can_be_written_is_counted_anew(store, clock):
    store.put(LeaseRecord("", 1, "", "", transitions=2**31 - 1))
    await candidate(store, clock).acquire()
    assert (store.record.holder, store.record.transitions) == ("a", 0)


async def test_a_refusal_is_told_without_the_whole_lease_in_it(store, clock):
    text = f"Lease is invalid: Invalid value: {'x' * 5000}: must be greater than 0"
    said: list[str] = []

    class Log:
        def warning(self, _: str, *, error: str) -> None:
            said.append(error)

    async def refuse() -> None:
        raise InvalidError(422, "Invalid", text)

    store.read = refuse
    election = candidate(store, clock, log=Log())
    trying = asyncio.create_task(election.acquire())
    await yield_to_tasks()
    trying.cancel()
    assert len(said) == 1
    assert len(said[0]) < 500
    assert said[0].startswith("422 Invalid: Lease is invalid")
    assert said[0].endswith("must be greater than 0")
