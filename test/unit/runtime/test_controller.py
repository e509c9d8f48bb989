# SPDX-License-Identifier: Apache-2.0
"""Controllers under a Manager against a small API server: outcomes, threads, and what wakes them."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta

from dglop import Context, Manager, Request, Result, Settings, TerminalError
from dglop.errors import ConfigError
from dglop.runtime.log import make_log
from dglop.runtime.queue import ExponentialBackoff, MaxOf, TokenBucket
from dglop.testing.clock import ManualClock
from test.unit.runtime.controller_world import PATH, Greeting, greeting, make_manager, settled, value

if TYPE_CHECKING:
    from dglop.runtime.loopoptions import LoopOptions

pytestmark = pytest.mark.scripted


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


async def test_the_retries_of_all_keys_together_can_be_limited(api):
    calls, clock = asyncio.Queue[str](), ManualClock()

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        calls.put_nowait(obj.name)
        raise OSError("the world is on fire")

    for name in ("a", "b", "c"):
        await api.put(f"{PATH}/{name}", greeting(name))
    slowly = TokenBucket[Request](clock.monotonic, rate=0.1, burst=1)
    manager = make_manager(api, clock=clock)
    limiter = MaxOf(ExponentialBackoff[Request](), slowly)
    controller = manager.controller(Greeting, reconcile, rate_limiter=limiter)
    async with manager:
        assert {await calls.get() for _ in range(3)} == {"a", "b", "c"}
        counts = []
        for seconds in (0.01, 10, 10, 10):
            await clock.advance(seconds)
            counts.append(calls.qsize())
        failures = [controller.queue.failures(Request("default", name)) for name in "abc"]
    assert counts == [1, 2, 3, 4]
    assert sum(failures) == 3 + 4


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


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"concurency": 4}, TypeError, "has no option concurency; there are clusters, concurrency, "),
        ({"concurrency": 0}, ConfigError, "needs a concurrency of 1 or more, not 0"),
    ],
)
async def test_an_option_that_is_misspelt_or_senseless_is_refused(api, options, error, text):
    with pytest.raises(error, match=text):
        make_manager(api).controller(Greeting, print, **options)


async def test_what_is_said_of_all_controllers_holds_unless_one_says_otherwise(api):
    defaults: LoopOptions = {"concurrency": 4, "reconcile_timeout": timedelta(seconds=9)}
    manager = Manager(Settings(), config=api.config, controllers=defaults)
    plain = manager.controller(Greeting, print, name="plain")
    other = manager.controller(Greeting, print, name="other", concurrency=2)
    keys = manager.keys("keys", print, watches=[])
    assert [each.concurrency for each in (plain, other, keys)] == [4, 2, 4]
    assert {each.reconcile_timeout for each in (plain, other, keys)} == {timedelta(seconds=9)}


async def test_a_controller_of_keys_has_no_option_that_is_about_objects(api):
    options: dict[str, Any] = {"predicates": []}
    with pytest.raises(TypeError, match="has no option predicates"):
        make_manager(api).keys("numbers", print, watches=[], **options)
