# SPDX-License-Identifier: Apache-2.0
"""A Manager on an in-memory cluster, where time passes only when the test says so."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap

from dglop.errors import InvalidError
from dglop.runtime.reconcile import Result
from dglop.testing.memory import Effect, MemoryCluster
from examples.greeting import Greeting, GreetingSpec, reconcile

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.context import Context
    from dglop.runtime.manager import Manager


def hello(text: str = "hi") -> Greeting:
    return Greeting(name="hello", namespace="default", spec=GreetingSpec(text=text))


@pytest.fixture
async def start(memory_cluster: MemoryCluster) -> Callable[[Any], Manager]:
    """Makes a Manager for greetings; the test starts it."""
    await memory_cluster.install(Greeting)

    def make(reconciler: Any) -> Manager:
        manager = memory_cluster.manager()
        manager.controller(Greeting, reconciler, owns=[V1ConfigMap])
        return manager

    return make


async def test_the_greeting_operator_keeps_its_page(memory_cluster: MemoryCluster, start) -> None:
    client = memory_cluster.client
    async with start(reconcile):
        await client.create(hello())
        await memory_cluster.settle()
        page = await client.get(V1ConfigMap, "hello", "default")
        assert page.data == {"text": "hi"}
        assert [each.kind for each in page.metadata.owner_references or ()] == ["Greeting"]
        assert (await client.get(Greeting, "hello", "default")).status.is_true("Ready")
        await client.delete(V1ConfigMap, "hello", "default")
        await memory_cluster.settle()
        assert (await client.get(V1ConfigMap, "hello", "default")).metadata.uid != page.metadata.uid


async def test_it_comes_to_the_same_end_when_requests_and_watches_fail(
    memory_cluster: MemoryCluster, start
) -> None:
    client, server = memory_cluster.client, memory_cluster.server
    server.faults.add(500, "PATCH", V1ConfigMap, times=2)
    server.faults.add(Effect.LOSE, "PATCH", Greeting, subresource="status")
    async with start(reconcile):
        await client.create(hello())
        await memory_cluster.settle()
        server.compact()
        server.end_watches(expired=True)
        await memory_cluster.advance(60)
        assert (await client.get(Greeting, "hello", "default")).status.is_true("Ready")
        assert (await client.get(V1ConfigMap, "hello", "default")).data == {"text": "hi"}


async def test_a_reconciler_comes_back_when_it_asked_to(memory_cluster: MemoryCluster, start) -> None:
    times: list[float] = []

    async def every_minute(greeting: Greeting, ctx: Context) -> Result:
        times.append((ctx.now() - memory_cluster.clock.now()).total_seconds())
        return Result(requeue_after=timedelta(minutes=1))

    async with start(every_minute):
        await memory_cluster.client.create(hello())
        await memory_cluster.settle()
        assert len(times) == 1
        await memory_cluster.advance(59)
        assert len(times) == 1
        await memory_cluster.advance(600)
        assert len(times) == 11
    assert set(times) == {0.0}


async def test_a_reconciler_in_a_thread_is_waited_for(memory_cluster: MemoryCluster, start) -> None:
    def plain(greeting: Greeting, ctx: Context) -> None:
        page = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": greeting.name},
            "data": {"a": "b"},
        }
        ctx.wait(ctx.apply(page, owner=greeting))
        greeting.status.set("Ready", True, reason="Published")

    async with start(plain):
        await memory_cluster.client.create(hello())
        await memory_cluster.settle()
        assert (await memory_cluster.client.get(Greeting, "hello", "default")).status.is_true("Ready")


async def test_waiting_for_what_never_comes_ends(memory_cluster: MemoryCluster) -> None:
    with pytest.raises(TimeoutError, match="does not become true"):
        await memory_cluster.until(lambda: False, seconds=10)


async def test_a_rule_that_cannot_be_evaluated_is_refused_with_its_crd(memory_cluster: MemoryCluster) -> None:
    rules = [{"rule": "duration(self) > duration('1h')"}]
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-kubernetes-validations": rules}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Thing", "plural": "things"}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.dev"},
        "spec": {"group": "example.dev", "names": names, "scope": "Namespaced", "versions": [version]},
    }
    with pytest.raises(InvalidError, match=r"cannot be evaluated in memory .*duration\(\)"):
        await memory_cluster.client.create(crd)
