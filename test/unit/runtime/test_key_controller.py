# SPDX-License-Identifier: Apache-2.0
"""Controllers of keys of one's own, which are no objects, on an in-memory cluster."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta

from dglop import Channel, Context, Result, TerminalError, Watch
from dglop.errors import ConfigError
from dglop.runtime.handler import mapped
from test.unit.runtime.controller_world import value

if TYPE_CHECKING:
    from dglop.runtime.cache import Cached
    from dglop.testing.memory import MemoryCluster


@dataclass(frozen=True)
class Tenant:
    name: str


async def put_map(cluster: MemoryCluster, name: str, tenant: str) -> None:
    metadata = V1ObjectMeta(name=name, namespace="default", labels={"tenant": tenant})
    await cluster.client.create(V1ConfigMap(metadata=metadata))


def tenants_of(obj: Cached) -> list[Tenant]:
    return [Tenant(obj.meta.labels["tenant"])]


async def test_many_objects_are_one_key_and_its_outcomes_are_a_controllers(
    memory_cluster: MemoryCluster,
) -> None:
    calls: list[str] = []
    sizes: dict[str, int] = {}

    async def reconcile(tenant: Tenant, ctx: Context) -> Result | None:
        calls.append(tenant.name)
        sizes[tenant.name] = len(ctx.cache.list(V1ConfigMap, index=("tenant", tenant.name)))
        ctx.log.info("Counted")
        return Result(requeue_after=timedelta(minutes=1)) if len(calls) == 1 else None

    for name in ("a", "b", "c"):
        await put_map(memory_cluster, name, "red")
    manager = memory_cluster.manager()
    manager.keys(
        "tenants",
        reconcile,
        watches=[Watch(V1ConfigMap, mapped(tenants_of))],
        indexes={V1ConfigMap: {"tenant": lambda obj: [obj.meta.labels["tenant"]]}},
    )
    async with manager:
        await memory_cluster.settle()
        assert (calls, sizes) == (["red"], {"red": 3})
        await memory_cluster.advance(60)
        assert calls == ["red", "red"]
        total = "controller_runtime_reconcile_total"
        assert value(manager, total, controller="tenants", result="requeue_after") == 1
        assert value(manager, total, controller="tenants", result="success") == 1


async def test_keys_may_be_anything_that_can_be_hashed_and_a_failure_backs_off(
    memory_cluster: MemoryCluster,
) -> None:
    calls: list[int] = []

    def reconcile(number: int, ctx: Context) -> None:
        calls.append(number)
        if number == 2:
            raise TerminalError("never again")
        if len(calls) == 1:
            raise OSError("once more")

    channel = Channel[int]()
    manager = memory_cluster.manager()
    manager.keys("numbers", reconcile, watches=[channel])
    async with manager:
        channel.push(1)
        await memory_cluster.settle()
        channel.push(2)
        await memory_cluster.advance(60)
    assert calls == [1, 2, 1]
    errors = "controller_runtime_terminal_reconcile_errors_total"
    assert value(manager, errors, controller="numbers") == 1


def test_its_name_is_a_controllers_and_its_rights_are_what_it_watches(memory_cluster: MemoryCluster) -> None:
    manager = memory_cluster.manager()
    manager.keys("tenants", lambda tenant, ctx: None, watches=[Watch(V1ConfigMap, mapped(tenants_of))])
    with pytest.raises(ConfigError, match="a controller named tenants already"):
        manager.keys("tenants", lambda tenant, ctx: None, watches=[])
    assert ("configmaps",) in [rule.resources for rule in manager.rules()]
