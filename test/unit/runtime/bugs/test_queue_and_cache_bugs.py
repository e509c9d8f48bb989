# SPDX-License-Identifier: Apache-2.0
"""Bugs 26 to 29 and 31 of docs/bugs.md: queues that stop or starve, and caches that lag or lose."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import pytest

from dglop.common.constants import POD, SERVICE
from dglop.runtime.cache import Cache
from dglop.runtime.queue import WorkQueue
from dglop.testing.clock import ManualClock, yield_to_tasks
from dglop.testing.memory import Effect, MemoryCluster
from dglop.testing.scripted_world import PodWorld
from dglop.testing.toyjob import ToyJob
from test.unit.runtime.bugs.job_lives import Wire, job, job_manager, outcome, pods_of, set_pods
from test.unit.runtime.cache.informers import started

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.testing.scripted_cache import Hearer


async def test_bug_26_twenty_getters_all_return_when_the_queue_is_closed() -> None:
    """Getters and the shutdown waited for each other: controller-runtime#3239, #3538."""
    queue = WorkQueue[str](ManualClock())
    getters = [asyncio.create_task(queue.get()) for _ in range(20)]
    await yield_to_tasks()
    queue.add("now")
    queue.add("later", after=5.0)
    getters[3].cancel()
    queue.close()
    await yield_to_tasks()
    assert all(each.done() for each in getters)
    assert {each.result() for each in getters if not each.cancelled()} == {None}


async def test_bug_27_what_has_low_priority_is_served_under_more_load_than_one_worker_takes() -> None:
    """Items of the first list starved: controller-runtime#3496."""
    clock = ManualClock()
    queue = WorkQueue[str](clock)
    for number in range(20):
        queue.add(f"low-{number}", priority=-100)
    waited: dict[str, float] = {}
    for second in range(300):
        for half in "ab":
            queue.add(f"load-{second}-{half}")
        item = await queue.get()
        assert item is not None
        waited.setdefault(item.key, clock.monotonic())
        queue.done(item.key)
        clock.move(1.0)
    low = [waited[f"low-{number}"] for number in range(20)]
    assert max(low) <= 60 + 4 * len(low)  # overdue after a minute, then every fourth turn


async def lagging(cluster: MemoryCluster) -> None:
    """Let the Managers' caches show no change of pods for five seconds."""
    cluster.server.faults.add(Effect.DELAY, "GET", POD, watch=True, seconds=5.0)
    cluster.server.end_watches()
    await cluster.advance(2.0)


async def test_bug_28_a_cache_that_lags_makes_no_child_twice(memory_cluster: MemoryCluster) -> None:
    """Stale caches made duplicates and conflict loops: controller-runtime#1464, #403, k0smotron#1535."""
    await memory_cluster.install(ToyJob)
    client, first, second = memory_cluster.client, Wire(), Wire()
    async with job_manager(memory_cluster, first) as manager:
        await lagging(memory_cluster)
        await client.create(job(workers=3))
        for number in range(100):
            body = {"metadata": {"annotations": {"touched": str(number)}}}
            await client.patch(ToyJob, "g", "default", body)
            await memory_cluster.settle()
        assert reconciliations(manager) > 100
        assert manager.cache.list(POD) == []
        assert first.count("POST", "/pods") == 3
    async with job_manager(memory_cluster, second):  # another leader, who remembers nothing
        await memory_cluster.advance(30.0)
    assert second.count("POST", "/pods") == 0
    assert len(await pods_of(memory_cluster)) == 3


def reconciliations(manager: Any) -> float:
    name, labels = "controller_runtime_reconcile_total", {"controller": "testjob", "result": "success"}
    after = {**labels, "result": "requeue_after"}
    return sum(manager.metrics.registry.get_sample_value(name, each) or 0.0 for each in (labels, after))


async def world_of(count: int) -> tuple[PodWorld, ManualClock, Cache, Any, Hearer]:
    world, clock = PodWorld(page=5000), ManualClock()
    for number in range(count):
        world.put(f"p-{number}")
    cache = Cache(cast("Client", world), clock=clock, streams=False)
    informer, hearer = await started(cache)
    return world, clock, cache, informer, hearer


async def test_bug_29_what_was_deleted_unseen_is_told_even_while_its_addition_is() -> None:
    """A Delete was lost on a relist with the Add still queued: kubernetes#83810."""
    world, clock, cache, informer, hearer = await world_of(3000)  # told in several turns
    await hearer.until("+p-0@2!")
    assert len(hearer.heard) < 3000
    world.remove("p-1")
    world.remove("p-2999")
    world.compact()
    await clock.advance(60.0)
    await hearer.until("-p-2999@3001?")
    assert hearer.heard.count("+p-2999@3001!") == 1
    assert [each for each in hearer.heard if each.startswith("-")] == ["-p-1@3?", "-p-2999@3001?"]
    assert len(informer.store) == 2998
    await cache.stop()


@pytest.mark.parametrize("how", ["compact", "cut"])
async def test_bug_29_another_object_under_the_same_name_is_a_deletion_and_an_addition(how: str) -> None:
    """The two were merged into an update: kubernetes#115658."""
    world, clock, cache, informer, hearer = await world_of(1)
    await clock.advance(1.0)
    old = informer.store.get(("n", "p-0"))
    world.remove("p-0")
    world.put("p-0")
    getattr(world, how)()
    await clock.advance(60.0)
    deletions = {"compact": "-p-0@2?", "cut": "-p-0@3"}
    assert hearer.heard == ["+p-0@2!", deletions[how], "+p-0@4"]
    (new,) = informer.store.by_index("namespace", "n")
    assert new.uid != old.uid
    await cache.stop()


async def clear(cluster: MemoryCluster) -> None:
    """What the garbage collector does, and the kubelet."""
    for kind in (POD, SERVICE):
        for each in await cluster.client.list(kind, "default"):
            await cluster.client.delete(kind, each["metadata"]["name"], "default", grace_seconds=0)


async def owners(cluster: MemoryCluster) -> list[str]:
    return [each["metadata"]["ownerReferences"][0]["uid"] for each in await pods_of(cluster)]


async def test_bug_31_a_job_made_again_under_its_name_waits_for_nothing_that_the_old_one_expected(
    memory_cluster: MemoryCluster,
) -> None:
    """It waited five minutes: kubeflow/trainer#1306."""
    await memory_cluster.install(ToyJob)
    client = memory_cluster.client
    async with job_manager(memory_cluster, Wire()):
        await lagging(memory_cluster)
        old = await client.create(job())
        await memory_cluster.settle()
        assert await owners(memory_cluster) == [old.uid] * 2
        await client.delete(ToyJob, "g", "default")
        await clear(memory_cluster)
        new = await client.create(job())
        await memory_cluster.advance(1.0)
        assert await owners(memory_cluster) == [new.uid] * 2


async def test_bug_31_a_job_made_again_has_its_pods_a_second_after_the_old_ones_are_gone(
    memory_cluster: MemoryCluster,
) -> None:
    await memory_cluster.install(ToyJob)
    client = memory_cluster.client
    async with job_manager(memory_cluster, Wire()):
        old = await client.create(job())
        await memory_cluster.settle()
        for each in await pods_of(memory_cluster):
            held = {"metadata": {"finalizers": ["example.dev/held"]}}
            await client.patch(POD, each["metadata"]["name"], "default", held)
        await client.delete(ToyJob, "g", "default")
        await clear(memory_cluster)
        new = await client.create(job())
        await memory_cluster.advance(20.0)
        assert await owners(memory_cluster) == [old.uid] * 2
        for each in await pods_of(memory_cluster):
            freed = {"metadata": {"finalizers": None}}
            await client.patch(POD, each["metadata"]["name"], "default", freed)
        await memory_cluster.advance(1.0)
        assert await owners(memory_cluster) == [new.uid] * 2


async def life(wire: Wire) -> dict[str, Any]:
    """A job that runs and fails, under a Manager that another follows when it dies."""
    async with MemoryCluster() as cluster:
        await cluster.install(ToyJob)
        steps = [lambda: cluster.client.create(job()), lambda: set_pods(cluster), lambda: fail(cluster)]
        for used in (wire, Wire()):
            async with job_manager(cluster, used):
                while steps and not wire.is_cut:
                    await steps.pop(0)()
                    await cluster.advance(5.0)
                if used is not wire:
                    await finish(cluster, steps)
        return await outcome(cluster)


async def finish(cluster: MemoryCluster, steps: list[Any]) -> None:
    await cluster.advance(60.0)
    while steps:
        await steps.pop(0)()
        await cluster.advance(60.0)


async def fail(cluster: MemoryCluster) -> None:
    await set_pods(cluster, "Failed", names=["g-worker-0"], exit_code=1)


@pytest.mark.parametrize("answer_lost", [False, True])
async def test_bug_31_a_manager_that_dies_at_any_request_leaves_what_its_successor_brings_to_the_same_end(
    *, answer_lost: bool
) -> None:
    """State in annotations was lost or handled twice: kopf#729, #1178, #641."""
    undisturbed = Wire()
    expected = await life(undisturbed)
    assert ("Failed", "True") in {each[:2] for each in expected["conditions"]}
    assert expected["pods"] == []
    writes = len(undisturbed.sent)
    assert writes > 8
    for lasts in range(writes):
        assert await life(Wire(lasts, answer_lost)) == expected, f"after {undisturbed.sent[lasts]}"
