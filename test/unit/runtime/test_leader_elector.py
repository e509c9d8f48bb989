# SPDX-License-Identifier: Apache-2.0
"""The elector's thread: it tells the main loop, outlives a blocked one, and ends the process if it must."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from dglop.errors import ConfigError, DglopError
from dglop.runtime.clock import SystemClock
from dglop.runtime.election import LeaseRecord, LeaseTimes
from dglop.runtime.leader import LeaderElector
from dglop.runtime.log import make_log

PATIENT = LeaseTimes(duration=60.0, renew_deadline=50.0, retry_period=0.02)
HASTY = LeaseTimes(duration=1.0, renew_deadline=0.4, retry_period=0.02)


class ThreadStore:
    """A record that two threads look at; `renewed` tells of each write."""

    def __init__(self) -> None:
        self.record: LeaseRecord | None = None
        self.version = 0
        self.hangs = False
        self.renewals = threading.Semaphore(0)

    @asynccontextmanager
    async def open(self):
        yield self

    async def read(self):
        return (self.record, str(self.version)) if self.record else None

    async def create(self, record):
        return await self.update(record, "")

    async def update(self, record, version):
        if self.hangs:
            await asyncio.Event().wait()
        self.record = record
        self.version += 1
        self.renewals.release()
        return str(self.version)


def elector(store, exits=None, open_store=None, times=PATIENT, clock=None) -> LeaderElector:
    return LeaderElector(
        open_store or store.open,
        "me",
        times,
        clock=clock or SystemClock(),
        log=make_log(level="error"),
        hard_exit=(exits if exits is not None else []).append,
    )


@pytest.fixture
def store() -> ThreadStore:
    return ThreadStore()


async def test_the_main_loop_is_told_of_the_election_and_the_lease_is_released_at_the_end(store):
    leader = elector(store)
    leader.start()
    await leader.elected.wait()
    assert leader.holds()
    await leader.stop()
    assert store.record.holder == ""
    assert not leader.holds()


async def test_the_lease_stays_held_if_release_is_not_asked_for(store):
    leader = elector(store)
    leader.start()
    await leader.elected.wait()
    await leader.stop(release=False)
    assert store.record.holder == "me"


async def test_a_blocked_event_loop_does_not_cost_the_lease(store):
    leader = elector(store)
    leader.start()
    await leader.elected.wait()
    for _ in range(10):
        assert store.renewals.acquire(timeout=30)  # blocks this loop until the thread has renewed again
    assert not leader.lost.is_set()
    await leader.stop()


async def test_a_lost_lease_ends_a_process_that_does_not_stop_by_itself(store):
    exits: list[int] = []
    leader = elector(store, exits, times=HASTY)
    leader.start()
    await leader.elected.wait()
    store.hangs = True
    await leader.lost.wait()
    assert "not renewed" in leader.reason
    await asyncio.to_thread(leader._thread.join)
    assert exits == [1]


async def test_a_process_that_stops_in_time_is_not_ended(store):
    exits: list[int] = []
    leader = elector(store, exits, times=replace(HASTY, duration=60.0))
    leader.start()
    await leader.elected.wait()
    store.hangs = True
    await leader.lost.wait()
    await leader.stop(release=False)
    assert exits == []


async def test_a_candidate_that_never_led_stops_without_touching_the_lease(store):
    store.record = LeaseRecord("other", 3600, "t", "t")
    leader = elector(store)
    leader.start()
    await leader.stop()
    assert store.record == LeaseRecord("other", 3600, "t", "t")


@pytest.mark.parametrize("make", [ConfigError, OSError, KeyError])
async def test_an_election_that_cannot_work_says_so(store, make):
    @asynccontextmanager
    async def broken():
        raise make("no kubeconfig")
        yield

    leader = elector(store, open_store=broken)
    leader.start()
    await leader.lost.wait()
    assert "no kubeconfig" in leader.reason
    await leader.stop()


async def test_an_election_that_ends_by_a_defect_is_lost_and_not_silent(store):
    leader = elector(store)
    leader.start()
    await leader.elected.wait()

    async def update(record, version):
        raise KeyError("metadata")

    store.update = update
    await leader.lost.wait()
    assert "KeyError('metadata')" in leader.reason
    await leader.stop()


class HangingStore(ThreadStore):
    """Says when a write that never ends has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.hung = threading.Event()

    async def update(self, record, version):
        if self.hangs:
            self.hung.set()
        return await super().update(record, version)


class FastClock(SystemClock):
    """A clock that a test puts forward."""

    ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


async def test_a_leader_whose_lease_is_long_overdue_is_unhealthy():
    store, clock = HangingStore(), FastClock()
    leader = elector(store, clock=clock)
    leader.start()
    await leader.elected.wait()
    store.hangs = True
    await asyncio.to_thread(store.hung.wait)
    leader.check()
    clock.ahead = 79.0
    leader.check()
    assert not leader.holds()
    clock.ahead = 81.0
    with pytest.raises(DglopError, match="the lease is long overdue"):
        leader.check()
    await leader.stop(release=False)
