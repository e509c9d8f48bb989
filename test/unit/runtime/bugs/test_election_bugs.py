# SPDX-License-Identifier: Apache-2.0
"""Bugs 20 to 25 of docs/bugs.md: leases, and who works while they are held or lost."""

from __future__ import annotations

import asyncio
import io
import os
import re
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from dglop import Context, Manager, Settings
from dglop.errors import LeaderLostError
from dglop.runtime.api import parse_time
from dglop.runtime.election import Election, LeaseRecord, LeaseTimes
from dglop.runtime.events import EventRecorder
from dglop.runtime.leader import KubeLeaseStore
from dglop.runtime.log import make_log
from dglop.testing.clock import ManualClock
from dglop.testing.scripted import ScriptedServer
from dglop.testing.scripted_replies import answer, silence
from test.unit.runtime.conftest import MemoryApi
from test.unit.runtime.controller_world import PATH, Greeting, greeting
from test.unit.runtime.lease_store import TIMES, MemoryStore, candidate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dglop.runtime.client import Client
    from dglop.testing.scripted import Seen

LEASE_PATH = "/apis/coordination.k8s.io/v1/namespaces/default/leases/dglop"
OTHERS = {
    "holderIdentity": "other",
    "leaseDurationSeconds": 3600,
    "renewTime": "2026-01-01T00:00:00.000000Z",
}


@pytest.mark.scripted
@pytest.mark.parametrize("microseconds", [0, 500_000])
async def test_bug_20_micro_times_have_six_digits_whatever_the_moment(
    server: ScriptedServer, client: Client, microseconds: int
) -> None:
    """The server refuses fewer, and zero was left out: kubernetes#89156, #141204, kubernetes_asyncio#387."""
    clock = ManualClock(datetime(2026, 1, 1, 0, 0, 0, microseconds, UTC))
    server.on(lambda seen: seen.method == "GET", answer({"kind": "Status", "code": 404}, 404))
    server.on(lambda _: True, answer({"metadata": {"resourceVersion": "1"}}, 201))
    store = KubeLeaseStore(client, "default", "dglop")
    await Election(store, "me", TIMES, clock=clock, random=lambda: 0.0).acquire()
    about = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "n", "uid": "u"}}
    log = make_log(stream=io.StringIO())
    recorder = EventRecorder(client, controller="c", instance="i", clock=clock, log=log, new_id=lambda: "1")
    recorder.record(about, "Made", "it")
    recorder.start()
    await recorder.stop(seconds=30)
    lease, posted = [seen.json() for seen in server.requests if seen.method == "POST"]
    for written in (lease["spec"]["acquireTime"], lease["spec"]["renewTime"], posted["eventTime"]):
        assert re.fullmatch(r"2026-01-01T00:00:00\.\d{6}Z", written)


@pytest.fixture
def shanghai(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    yield
    os.environ.pop("TZ")
    time.tzset()


@pytest.mark.scripted
@pytest.mark.usefixtures("shanghai")
async def test_bug_21_a_lease_that_is_not_there_is_created_in_utc_wherever_we_are(
    api: MemoryApi, server: ScriptedServer
) -> None:
    """The official client could not create one, and wrote local time as UTC."""
    manager = leader_of(api, "only")
    before = time.time()
    async with manager:
        await manager.elected.wait()
        spec = api.objects[LEASE_PATH]["spec"]
    assert before <= parse_time(spec["renewTime"]).timestamp() <= time.time()
    assert spec["holderIdentity"] != ""


def leader_of(api: MemoryApi, name: str, exits: list[int] | None = None, **settings: Any) -> Manager:
    """A Manager that stands for election."""
    options = Settings(
        leader_elect=True, leader_election_id="dglop", metrics_bind="0", health_bind="0", **settings
    )
    log, exits = make_log(level="error", stream=io.StringIO()), [] if exits is None else exits
    return Manager(options, name=name, config=api.config, log=log, hard_exit=exits.append)


@pytest.mark.parametrize("trouble", ["is_down", "hangs"])
async def test_bug_22_a_leader_whose_renewals_fail_or_hang_has_stopped_before_anyone_takes_over(
    trouble: str,
) -> None:
    """The old leader worked on: kubernetes#23731, #67651, cilium#42920, kyverno#14984."""
    store, clock = MemoryStore(), ManualClock()
    old, new = candidate(store, clock, "old"), candidate(store, clock, "new")
    await old.acquire()
    keeping, waiting = asyncio.create_task(old.keep()), asyncio.create_task(new.acquire())
    await clock.advance(6.0)
    setattr(store, trouble, True)
    await clock.advance(TIMES.renew_deadline)
    loss = await keeping
    assert loss.valid_until - clock.monotonic() >= TIMES.duration - TIMES.renew_deadline
    setattr(store, trouble, False)
    await clock.advance(TIMES.duration + TIMES.retry_period)
    await waiting
    assert store.record is not None
    assert store.record.holder == "new"


SHORT = {"lease_duration": 1.5, "renew_deadline": 0.5, "retry_period": 0.05, "graceful_shutdown_seconds": 0.0}


@pytest.mark.scripted
async def test_bug_22_of_two_managers_one_of_which_is_cut_off_never_both_write() -> None:
    is_cut = False

    def cut(seen: Seen) -> bool:
        return is_cut and seen.path == LEASE_PATH and "first" in seen.headers["user-agent"]

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        await ctx.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": obj.name}})
        raise OSError("once more")

    async with ScriptedServer() as server:
        server.on(cut, silence)
        api, exits = MemoryApi(server), list[int]()
        for number in range(5):
            await api.put(f"{PATH}/g-{number}", greeting(f"g-{number}"))
        first, second = (leader_of(api, name, exits, **SHORT) for name in ("first", "second"))
        for manager in (first, second):
            manager.controller(Greeting, reconcile, concurrency=3)
        running = asyncio.create_task(first.run())
        await server.until(20, lambda seen: is_work_of(seen, "first"))
        async with second:
            is_cut = True
            with pytest.raises(LeaderLostError, match="not renewed"):
                await running
            await server.until(20, lambda seen: is_work_of(seen, "second"))
        writers = [
            "first" if is_work_of(each, "first") else "second" for each in server.requests if is_work(each)
        ]
    assert writers == sorted(writers)
    assert exits == []


def is_work(seen: Seen) -> bool:
    return seen.method == "PATCH" and seen.path.rpartition("/")[0].endswith("configmaps")


def is_work_of(seen: Seen, name: str) -> bool:
    return is_work(seen) and f"({name}" in seen.headers["user-agent"]


@pytest.mark.parametrize("trouble", ["is_down", "hangs"])
async def test_bug_23_giving_the_lease_back_ends_though_nobody_answers(trouble: str) -> None:
    """The release had no time-out: kubernetes#124588."""
    store, clock = MemoryStore(), ManualClock()
    election = candidate(store, clock)
    await election.acquire()
    setattr(store, trouble, True)
    releasing = asyncio.create_task(election.release())
    await clock.advance(5.0)
    assert releasing.done()
    assert not await releasing


async def test_bug_23_a_lease_that_was_given_back_is_taken_at_the_next_try() -> None:
    """A standby waited for the whole duration: kubernetes#112023."""
    store, clock = MemoryStore(), ManualClock()
    first, second = candidate(store, clock, "a"), candidate(store, clock, "b")
    await first.acquire()
    waiting = asyncio.create_task(second.acquire())
    await clock.advance(1.0)
    assert await first.release()
    await clock.advance(TIMES.retry_period)
    await waiting
    assert second.valid_until() is not None


@pytest.mark.parametrize("skew", [timedelta(hours=-1), timedelta(0), timedelta(hours=1)])
@pytest.mark.parametrize("own", [5, 60])
async def test_bug_24_a_lease_is_over_when_its_own_duration_was_watched_to_its_end(
    skew: timedelta, own: int
) -> None:
    """One's own duration or the holder's clock decided: fabric8#7258, kubernetes-client/csharp#1599."""
    store, clock = MemoryStore(), ManualClock(datetime(2026, 1, 1, tzinfo=UTC) + skew)
    store.put(LeaseRecord("other", 20, "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000000Z"))
    times = LeaseTimes(duration=own, renew_deadline=3, retry_period=1)
    waiting = asyncio.create_task(candidate(store, clock, times=times).acquire())
    await clock.advance(19.5)
    assert store.record is not None
    assert store.record.holder == "other"
    await clock.advance(1.5)
    await waiting
    assert store.record.holder == "a"


class Probe:
    """A Runnable that notes that it began."""

    def __init__(self, began: list[str], name: str) -> None:
        self.name = name
        self.began = began

    async def run(self, stop: asyncio.Event) -> None:
        self.began.append(self.name)
        await stop.wait()


@pytest.mark.scripted
async def test_bug_25_a_standby_that_stops_starts_nothing_that_needs_the_lease(api: MemoryApi) -> None:
    """The group of the leader's runnables was started during the stop: controller-runtime#2719."""
    await api.put(LEASE_PATH, {"kind": "Lease", "spec": OTHERS})
    await api.put(f"{PATH}/hello", greeting())
    began: list[str] = []

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        began.append("reconciler")

    class Late:
        """Takes its time to stop, and meanwhile the lease becomes free."""

        async def run(self, stop: asyncio.Event) -> None:
            await stop.wait()
            await api.put(LEASE_PATH, {"kind": "Lease", "spec": {**OTHERS, "holderIdentity": ""}})
            await api.server.until(3, lambda seen: seen.path == LEASE_PATH and seen.method == "PATCH")

    manager = leader_of(api, "standby", retry_period=0.05)
    manager.controller(Greeting, reconcile)
    manager.add(Probe(began, "leader"))
    manager.add(Late(), needs_leader=False)
    async with manager:
        await api.server.until(2, lambda seen: seen.path == LEASE_PATH)
    assert began == []
