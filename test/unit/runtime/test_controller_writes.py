# SPDX-License-Identifier: Apache-2.0
"""What a controller writes under a Manager: status, finalizers and events, and how it sees its own writes."""

from __future__ import annotations

import asyncio

import pytest

from dglop import Context, Request, Result
from dglop.runtime.finalizer import finalize
from dglop.runtime.predicate import generation_changed
from test.unit.runtime.controller_world import PATH, Greeting, greeting, make_manager, settled, value

pytestmark = pytest.mark.scripted


async def test_status_is_written_once_with_the_version_that_was_read_and_only_the_difference(api):
    async def reconcile(obj: Greeting, ctx: Context) -> None:
        obj.status.said = ["good day"]
        obj.status.mood = None

    await api.put(f"{PATH}/hello", greeting(status={"mood": "fine", "unknown": {"kept": True}}))
    manager = make_manager(api)
    manager.controller(Greeting, reconcile)
    async with manager:
        await settled(api, manager, lambda: "said" in api.objects[f"{PATH}/hello"]["status"])
    assert api.objects[f"{PATH}/hello"]["status"] == {"said": ["good day"], "unknown": {"kept": True}}
    (write,) = api.writes(ending="/hello/status")
    assert write.json() == {
        "metadata": {"resourceVersion": "101"},
        "status": {"said": ["good day"], "mood": None},
    }


async def test_an_unchanged_status_is_not_written(api):
    async def reconcile(obj: Greeting, ctx: Context) -> None:
        obj.status.said = ["good day"]

    await api.put(f"{PATH}/hello", greeting(status={"said": ["good day"]}))
    manager = make_manager(api)
    controller = manager.controller(Greeting, reconcile)
    async with manager:
        await controller.queue.wait_idle()
    assert api.writes() == []


async def test_a_reconciler_sees_its_own_status_write_before_it_is_called_again(api):
    seen: list[list[str]] = []
    thrice = asyncio.Event()

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        seen.append(obj.status.said)
        obj.status.said = [*obj.status.said, str(len(seen))]
        if len(seen) == 1:
            api.holds_watches = True
        if len(seen) == 3:
            obj.status.said = seen[-1]
            thrice.set()

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    controller = manager.controller(Greeting, reconcile)
    async with manager:
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/hello"])
        controller.queue.add(Request("default", "hello"))
        await controller.queue.wait_idle()
        assert seen == [[]]  # the cache is behind, so the request waits
        await api.release_watches()
        await thrice.wait()
    assert seen[:3] == [[], ["1"], ["1", "2"]]


async def test_its_own_write_is_waited_for_even_if_a_predicate_hides_status_changes(api):
    calls = 0

    async def reconcile(obj: Greeting, ctx: Context) -> Result | None:
        nonlocal calls
        calls += 1
        if calls == 1:
            api.holds_watches = True
            obj.status.mood = "fine"
            return Result(requeue=True)
        assert obj.status.mood == "fine"
        await api.put(f"{PATH}/other", greeting("other"))
        return None

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    manager.controller(Greeting, reconcile, predicates=[generation_changed])
    async with manager:
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/hello"])
        await api.release_watches()
        await settled(api, manager, lambda: f"{PATH}/other" in api.objects)


async def test_a_reconciliation_that_is_put_off_is_neither_counted_nor_timed(api):
    calls, held = 0, asyncio.Event()

    async def reconcile(obj: Greeting, ctx: Context) -> Result | None:
        nonlocal calls
        calls += 1
        if calls > 1:
            held.set()
            return None
        api.holds_watches = True
        obj.status.mood = "fine"
        return Result(requeue=True)

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    controller = manager.controller(Greeting, reconcile)
    async with manager:
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/hello"])
        controller.queue.add(Request("default", "hello"))
        await controller.queue.wait_idle()
        assert calls == 1
        await api.release_watches()
        await held.wait()
        await controller.queue.wait_idle()
    results = ("success", "error", "requeue", "requeue_after")
    total = "controller_runtime_reconcile_total"
    counted = sum(value(manager, total, controller="greeting", result=result) for result in results)
    timed = value(manager, "controller_runtime_reconcile_time_seconds_count", controller="greeting")
    assert counted == timed == calls


async def test_a_conflict_is_tried_again_without_an_error(api):
    calls = 0

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            await api.put(f"{PATH}/hello", greeting(spec={"text": "changed meanwhile"}))
        obj.status.said = [obj.spec.text]

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    manager.controller(Greeting, reconcile)
    async with manager:
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/hello"])
    assert api.objects[f"{PATH}/hello"]["status"] == {"said": ["changed meanwhile"]}
    assert value(manager, "controller_runtime_reconcile_errors_total", controller="greeting") == 0


async def test_a_foreign_status_field_written_meanwhile_costs_no_second_reconciliation(api):
    calls = 0

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            await api.put(f"{PATH}/hello", greeting(status={"progress": 50}))
            api.holds_watches = True
        obj.status.mood = "fine"

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    manager.controller(Greeting, reconcile)
    async with manager:
        await settled(api, manager, lambda: "mood" in api.objects[f"{PATH}/hello"].get("status", {}))
    assert calls == 1
    assert api.objects[f"{PATH}/hello"]["status"] == {"progress": 50, "mood": "fine"}


async def test_a_finalizer_and_the_status_are_written_in_one_reconciliation_and_cleanup_comes_before_removal(
    api,
):
    cleaned = asyncio.Event()

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        async def cleanup() -> None:
            assert api.objects[f"{PATH}/hello"]["metadata"]["finalizers"] == ["example.dev/clean"]
            cleaned.set()

        if await finalize(obj, ctx, "example.dev/clean", cleanup):
            return
        obj.status.mood = "fine"

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    manager.controller(Greeting, reconcile)
    async with manager:
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/hello"])
        obj = api.objects[f"{PATH}/hello"]
        assert obj["metadata"]["finalizers"] == ["example.dev/clean"]
        gone = {**obj["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
        await api.put(f"{PATH}/hello", {**obj, "metadata": gone})
        await settled(api, manager, lambda: not api.objects[f"{PATH}/hello"]["metadata"].get("finalizers"))
    assert cleaned.is_set()
    assert value(manager, "controller_runtime_reconcile_errors_total", controller="greeting") == 0


async def test_events_follow_the_status_write_and_a_failed_reconciliation_sends_none_but_urgent_ones(api):
    calls = 0

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        nonlocal calls
        calls += 1
        ctx.event(obj, "Said", f"try {calls}")
        ctx.event(obj, "Tried", f"try {calls}", now=True)
        obj.status.mood = "fine"
        if calls == 1:
            raise ValueError("not yet")

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    manager.controller(Greeting, reconcile)

    def events() -> list[tuple[str, str]]:
        return [(o["reason"], o["note"]) for o in api.objects.values() if o["kind"] == "Event"]

    async with manager:
        await settled(api, manager, lambda: ("Said", "try 2") in events())
    assert ("Said", "try 1") not in events()
    assert ("Tried", "try 1") in events()
    posts = [r for r in api.server.requests if r.method in ("POST", "PATCH")]
    order = ["status" if r.path.endswith("/status") else r.json()["reason"] for r in posts]
    assert order.index("status") < order.index("Said")
    said = next(o for o in api.objects.values() if o.get("reason") == "Said")
    assert said["regarding"]["name"] == "hello"
    assert said["reportingController"] == "dglop"
