# SPDX-License-Identifier: Apache-2.0
"""What ends for good ends the Manager with an error, and never in silence."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta

from dglop import Channel, Context, Request, Result
from dglop.errors import ConfigError, SchemaError
from dglop.runtime.cache import CacheOptions, KindOptions
from dglop.runtime.handler import mapped
from dglop.runtime.health import health_routes
from dglop.runtime.serving import HttpRequest
from dglop.runtime.usercode import UserCodeError
from test.unit.runtime.controller_world import Greeting
from test.unit.runtime.test_user_code import (
    awaits_what_was_cancelled,
    ends_an_iteration,
    exits,
    exits_in_a_coroutine,
    put,
    says_it_was_cancelled,
    yields_in_a_coroutine,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.testing.memory import MemoryCluster

NO_WORDS: dict[str, str] = {}
ENDS: list[tuple[Callable[..., Any], str]] = [
    (awaits_what_was_cancelled, "awaits_what_was_cancelled raised CancelledError"),
    (exits_in_a_coroutine, "exits_in_a_coroutine raised SystemExit: 4"),
    (yields_in_a_coroutine, "yields_in_a_coroutine is no coroutine function, which it must be"),
    (lambda *_: None, "<lambda> is no coroutine function, which it must be"),
]


async def reconcile(obj: Any, ctx: Context) -> None:
    """Does nothing."""


async def failure_of(work: Any) -> BaseException:
    """What a Manager's run, or a start, ended with."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the tests look at it
        await work
    error: BaseException = caught.value
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@pytest.mark.parametrize(("function", "said"), ENDS)
async def test_a_source_that_goes_wrong_ends_the_manager(
    memory_cluster: MemoryCluster, function: Any, said: str
) -> None:
    await put(memory_cluster)
    manager = memory_cluster.manager()
    manager.controller(Greeting, reconcile, watches=[function])
    assert said in str(await failure_of(manager.run()))


@pytest.mark.parametrize(("function", "said"), ENDS)
async def test_a_runnable_that_goes_wrong_ends_the_manager(
    memory_cluster: MemoryCluster, function: Any, said: str
) -> None:
    manager = memory_cluster.manager()
    manager.add(function)
    assert said in str(await failure_of(manager.run()))


@pytest.mark.parametrize(("function", "said"), ENDS)
async def test_a_preparation_that_goes_wrong_ends_the_start(
    memory_cluster: MemoryCluster, function: Any, said: str
) -> None:
    manager = memory_cluster.manager()
    manager.on_start(function)
    assert said in str(await failure_of(manager.run()))


@pytest.mark.parametrize("name", ["worker-0", "sources", "cache"])
async def test_a_task_that_is_cancelled_from_outside_ends_the_manager(
    memory_cluster: MemoryCluster, name: str
) -> None:
    async def source(enqueue: Any, stop: asyncio.Event) -> None:
        await stop.wait()

    await put(memory_cluster)
    manager = memory_cluster.manager()
    manager.controller(Greeting, reconcile, watches=[source])
    running = asyncio.create_task(manager.run())
    await memory_cluster.settle()
    names = {task.get_name(): task for task in asyncio.all_tasks()}
    found = [task for each, task in names.items() if each.endswith(name)]
    assert found, sorted(names)
    found[0].cancel()
    error = await failure_of(running)
    assert isinstance(error, UserCodeError)
    assert "was cancelled from outside" in str(error)


@pytest.mark.parametrize("odd", [says_it_was_cancelled, exits, lambda _: "text", lambda _: None])
async def test_an_index_function_that_goes_wrong_ends_the_manager_and_is_named(
    memory_cluster: MemoryCluster, odd: Any
) -> None:
    await put(memory_cluster, "a")
    manager = memory_cluster.manager()
    manager.controller(Greeting, reconcile, indexes={Greeting: {"by-mood": odd}})
    assert "by-mood" in str(await failure_of(manager.run()))


def refuses(_: Any) -> Any:
    raise SchemaError("what is this?")


@pytest.mark.parametrize("odd", [says_it_was_cancelled, exits, refuses, lambda _: None, lambda _: "text"])
async def test_a_transform_that_goes_wrong_ends_the_manager_and_is_no_lost_connection(
    memory_cluster: MemoryCluster, odd: Any
) -> None:
    metadata = V1ObjectMeta(name="a", namespace="default")
    await memory_cluster.client.create(V1ConfigMap(metadata=metadata))
    options = CacheOptions(kinds={V1ConfigMap: KindOptions(transform=odd)})
    manager = memory_cluster.manager(cache=options)
    manager.controller(V1ConfigMap, reconcile)
    error = await failure_of(manager.run())
    assert isinstance(error, UserCodeError | TypeError)
    assert odd.__name__ in str(error)


async def test_only_requests_can_be_asked_for_and_whoever_asks_otherwise_is_told(
    memory_cluster: MemoryCluster,
) -> None:
    await put(memory_cluster)
    channel = Channel[Any]()
    manager = memory_cluster.manager()
    manager.controller(Greeting, reconcile, watches=[channel])
    async with manager:
        with pytest.raises(TypeError, match=r"asked by Request\(namespace, name\), not by 'default/a'"):
            channel.push("default/a")


@pytest.mark.parametrize("odd", [says_it_was_cancelled, exits, ends_an_iteration])
def test_a_channels_functions_give_the_one_who_pushes_an_ordinary_error(odd: Any) -> None:
    for channel in (Channel[int](odd), Channel[int](predicates=[odd])):
        channel.push(1)
        with pytest.raises(UserCodeError, match=odd.__name__):
            channel.connect(lambda *_, **__: None)


async def asked_for(_: Any) -> list[Request]:
    return []


anything: Any = asked_for


def test_functions_that_run_in_the_event_loop_are_refused_as_coroutine_functions(
    memory_cluster: MemoryCluster,
) -> None:
    with pytest.raises(ConfigError, match="asked_for is a coroutine function, but what maps an object"):
        mapped(anything)
    with pytest.raises(ConfigError, match="asked_for is a coroutine function, but what a Channel calls"):
        Channel(anything)


async def test_a_predicate_that_is_a_coroutine_function_would_let_everything_through(
    memory_cluster: MemoryCluster,
) -> None:
    await put(memory_cluster)
    manager = memory_cluster.manager()
    manager.controller(Greeting, reconcile, predicates=[anything])
    assert "but a predicate is a plain one" in str(await failure_of(manager.run()))


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (exits, "UserCodeError: exits raised SystemExit: 4"),
        (says_it_was_cancelled, "says_it_was_cancelled raised CancelledError"),
        (awaits_what_was_cancelled, "awaits_what_was_cancelled raised CancelledError"),
        (ends_an_iteration, "ends_an_iteration raised StopIteration"),
        (lambda: False, "<lambda> returned a bool; return None if all is well, and raise"),
        (lambda: NO_WORDS["a"], "KeyError: 'a'"),
    ],
)
async def test_a_health_check_that_goes_wrong_is_one_that_fails(check: Any, said: str) -> None:
    route = health_routes("/readyz", {"mine": check, "other": lambda: None})[0]
    answer = await route.handler(HttpRequest("GET", "/readyz"))
    assert answer.status == 500
    assert f"[-]mine failed: {said}" in str(answer.body) or said in str(answer.body)
    assert "[+]other ok" in str(answer.body)


@pytest.mark.parametrize("odd", [{"requeue_after": 5}, {"requeue": 5}, {"priority": "high"}])
def test_a_result_of_the_wrong_type_is_refused_where_it_is_made(odd: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=f"{next(iter(odd))} is "):
        Result(**odd)
