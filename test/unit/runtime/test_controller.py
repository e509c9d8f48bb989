# SPDX-License-Identifier: Apache-2.0
"""Controllers under a Manager against a small API server: outcomes, status writes, events, own writes."""

from __future__ import annotations

import asyncio
import io
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta
from pydantic import Field

from dglop import Context, CustomResource, Manager, Request, Result, Settings, Spec, Status, TerminalError
from dglop.errors import ConfigError
from dglop.runtime.finalizer import finalize
from dglop.runtime.log import make_log
from dglop.runtime.predicate import generation_changed

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.scripted

PATH = "/apis/example.dev/v1/namespaces/default/greetings"


class GreetingSpec(Spec):
    text: str = ""
    times: int = 1


class GreetingStatus(Status):
    said: list[str] = Field(default_factory=list)
    mood: str | None = None


class Greeting(CustomResource[GreetingSpec, GreetingStatus], group="example.dev", version="v1"):
    """A kind for tests."""


def greeting(name: str = "hello", **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.dev/v1",
        "kind": "Greeting",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"text": "good day"},
        **fields,
    }


def make_manager(api, **settings: Any) -> Manager:
    options = Settings(metrics_bind="0", health_bind="0", **settings)
    return Manager(options, config=api.config, log=make_log(level="error", stream=io.StringIO()))


def value(manager: Manager, name: str, **labels: str) -> float:
    """The sample, which must be there."""
    found = manager.metrics.registry.get_sample_value(name, labels)
    assert found is not None
    return found


async def settled(api, manager: Manager, condition: Callable[[], bool] = lambda: True) -> None:
    await api.until(condition)
    for controller in manager.controllers:
        await controller.queue.wait_idle()


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


async def test_an_error_backs_off_and_a_terminal_error_waits_for_a_change(api):
    calls: list[str] = []

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        calls.append(obj.name)
        if obj.name == "hopeless":
            raise TerminalError("there is no way")
        if calls.count("flaky") < 3:
            raise OSError("try later")
        await api.put(f"{PATH}/done", greeting("done"))

    await api.put(f"{PATH}/hopeless", greeting("hopeless"))
    await api.put(f"{PATH}/flaky", greeting("flaky"))
    manager = make_manager(api)
    controller = manager.controller(Greeting, reconcile)
    async with manager:
        await settled(api, manager, lambda: f"{PATH}/done" in api.objects)
        assert calls.count("hopeless") == 1
        assert controller.queue.failures(Request("default", "flaky")) == 0
    assert value(manager, "controller_runtime_reconcile_errors_total", controller="greeting") == 3
    assert value(manager, "controller_runtime_terminal_reconcile_errors_total", controller="greeting") == 1
    assert value(manager, "controller_runtime_reconcile_panics_total", controller="greeting") == 0


async def test_a_bug_is_counted_as_a_panic_and_ends_nothing(api):
    async def reconcile(obj: Greeting, ctx: Context) -> None:
        if obj.name == "bad":
            raise AttributeError("a bug")
        obj.status.mood = "fine"

    await api.put(f"{PATH}/bad", greeting("bad"))
    await api.put(f"{PATH}/good", greeting("good"))
    manager = make_manager(api)
    manager.controller(Greeting, reconcile)
    async with manager:
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/good"])
    assert value(manager, "controller_runtime_reconcile_panics_total", controller="greeting") >= 1


async def test_requeue_after_comes_back_and_counts_as_such(api):
    calls = 0

    async def reconcile(obj: Greeting, ctx: Context) -> Result:
        nonlocal calls
        calls += 1
        if calls == 3:
            obj.status.mood = "fine"
        return Result(requeue_after=timedelta(milliseconds=1) if calls < 3 else timedelta(hours=1))

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    controller = manager.controller(Greeting, reconcile)
    async with manager:
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/hello"])
        assert controller.queue.waiting == 1
    labels = {"controller": "greeting", "result": "requeue_after"}
    assert value(manager, "controller_runtime_reconcile_total", **labels) >= 3


async def test_a_reconciliation_over_its_time_is_cancelled_and_counted(api):
    cancelled = asyncio.Event()

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        if not cancelled.is_set():
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
        obj.status.mood = "fine"

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    manager.controller(Greeting, reconcile, reconcile_timeout=timedelta(milliseconds=20))
    async with manager:
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/hello"])
    assert value(manager, "controller_runtime_reconcile_timeouts_total", controller="greeting") >= 1


async def test_a_plain_function_runs_in_a_thread_and_can_write(api):
    threads: list[int] = []

    def reconcile(obj: Greeting, ctx: Context) -> None:
        threads.append(threading.get_ident())
        page = V1ConfigMap(metadata=V1ObjectMeta(name=obj.name), data={"text": obj.spec.text})
        made = ctx.wait(ctx.apply(page, owner=obj))
        assert isinstance(made, V1ConfigMap)
        obj.status.said = [(made.data or {})["text"]]

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    manager.controller(Greeting, reconcile)
    async with manager:
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/hello"])
    page = api.objects["/api/v1/namespaces/default/configmaps/hello"]
    assert page["metadata"]["ownerReferences"][0]["kind"] == "Greeting"
    assert threading.get_ident() not in threads


async def test_a_thread_over_its_time_is_waited_for_so_that_no_object_is_in_two_hands(api):
    busy, release = threading.Lock(), threading.Event()
    calls = 0

    def reconcile(obj: Greeting, ctx: Context) -> None:
        nonlocal calls
        assert busy.acquire(blocking=False)
        calls += 1
        if calls == 1:
            assert release.wait(30)
        busy.release()
        obj.status.mood = "fine"

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    manager.controller(Greeting, reconcile, reconcile_timeout=timedelta(milliseconds=200), concurrency=3)
    async with manager:
        asyncio.get_running_loop().call_later(0.4, release.set)
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/hello"])
    assert calls >= 2
    assert value(manager, "controller_runtime_reconcile_timeouts_total", controller="greeting") >= 1


async def test_a_change_of_an_owned_object_reconciles_its_owner(api):
    async def reconcile(obj: Greeting, ctx: Context) -> None:
        page = ctx.get(V1ConfigMap, obj.name)
        if page is None:
            await ctx.apply(V1ConfigMap(metadata=V1ObjectMeta(name=obj.name), data={"a": "b"}), owner=obj)
        else:
            owned = ctx.list(V1ConfigMap, owner=obj)
            obj.status.said = [f"{page.metadata.name} {len(owned)}"]

    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    manager.controller(Greeting, reconcile, owns=[V1ConfigMap])
    async with manager:
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/hello"])
    assert api.objects[f"{PATH}/hello"]["status"] == {"said": ["hello 1"]}


async def test_a_deleted_object_is_told_to_on_gone_and_not_reconciled(api):
    gone = asyncio.Event()

    class Reconciler:
        def __init__(self) -> None:
            self.controllers: list[str] = []

        def setup(self, controller) -> None:
            self.controllers.append(controller.name)

        async def __call__(self, obj: Greeting, ctx: Context) -> None:
            obj.status.mood = "fine"

        def gone(self, request: Request) -> None:
            assert request == Request("default", "hello")
            gone.set()

    reconciler = Reconciler()
    await api.put(f"{PATH}/hello", greeting())
    manager = make_manager(api)
    manager.controller(Greeting, reconciler)
    assert reconciler.controllers == ["greeting"]
    async with manager:
        await settled(api, manager, lambda: "status" in api.objects[f"{PATH}/hello"])
        await api.remove(f"{PATH}/hello")
        await gone.wait()


async def test_an_object_that_does_not_fit_its_kind_gets_an_event_and_hurts_no_other(api):
    async def reconcile(obj: Greeting, ctx: Context) -> None:
        obj.status.mood = "fine"

    await api.put(f"{PATH}/bad", greeting("bad", spec={"times": "many"}))
    await api.put(f"{PATH}/good", greeting("good"))
    manager = make_manager(api)
    manager.controller(Greeting, reconcile)

    def notes() -> list[str]:
        return [o["note"] for o in api.objects.values() if o.get("reason") == "Unreadable"]

    async with manager:
        await settled(api, manager, lambda: bool(notes()) and "status" in api.objects[f"{PATH}/good"])
    assert "spec.times" in notes()[0]


async def test_two_controllers_of_one_name_are_refused():
    manager = Manager(Settings(), log=make_log())
    manager.controller(Greeting, lambda obj, ctx: None)
    with pytest.raises(ConfigError, match="another name"):
        manager.controller(Greeting, lambda obj, ctx: None)
