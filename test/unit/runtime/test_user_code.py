# SPDX-License-Identifier: Apache-2.0
"""What a program's own functions raise and return ends no more than the call that it came from."""

from __future__ import annotations

import asyncio
import functools
import io
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import field_validator

from dglop import (
    Context,
    CustomResource,
    Manager,
    Result,
    Spec,
    Status,
)
from dglop.runtime.api import Resource
from dglop.runtime.log import make_log
from test.unit.runtime.controller_world import Greeting, GreetingSpec, value

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.testing.memory import MemoryCluster

NOTHING: list[int] = []


def ends_an_iteration(*_: Any) -> Any:
    return next(each for each in NOTHING if each)


async def ends_an_iteration_in_a_coroutine(*_: Any) -> Any:
    return next(each for each in NOTHING if each)


async def awaits_what_was_cancelled(*_: Any) -> None:
    task = asyncio.create_task(asyncio.sleep(100))
    task.cancel()
    await task


def says_it_was_cancelled(*_: Any) -> None:
    raise asyncio.CancelledError


def waits_for_what_was_cancelled(_: Any, ctx: Context) -> None:
    ctx.wait(awaits_what_was_cancelled())


def exits(*_: Any) -> None:
    raise SystemExit(4)


async def exits_in_a_coroutine(*_: Any) -> None:
    raise SystemExit(4)


def is_interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


def ends_a_generator(*_: Any) -> None:
    raise GeneratorExit


async def ends_a_generator_in_a_coroutine(*_: Any) -> None:
    raise GeneratorExit


async def waits_in_the_loop(_: Any, ctx: Context) -> None:
    ctx.wait(asyncio.sleep(0))


def recurses(*_: Any) -> None:
    recurses()


async def returns_text(*_: Any) -> Any:
    return "yes"


def returns_true(*_: Any) -> Any:
    return True


async def returns_a_time(*_: Any) -> Any:
    return timedelta(seconds=5)


def yields(*_: Any) -> Any:
    yield


async def yields_in_a_coroutine(*_: Any) -> Any:
    yield


async def returns_a_number_of_seconds(*_: Any) -> Result:
    seconds: Any = 5
    return Result(requeue_after=seconds)


def applies_and_does_not_wait(obj: Greeting, ctx: Context) -> Any:
    return ctx.apply(Greeting(name=obj.name, namespace="default", spec=GreetingSpec(text="hi")))


BUGS: list[tuple[Callable[..., Any], str]] = [
    (ends_an_iteration, "ends_an_iteration raised StopIteration; a next() that may find nothing needs"),
    (ends_an_iteration_in_a_coroutine, "ends_an_iteration_in_a_coroutine raised StopIteration"),
    (functools.partial(ends_an_iteration, 1), "ends_an_iteration raised StopIteration"),
    (awaits_what_was_cancelled, "raised CancelledError; something that it waited for was cancelled"),
    (says_it_was_cancelled, "says_it_was_cancelled raised CancelledError"),
    (waits_for_what_was_cancelled, "waits_for_what_was_cancelled raised CancelledError"),
    (exits, "exits raised SystemExit: 4"),
    (exits_in_a_coroutine, "exits_in_a_coroutine raised SystemExit: 4"),
    (is_interrupted, "is_interrupted raised KeyboardInterrupt"),
    (ends_a_generator, "ends_a_generator raised GeneratorExit"),
    (ends_a_generator_in_a_coroutine, "ends_a_generator_in_a_coroutine raised GeneratorExit"),
    (waits_in_the_loop, "ctx.wait() is for plain functions"),
    (recurses, "maximum recursion depth exceeded"),
    (returns_text, "returns_text returned a str; return None or Result(...)"),
    (returns_true, "returns_true returned a bool; return None or Result(...)"),
    (returns_a_time, "returns_a_time returned a timedelta; return None or Result(...)"),
    (yields, "yields returned a generator; return None or Result(...)"),
    (yields_in_a_coroutine, "yields_in_a_coroutine returned a generator; return None or Result(...)"),
    (returns_a_number_of_seconds, "requeue_after is a timedelta, such as timedelta(seconds=5), not 5"),
    (applies_and_does_not_wait, "applies_and_does_not_wait returned a Greeting; return None or Result"),
]


async def put(cluster: MemoryCluster, *names: str) -> None:
    await cluster.install(Greeting)
    for name in names:
        await cluster.client.create(Greeting(name=name, namespace="default", spec=GreetingSpec(text="hi")))


def told(out: io.StringIO, part: str) -> bool:
    return part in out.getvalue()


def noting(cluster: MemoryCluster) -> tuple[Manager, io.StringIO]:
    """A Manager and what it logs."""
    out, manager = io.StringIO(), cluster.manager()
    manager.reconfigure(manager.settings, make_log(format_="json", stream=out))
    return manager, out


@pytest.mark.parametrize(("function", "said"), BUGS, ids=lambda each: getattr(each, "__name__", ""))
async def test_a_reconcilers_oddest_end_is_a_bug_of_that_call_and_tried_again(
    memory_cluster: MemoryCluster, function: Any, said: str
) -> None:
    await put(memory_cluster, "bad")
    manager, out = noting(memory_cluster)
    controller = manager.controller(Greeting, function)
    async with manager:
        await memory_cluster.settle()
        await memory_cluster.advance(1)
        assert controller.queue.waiting == 1
    assert told(out, said)
    assert value(manager, "controller_runtime_reconcile_panics_total", controller="greeting") > 1


async def test_a_plain_function_may_hand_on_the_coroutine_of_another(memory_cluster: MemoryCluster) -> None:
    done: list[str] = []

    async def reconcile(obj: Greeting, ctx: Context) -> Result:
        done.append(obj.name)
        return Result(requeue_after=timedelta(hours=1))

    def traced(obj: Greeting, ctx: Context) -> Any:
        return reconcile(obj, ctx)

    await put(memory_cluster, "good")
    manager = memory_cluster.manager()
    controller = manager.controller(Greeting, traced)
    async with manager:
        await memory_cluster.settle()
        assert (done, controller.queue.waiting) == (["good"], 1)


async def test_what_is_gone_is_told_to_a_function_that_may_raise_anything(
    memory_cluster: MemoryCluster,
) -> None:
    await put(memory_cluster, "bad", "good")
    manager, out = noting(memory_cluster)

    async def reconcile(obj: Greeting, ctx: Context) -> None:
        ctx.on_written(exits)

    manager.controller(Greeting, reconcile, on_gone=awaits_what_was_cancelled)
    async with manager:
        await memory_cluster.settle()
        assert told(out, "exits raised SystemExit: 4")
        await memory_cluster.client.delete(Greeting, "bad", "default")
        await memory_cluster.settle()
        assert told(out, "awaits_what_was_cancelled raised CancelledError")


async def test_a_kinds_own_validator_may_raise_anything(memory_cluster: MemoryCluster) -> None:
    class OddSpec(Spec):
        text: str = ""

        @field_validator("text")
        @classmethod
        def _judge(cls, text: str) -> str:
            if text == "bad":
                raise SystemExit(4)
            return text

    class Odd(CustomResource[OddSpec, Status], group="example.dev", version="v1", plural="odds"):
        """A kind for tests."""

    async def reconcile(obj: Odd, ctx: Context) -> None:
        """Does nothing."""

    await memory_cluster.install(Odd)
    wire = {"apiVersion": "example.dev/v1", "kind": "Odd", "metadata": {"name": "a", "namespace": "default"}}
    await memory_cluster.client.create(
        {**wire, "spec": {"text": "bad"}}, resource=Resource("example.dev", "v1", "Odd", "odds")
    )
    manager, out = noting(memory_cluster)
    manager.controller(Odd, reconcile)
    async with manager:
        await memory_cluster.settle()
    assert told(out, "raised SystemExit: 4")
