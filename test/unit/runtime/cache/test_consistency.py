# SPDX-License-Identifier: Apache-2.0
"""Finding out that a cache is not what the API server has."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta

from dglop import Settings
from dglop.runtime.cache import CacheOptions
from dglop.runtime.cache.consistency import Difference, differences
from dglop.runtime.log import make_log

if TYPE_CHECKING:
    from dglop.runtime.manager import Manager
    from dglop.testing.memory import MemoryCluster

A, B = ("n", "a"), ("", "b")


@pytest.mark.parametrize(
    ("served", "held", "texts"),
    [
        ({A: ("u", "5")}, {A: ("u", "5")}, []),
        ({A: ("u", "5")}, {A: ("u", "7")}, []),
        ({A: ("u", "5")}, {A: ("u", "4")}, ["n/a is held as u@4 and served as u@5"]),
        ({A: ("u", "5")}, {A: ("other", "5")}, ["n/a is held as other@5 and served as u@5"]),
        ({B: ("u", "5")}, {}, ["b is missing"]),
        ({}, {A: ("u", "9")}, ["n/a is left over"]),
        ({}, {A: ("u", "11")}, []),
    ],
    ids=["the same", "newer", "stale", "another", "missing", "left over", "created after the list"],
)
def test_what_is_newer_than_the_list_is_right_and_the_rest_is_told(
    served: dict[Any, Any], held: dict[Any, Any], texts: list[str]
) -> None:
    assert [str(each) for each in differences(served, "10", held)] == texts


def test_a_difference_is_the_same_only_in_the_same_states() -> None:
    assert Difference(A, ("u", "5"), ("u", "4")) != Difference(A, ("u", "6"), ("u", "4"))


async def put(cluster: MemoryCluster, name: str, **labels: str) -> None:
    metadata = V1ObjectMeta(name=name, namespace="default", labels=labels)
    await cluster.client.create(V1ConfigMap(metadata=metadata))


@pytest.fixture
def lines() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def manager(memory_cluster: MemoryCluster, lines: io.StringIO) -> Manager:
    settings = Settings(metrics_bind="0", health_bind="0", cache_check_seconds=60)
    made = memory_cluster.manager(settings, cache=CacheOptions(labels="app=x"))
    made.reconfigure(settings, make_log(format_="json", stream=lines))
    return made


def told(lines: io.StringIO) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in lines.getvalue().splitlines()]
    return [line for line in found if line["msg"] == "Cache differs from the API server"]


async def test_a_cache_that_is_right_is_listed_once_a_round_and_not_told_of(
    memory_cluster: MemoryCluster, manager: Manager, lines: io.StringIO
) -> None:
    await put(memory_cluster, "a", app="x")
    await put(memory_cluster, "other", app="y")
    async with manager:
        await manager.cache.ensure(V1ConfigMap, 10)
        await memory_cluster.settle()
        before = memory_cluster.server.requests
        await memory_cluster.advance(60)
        assert memory_cluster.server.requests == before + 1
        await put(memory_cluster, "b", app="x")
        await memory_cluster.advance(200)
        name = "dglop_informer_inconsistencies_total"
        assert manager.metrics.registry.get_sample_value(name, {"kind": "configmaps"}) == 0
    assert told(lines) == []


async def test_what_is_held_otherwise_for_long_is_told_and_counted(
    memory_cluster: MemoryCluster, manager: Manager, lines: io.StringIO
) -> None:
    for name in ("a", "b"):
        await put(memory_cluster, name, app="x")
    async with manager:
        informer = await manager.cache.ensure(V1ConfigMap, 10)
        lost = informer.store.get(("default", "a"))
        assert lost is not None
        informer.store.remove(lost)
        await memory_cluster.advance(71)
        name = "dglop_informer_inconsistencies_total"
        assert manager.metrics.registry.get_sample_value(name, {"kind": "configmaps"}) == 1
    (line,) = told(lines)
    assert (line["kind"], line["objects"], line["first"]) == ("configmaps", 1, ["default/a is missing"])


async def test_what_is_mended_by_the_watch_in_time_is_not_told(
    memory_cluster: MemoryCluster, manager: Manager, lines: io.StringIO
) -> None:
    await put(memory_cluster, "a", app="x")
    async with manager:
        informer = await manager.cache.ensure(V1ConfigMap, 10)
        late = informer.store.get(("default", "a"))
        assert late is not None
        informer.store.remove(late)
        await memory_cluster.advance(65)
        informer.store.put(late)
        await memory_cluster.advance(10)
    assert told(lines) == []
