# SPDX-License-Identifier: Apache-2.0
"""Waiting, closing, rate limits and metrics of the work queue."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dglop.runtime.queue import ExponentialBackoff, MaxOf, TokenBucket, WorkQueue
from dglop.testing.clock import ManualClock, yield_to_tasks


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def queue(clock) -> WorkQueue[str]:
    return WorkQueue(clock)


async def test_a_waiting_worker_gets_a_key_as_soon_as_it_is_added(queue):
    getter = asyncio.create_task(queue.get())
    await yield_to_tasks()
    queue.add("a")
    assert (await getter).key == "a"


async def test_a_delayed_key_is_handed_out_when_its_time_has_come(queue, clock):
    queue.add("a", after=5.0)
    getter = asyncio.create_task(queue.get())
    await clock.advance(4.9)
    assert not getter.done()
    await clock.advance(0.1)
    assert (await getter).key == "a"


async def test_an_earlier_addition_moves_the_timer_forward(queue, clock):
    queue.add("a", after=50.0)
    queue.add("b", after=5.0)
    getter = asyncio.create_task(queue.get())
    await clock.advance(5.0)
    assert (await getter).key == "b"


async def test_every_getter_returns_once_the_queue_is_closed(queue):
    """Regression of controller-runtime #3239 and #3538."""
    getters = [asyncio.create_task(queue.get()) for _ in range(20)]
    await yield_to_tasks()
    queue.add("a")
    queue.close()
    results = await asyncio.gather(*getters)
    assert [item for item in results if item is not None] == []
    assert await queue.get() is None


async def test_a_closed_queue_drops_additions(queue):
    queue.close()
    queue.add("a")
    assert len(queue) == 0


async def test_a_cancelled_getter_passes_its_turn_on(queue):
    first, second = asyncio.create_task(queue.get()), asyncio.create_task(queue.get())
    await yield_to_tasks()
    queue.add("a")
    first.cancel()
    assert (await second).key == "a"
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_no_key_is_ever_with_two_workers_and_none_is_lost(queue):
    busy: set[str] = set()
    runs: dict[str, int] = {}

    async def work() -> None:
        while (item := await queue.get()) is not None:
            assert item.key not in busy
            busy.add(item.key)
            await asyncio.sleep(0)
            runs[item.key] = runs.get(item.key, 0) + 1
            busy.discard(item.key)
            queue.done(item.key)

    workers = [asyncio.create_task(work()) for _ in range(5)]
    for n in range(300):
        queue.add(f"key-{n % 7}")
        if n % 3 == 0:
            await asyncio.sleep(0)
    await queue.wait_idle()
    queue.close()
    await asyncio.gather(*workers)
    assert set(runs) == {f"key-{n}" for n in range(7)}


async def test_failures_of_a_key_double_its_delay_until_it_is_forgotten(queue, clock):
    for delay in (0.005, 0.010, 0.020):
        queue.add_rate_limited("a")
        clock.move(delay)
        assert (await queue.get()).key == "a"
        queue.done("a")
    assert queue.failures("a") == 3
    queue.forget("a")
    assert queue.failures("a") == 0


async def test_wait_idle_returns_when_the_last_key_is_done(queue):
    queue.add("a")
    item = await queue.get()
    waiter = asyncio.create_task(queue.wait_idle())
    await yield_to_tasks()
    assert not waiter.done()
    queue.done(item.key)
    await waiter


class Recorder:
    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def added(self) -> None:
        self.calls.append(("added",))

    def retried(self) -> None:
        self.calls.append(("retried",))

    def started(self, waited: float) -> None:
        self.calls.append(("started", waited))

    def finished(self, worked: float) -> None:
        self.calls.append(("finished", worked))

    def depth(self, priority: int, items: int) -> None:
        self.calls.append(("depth", priority, items))


async def test_metrics_count_a_delayed_key_as_a_retry_first_and_as_an_addition_when_it_is_ready(clock):
    metrics = Recorder()
    queue = WorkQueue[str](clock, metrics=metrics)
    queue.add("a", after=2.0, priority=-100)
    assert metrics.calls == [("retried",)]
    clock.move(3.0)
    await queue.get()
    clock.move(4.0)
    queue.done("a")
    assert metrics.calls[1:] == [
        ("added",),
        ("depth", -100, 1),
        ("started", 1.0),
        ("depth", -100, 0),
        ("finished", 4.0),
    ]


def test_the_back_off_is_capped_and_never_overflows():
    limiter = ExponentialBackoff[str](base=0.005, cap=1000.0)
    waits = [limiter.when("a") for _ in range(5000)]
    assert waits[:3] == [0.005, 0.01, 0.02]
    assert waits[-1] == 1000.0


def test_the_bucket_lets_a_burst_through_and_then_spaces_all_keys():
    clock = ManualClock()
    bucket = TokenBucket[str](clock.monotonic, rate=10.0, burst=3)
    assert [bucket.when(key) for key in "abcde"] == [0.0, 0.0, 0.0, pytest.approx(0.1), pytest.approx(0.2)]
    clock.move(1.0)
    assert bucket.when("f") == 0.0


def test_of_several_limiters_the_slowest_decides():
    clock = ManualClock()
    limiter = MaxOf(ExponentialBackoff[str](1.0), TokenBucket[str](clock.monotonic, burst=1))
    assert limiter.when("a") == 1.0
    assert limiter.failures("a") == 1
    limiter.forget("a")
    assert limiter.failures("a") == 0
