# SPDX-License-Identifier: Apache-2.0
"""What a controller's options and results do to the work of its queue, seen from the reconciler."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap

from dglop import Context, Owned, Result, Settings
from dglop.errors import CacheNotSyncedError, ConflictError
from test.unit.runtime.controller_world import Greeting, GreetingSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop import Manager
    from dglop.testing.memory import MemoryCluster

LATER = timedelta(seconds=10)


def fail() -> None:
    raise OSError("try later")


def lose() -> None:
    raise ConflictError(409, "Conflict", "the object has been modified")


async def test_as_many_objects_are_reconciled_at_once_as_there_are_workers_and_no_more(
    memory_cluster: MemoryCluster,
) -> None:
    inside: set[str] = set()
    most, done, release = 0, set[str](), asyncio.Event()

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        nonlocal most
        inside.add(obj.name)
        most = max(most, len(inside))
        await release.wait()
        inside.discard(obj.name)
        done.add(obj.name)

    manager = memory_cluster.manager()
    manager.controller(Greeting, reconcile, concurrency=3)
    async with manager:
        for name in "abcde":
            await memory_cluster.client.create(Greeting(name=name, spec=GreetingSpec()))
        await memory_cluster.settle()
        assert len(inside) == 3
        release.set()
        await memory_cluster.settle()
    assert done == set("abcde")
    assert most == 3


@pytest.mark.parametrize(
    "ends",
    [lambda: Result(requeue_after=LATER), lambda: Result(requeue=True), fail, lose],
    ids=["requeue-after", "requeue", "error", "conflict"],
)
async def test_who_comes_back_keeps_the_priority_with_which_he_came(
    memory_cluster: MemoryCluster, ends: Callable[[], Result | None]
) -> None:
    seen = await rounds(memory_cluster, lambda _: ends(), low=1, high=3)
    assert seen == ["low", "high", "high", "low"]


@pytest.mark.parametrize(
    "how", [{"requeue_after": LATER}, {"requeue": True}], ids=["requeue-after", "requeue"]
)
async def test_a_result_may_say_with_which_priority_to_come_back(
    memory_cluster: MemoryCluster, how: dict[str, Any]
) -> None:
    said = {"modest": Result(priority=-5, **how), "plain": Result(**how), "bold": Result(priority=7, **how)}
    seen = await rounds(memory_cluster, said.__getitem__, modest=3, plain=2, bold=1)
    assert seen[3:] == ["bold", "plain", "modest"]


async def rounds(
    cluster: MemoryCluster, answer: Callable[[str], Result | None], **priorities: int
) -> list[str]:
    """Who was reconciled, of keys that come one by one and then, at one moment, all together once more."""
    seen: list[str] = []

    async def reconcile(key: str, ctx: Context) -> Result | None:
        seen.append(key)
        return answer(key) if seen.count(key) == 1 else None

    manager = cluster.manager()
    controller = manager.keys("keys", reconcile, watches=[])
    async with manager:
        for key, priority in priorities.items():
            controller.queue.add(key, priority=priority)
            await cluster.settle()
        await cluster.advance(60)
    return seen


def without(kind: type, cluster: MemoryCluster) -> Manager:
    """A Manager that waits half a minute for first lists, on a server that refuses to show a kind."""
    cluster.server.faults.add(403, kind=kind, times=1000)
    return cluster.manager(
        Settings(metrics_bind="0", health_bind="0", install_crds=True, cache_sync_seconds=30)
    )


async def test_a_start_waits_for_the_first_lists_as_long_as_it_is_told_and_names_what_is_missing(
    memory_cluster: MemoryCluster,
) -> None:
    manager = without(Greeting, memory_cluster)
    manager.controller(Greeting, print)
    starting = asyncio.create_task(manager.start())
    await memory_cluster.advance(29)
    assert not starting.done()
    await memory_cluster.advance(2)
    with pytest.raises(CacheNotSyncedError, match=r"not in sync within 30 s: greetings.example.dev"):
        await starting


async def test_a_first_read_waits_for_its_list_no_longer(memory_cluster: MemoryCluster) -> None:
    async with without(V1ConfigMap, memory_cluster) as manager:
        reading = asyncio.create_task(manager.reader.list(V1ConfigMap))
        await memory_cluster.advance(29)
        assert not reading.done()
        await memory_cluster.advance(2)
        with pytest.raises(CacheNotSyncedError, match=r"30 s: configmaps"):
            await reading


async def test_a_controller_waits_for_an_optional_kind_no_longer(memory_cluster: MemoryCluster) -> None:
    manager = without(V1ConfigMap, memory_cluster)
    manager.controller(Greeting, print, owns=[Owned(V1ConfigMap, optional=True)])
    running = asyncio.create_task(manager.run())
    await memory_cluster.advance(29)
    assert not running.done()
    await memory_cluster.advance(2)
    with pytest.raises(CacheNotSyncedError, match=r"30 s: configmaps"):
        await running
