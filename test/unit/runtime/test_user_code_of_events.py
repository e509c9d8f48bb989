# SPDX-License-Identifier: Apache-2.0
"""Clean-ups, predicates and mappers that go wrong cost no finalizer, and no events of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop import Context, Finalizers, Watch, finalize
from dglop.runtime.handler import mapped
from test.unit.runtime.controller_world import Greeting
from test.unit.runtime.test_user_code import (
    ends_an_iteration,
    exits,
    noting,
    put,
    says_it_was_cancelled,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.testing.memory import MemoryCluster


@pytest.mark.parametrize("answer", ["done", 0, {}])
async def test_a_cleanup_that_returns_anything_else_keeps_the_finalizer(
    memory_cluster: MemoryCluster, answer: Any
) -> None:
    async def cleanup(*_: Any) -> Any:
        return answer

    several = Finalizers({"example.dev/b": cleanup})

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        if obj.name == "one":
            await finalize(obj, ctx, "example.dev/a", cleanup)
        else:
            await several.run(obj, ctx)

    await put(memory_cluster, "one", "several")
    manager, out = noting(memory_cluster)
    manager.controller(Greeting, reconcile)
    async with manager:
        await memory_cluster.settle()
        for name in ("one", "several"):
            await memory_cluster.client.delete(Greeting, name, "default")
        await memory_cluster.settle()
        for name in ("one", "several"):
            assert (await memory_cluster.client.get(Greeting, name, "default")).metadata.finalizers
    assert out.getvalue().count(f"cleanup returned a {type(answer).__name__}; return None or True when") >= 2


async def test_a_cleanup_may_be_a_plain_function(memory_cluster: MemoryCluster) -> None:
    def cleanup() -> Any:
        return None

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        await finalize(obj, ctx, "example.dev/a", cleanup)

    await put(memory_cluster, "one")
    manager = memory_cluster.manager()
    manager.controller(Greeting, reconcile)
    async with manager:
        await memory_cluster.settle()
        await memory_cluster.client.delete(Greeting, "one", "default")
        await memory_cluster.settle()
        assert await memory_cluster.client.list(Greeting, "default") == []


@pytest.mark.parametrize(
    "odd", [says_it_was_cancelled, exits, ends_an_iteration, lambda _: "ab", lambda _: 5]
)
async def test_predicates_and_mappers_that_go_wrong_lose_no_events_of_others(
    memory_cluster: MemoryCluster, odd: Callable[[Any], Any]
) -> None:

    done: list[str] = []

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        done.append(obj.name)

    def predicate(event: Any) -> bool:
        name = (event.new if hasattr(event, "new") else event.obj).meta.name
        return name != "bad" or bool(odd(event) or False)

    await put(memory_cluster, "bad")
    manager, out = noting(memory_cluster)
    manager.controller(Greeting, reconcile, predicates=[predicate], watches=[Watch(Greeting, mapped(odd))])
    async with manager:
        await memory_cluster.settle()
        await put(memory_cluster, "good")
        await memory_cluster.settle()
        assert "good" in done
    assert told(out, "Event handler raised")
