# SPDX-License-Identifier: Apache-2.0
"""What a TestCluster promises: the same tests run on a real API server and, in the unit tests, in memory."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta

from dglop import Result
from dglop.errors import ConfigError, NotFoundError
from dglop.runtime.settings import Settings
from dglop.testing import pod_template
from examples.greeting import Greeting, GreetingSpec, reconcile
from examples.test_torchjob import test_finished_job_keeps_only_its_completed_pods  # noqa: F401 - run here too

if TYPE_CHECKING:
    from dglop import Context, Manager
    from dglop.testing import TestCluster


def hello(text: str = "hi") -> Greeting:
    return Greeting(name="hello", spec=GreetingSpec(text=text))


async def test_what_a_test_does_is_reconciled_once_all_has_settled(cluster: TestCluster, manager: Manager):
    manager.controller(Greeting, reconcile, owns=[V1ConfigMap])
    made = await cluster.client.create(hello())
    assert made.namespace == cluster.namespace
    await cluster.settle()
    page = await cluster.client.get(V1ConfigMap, "hello")
    assert page.data == {"text": "hi"}
    assert (await cluster.client.get(Greeting, "hello")).status.is_true("Ready")
    await cluster.client.delete(V1ConfigMap, "hello")
    await cluster.settle()
    assert (await cluster.client.get(V1ConfigMap, "hello")).data == {"text": "hi"}


async def test_an_hour_passes_at_once_and_every_timer_in_it_rings(cluster: TestCluster, manager: Manager):
    times = []

    async def every_quarter(greeting: Greeting, ctx: Context) -> Result:
        times.append(ctx.now())
        return Result(requeue_after=timedelta(minutes=15))

    manager.controller(Greeting, every_quarter)
    await cluster.client.create(hello())
    await cluster.settle()
    assert len(times) == 1
    await cluster.advance(timedelta(minutes=14))
    assert len(times) == 1
    await cluster.advance(47 * 60)
    assert len(times) == 5
    gaps = [(after - before).total_seconds() for before, after in pairwise(times)]
    # A real server's clock goes on while it is worked with.
    assert all(900 <= gap < 960 for gap in gaps), gaps


async def test_a_failure_is_tried_again_when_its_pause_is_over(cluster: TestCluster, manager: Manager):
    failures = ["first", "second"]

    async def fragile(greeting: Greeting, ctx: Context) -> None:
        if failures:
            raise RuntimeError(failures.pop())
        greeting.status.set("Ready", True)

    manager.controller(Greeting, fragile)
    await cluster.client.create(hello())
    await cluster.advance(1)
    assert (await cluster.client.get(Greeting, "hello")).status.is_true("Ready")


async def test_a_function_in_a_thread_is_waited_for(cluster: TestCluster, manager: Manager):
    def plain(greeting: Greeting, ctx: Context) -> None:
        page = V1ConfigMap(metadata=V1ObjectMeta(name=greeting.name), data={"a": "b"})
        ctx.wait(ctx.apply(page, owner=greeting))

    manager.controller(Greeting, plain)
    await cluster.client.create(hello())
    await cluster.settle()
    assert (await cluster.client.get(V1ConfigMap, "hello")).data == {"a": "b"}


async def test_events_are_lines_in_the_order_in_which_they_were_told(cluster: TestCluster, manager: Manager):
    async def tell(greeting: Greeting, ctx: Context) -> None:
        ctx.event(greeting, "Read", f"it says {greeting.spec.text}")
        if greeting.spec.text == "hi":
            ctx.event(greeting, "Doubted", "it is short", type="Warning")

    manager.controller(Greeting, tell)
    await cluster.client.create(hello())
    await cluster.settle()
    assert cluster.events == [
        "Normal Read Greeting/hello: it says hi",
        "Warning Doubted Greeting/hello: it is short",
    ]


async def test_as_much_time_passes_as_something_takes(cluster: TestCluster, manager: Manager):
    calls = []

    async def daily(greeting: Greeting, ctx: Context) -> Result:
        calls.append(ctx.now())
        return Result(requeue_after=timedelta(minutes=20))

    manager.controller(Greeting, daily)
    await cluster.client.create(hello())
    assert await cluster.until(lambda: len(calls) == 3)
    assert (calls[-1] - calls[0]).total_seconds() == pytest.approx(2400, abs=60)
    with pytest.raises(TimeoutError, match="within 60 s of the clock"):
        await cluster.until(lambda: len(calls) == 4, seconds=60)


async def test_a_manager_that_nobody_started_starts_with_the_first_call(
    cluster: TestCluster, manager: Manager
):
    assert not manager.is_running
    manager.controller(Greeting, reconcile)
    assert await cluster.client.list(Greeting) == []
    assert manager.is_running
    with pytest.raises(ConfigError, match="runs already"):
        manager.controller(Greeting, reconcile, name="another")


async def test_what_was_there_before_a_manager_is_reconciled_when_it_starts(cluster: TestCluster):
    await cluster.install(Greeting)
    await cluster.client.create(hello())
    manager = cluster.manager()
    manager.controller(Greeting, reconcile)
    await cluster.settle()
    with pytest.raises(NotFoundError):
        await cluster.client.get(V1ConfigMap, "hello")
    async with manager:
        await cluster.settle()
    assert (await cluster.client.get(V1ConfigMap, "hello")).data == {"text": "hi"}
    await cluster.client.create(Greeting(name="late", spec=GreetingSpec(text="ho")))
    await cluster.settle()  # does not wait for a cache that nobody fills any more
    with pytest.raises(NotFoundError):
        await cluster.client.get(V1ConfigMap, "late")


async def test_fields_belong_to_the_managers_name(cluster: TestCluster):
    manager = cluster.manager(name="greeting")
    manager.controller(Greeting, reconcile)
    cluster.run_later(manager)
    await cluster.client.create(hello())
    await cluster.settle()
    page = await cluster.client.get("configmaps", "hello")
    assert {each["manager"] for each in page["metadata"]["managedFields"]} == {"greeting"}


async def test_pods_are_put_in_a_phase_as_a_kubelet_would(cluster: TestCluster):
    wire = {"apiVersion": "v1", "kind": "Pod"}
    for name in ("a", "b"):
        labels = {"app": "x", "pod": name}
        await cluster.client.create({**wire, "metadata": {"name": name, "labels": labels}, **pod_template()})
    assert sorted(await cluster.set_pod_phase("Running", labels={"app": "x"})) == ["a", "b"]
    assert await cluster.set_pod_phase("Failed", labels="pod=b", exit_code=137) == ["b"]
    assert await cluster.set_pod_phase("Succeeded", name="a") == ["a"]
    pods = {each["metadata"]["name"]: each["status"] for each in await cluster.client.list("pods")}
    assert {name: status["phase"] for name, status in pods.items()} == {"a": "Succeeded", "b": "Failed"}
    (ended,) = pods["b"]["containerStatuses"]
    assert ended["state"]["terminated"]["exitCode"] == 137
    assert pods["b"]["startTime"] <= ended["state"]["terminated"]["finishedAt"]
    with pytest.raises(LookupError, match=r"no pod matches app=y; there are a, b"):
        await cluster.set_pod_phase("Running", labels="app=y")
    with pytest.raises(ValueError, match="a pod that is Running has no container that ended"):
        await cluster.set_pod_phase("Running", name="a", exit_code=1)


async def test_leader_election_is_refused_with_what_to_use(cluster: TestCluster):
    with pytest.raises(ConfigError, match="test it with Envtest"):
        cluster.manager(Settings(leader_elect=True))
