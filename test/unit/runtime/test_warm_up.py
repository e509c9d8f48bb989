# SPDX-License-Identifier: Apache-2.0
"""What a process does that does not lead, and that it works at once when it does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from dglop.runtime.reconcile import Request
from test.unit.runtime.controller_world import PATH, Greeting, greeting, make_manager, settled, value

if TYPE_CHECKING:
    from dglop import Context
    from dglop.runtime.source import Enqueue

pytestmark = pytest.mark.scripted

LEASE_PATH = "/apis/coordination.k8s.io/v1/namespaces/default/leases/dglop"


class Calls:
    """A reconciler that notes whom it was called for."""

    def __init__(self) -> None:
        self.names: list[str] = []

    async def __call__(self, obj: Greeting, ctx: Context) -> None:
        self.names.append(obj.name)
        obj.status.mood = "fine"


@pytest.fixture
async def led(api: Any) -> Any:
    """An API server where another process leads, and there is one greeting."""
    lease = {
        "holderIdentity": "other",
        "leaseDurationSeconds": 3600,
        "renewTime": "2026-01-01T00:00:00.000000Z",
    }
    await api.put(LEASE_PATH, {"kind": "Lease", "spec": lease})
    await api.put(f"{PATH}/hello", greeting())
    return api


async def test_a_standby_that_warms_up_fills_its_queue_and_works_on_nothing(led):
    warm, cold = Calls(), Calls()
    manager = make_manager(led, leader_elect=True)
    manager.controller(Greeting, warm, name="warm", warm_up=True)
    manager.controller(Greeting, cold, name="cold")
    async with manager:
        depth = {"name": "warm", "controller": "warm", "priority": "-100"}
        assert manager.metrics.registry.get_sample_value("workqueue_depth", depth) == 1
        assert [len(each.queue) for each in manager.controllers] == [1, 0]
        assert (warm.names, cold.names) == ([], [])


class Finder:
    """A function source that finds one greeting."""

    def __init__(self) -> None:
        self.begun: int = 0
        self.found = asyncio.Event()

    async def __call__(self, enqueue: Enqueue, stop: asyncio.Event) -> None:
        self.begun += 1
        enqueue(Request("elsewhere", "found"))
        self.found.set()
        await stop.wait()


async def test_a_standby_that_warms_up_runs_its_function_sources_too(led):
    """As controller-runtime does with EnableWarmup: what a source finds meanwhile is queued already."""
    warm, cold = Finder(), Finder()
    manager = make_manager(led, leader_elect=True)
    manager.controller(Greeting, Calls(), name="warm", watches=[warm], warm_up=True)
    manager.controller(Greeting, Calls(), name="cold", watches=[cold])
    async with manager:
        await warm.found.wait()
        assert [len(each.queue) for each in manager.controllers] == [2, 0]
    assert (warm.begun, cold.begun) == (1, 0)


async def test_a_function_source_that_was_warm_is_not_run_again_by_the_leader(api):
    await api.put(f"{PATH}/hello", greeting())
    finder, calls = Finder(), Calls()
    manager = make_manager(api, leader_elect=True)
    manager.controller(Greeting, calls, watches=[finder], warm_up=True)
    async with manager:
        await settled(api, manager, lambda: api.objects[f"{PATH}/hello"].get("status") is not None)
    assert (finder.begun, set(calls.names)) == (1, {"hello"})


async def test_a_function_source_that_fails_while_it_warms_up_ends_the_manager(led):
    async def broken(enqueue: Enqueue, stop: asyncio.Event) -> None:
        raise OSError("the broker is gone")

    manager = make_manager(led, leader_elect=True)
    manager.controller(Greeting, Calls(), watches=[broken], warm_up=True)
    with pytest.RaisesGroup(pytest.RaisesExc(OSError, match="the broker is gone")):
        await manager.run()


async def test_what_was_warm_works_once_it_leads_and_on_each_object_once(api):
    await api.put(f"{PATH}/hello", greeting())
    warm = Calls()
    manager = make_manager(api, leader_elect=True)
    manager.controller(Greeting, warm, warm_up=True)
    async with manager:
        await settled(api, manager, lambda: api.objects[f"{PATH}/hello"].get("status") is not None)
    assert set(warm.names) == {"hello"}
    assert value(manager, "controller_runtime_max_concurrent_reconciles", controller="greeting") == 1


async def test_a_controller_that_needs_no_leader_works_and_writes_on_every_replica(led):
    calls, other = Calls(), Calls()
    manager = make_manager(led, leader_elect=True)
    manager.controller(Greeting, calls, name="everywhere", needs_leader=False)
    manager.controller(Greeting, other, name="leader")
    async with manager:
        await settled(led, manager, lambda: led.objects[f"{PATH}/hello"].get("status") is not None)
        assert not manager.elected.is_set()
    assert set(calls.names) == {"hello"}
    assert other.names == []
