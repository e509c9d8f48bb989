# SPDX-License-Identifier: Apache-2.0
"""The page on caches and sources: its code runs, and does what the page says."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap, V1Container, V1ObjectMeta, V1Pod, V1PodSpec

if TYPE_CHECKING:
    from dglop.testing.memory import MemoryCluster

_PAGE = Path(__file__).resolve().parents[3] / "docs" / "caches-and-sources.md"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of the page, once its code has run as a module."""
    module = ModuleType("caches_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in re.findall(r"```python\n(.*?)```", _PAGE.read_text(), flags=re.DOTALL):
        exec(compile(block, str(_PAGE), "exec"), module.__dict__)
    return module.__dict__


async def put_greeter(cluster: MemoryCluster, page: dict[str, Any], name: str) -> None:
    await cluster.client.create(page["Greeter"](name=name, namespace="default", spec=page["GreeterSpec"]()))


async def test_its_requests_come_from_all_its_sources(
    memory_cluster: MemoryCluster, page: dict[str, Any]
) -> None:
    calls: list[str] = []

    async def greet(obj: Any, ctx: Any) -> None:
        calls.append(obj.name)

    page["greet"] = greet
    await memory_cluster.install(page["Greeter"])
    for name in ("clock-tower", "high-street", "paper"):
        await put_greeter(memory_cluster, page, name)
    manager = memory_cluster.manager(cache=page["options"])
    page["register"](manager)
    async with manager:
        await memory_cluster.advance(2)
        assert sorted(calls) == ["clock-tower", "high-street", "paper"]
        page["bells"].push("high-street")
        labels = {"greeter": "paper"}
        await memory_cluster.client.create(
            V1ConfigMap(metadata=V1ObjectMeta(name="page", namespace="default", labels=labels))
        )
        await memory_cluster.advance(2)
        assert sorted(calls[3:]) == ["high-street", "paper"]
        await memory_cluster.advance(3600)
        # Of the config map everyone hears again about every ten minutes.
        assert set(calls[5:]) == {"clock-tower", "paper"}
        assert calls[5:].count("clock-tower") == 1


async def test_its_tenants_are_billed_for_all_their_pods_at_once(
    memory_cluster: MemoryCluster, page: dict[str, Any]
) -> None:
    billed: list[tuple[str, int]] = []

    async def bill(tenant: str, ctx: Any) -> None:
        billed.append((tenant, len(ctx.cache.list(V1Pod, index=("tenant", tenant)))))

    page["bill"] = bill
    for name in ("a", "b"):
        metadata = V1ObjectMeta(name=name, namespace="default", labels={"tenant": "red"})
        spec = V1PodSpec(containers=[V1Container(name="main", image="example.com/x:1")])
        await memory_cluster.client.create(V1Pod(metadata=metadata, spec=spec))
    manager = memory_cluster.manager()
    page["register_tenants"](manager)
    async with manager:
        await memory_cluster.settle()
    assert billed == [("red", 2)]


def test_its_clusters_are_registered_and_its_options_are_for_what_it_says(
    memory_cluster: MemoryCluster, page: dict[str, Any]
) -> None:
    manager = memory_cluster.manager()
    page["register_clusters"](manager)
    assert [each.clusters for each in manager.controllers] == [("", "west"), ("",)]
    assert [each.resources for each in manager.rules_in(manager.clusters["west"])]
    assert len(page["manager"].home_options().kinds) == 3
