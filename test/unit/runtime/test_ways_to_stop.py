# SPDX-License-Identifier: Apache-2.0
"""How long a Manager waits for its work, and what ends it in spite of that."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from dglop import Settings
from dglop.errors import StopTimeoutError

if TYPE_CHECKING:
    from dglop.testing.memory import MemoryCluster

# The process that is meant by the signals must be another one than that of the tests.
PROGRAM = """
import asyncio, os, signal, sys
from dglop import ClientConfig, Manager, Settings

class Stubborn:
    async def run(self, stop):
        os.kill(os.getpid(), signal.SIGTERM)
        await stop.wait()
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.Event().wait()

manager = Manager(Settings(metrics_bind="0", health_bind="0"), config=ClientConfig(host="http://127.0.0.1:1"))
manager.add(Stubborn())
manager.main([])
"""


class Slow:
    """A Runnable that ends when the test lets it, or is made to."""

    def __init__(self) -> None:
        self.started, self.may_end, self.told = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.end = ""

    async def run(self, stop: asyncio.Event) -> None:
        self.started.set()
        await stop.wait()
        self.told.set()
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.end = "cancelled"
            raise
        self.end = "by itself"


def settings(seconds: float) -> Settings:
    return Settings(metrics_bind="0", health_bind="0", graceful_shutdown_seconds=seconds)


async def test_a_runnable_that_needs_long_may_have_for_ever(memory_cluster: MemoryCluster) -> None:
    slow, manager = Slow(), memory_cluster.manager(settings(float("inf")))
    manager.add(slow)
    await manager.start()
    await slow.started.wait()
    stopping = asyncio.create_task(manager.stop())
    await slow.told.wait()
    assert not stopping.done()
    slow.may_end.set()
    await stopping
    assert slow.end == "by itself"


async def test_without_graceful_time_work_is_cancelled(memory_cluster: MemoryCluster) -> None:
    slow, manager = Slow(), memory_cluster.manager(settings(0))
    manager.add(slow)
    await manager.start()
    await slow.started.wait()
    await manager.stop()
    assert slow.end == "cancelled"


async def test_what_outlives_the_graceful_time_is_cancelled_and_an_error_that_names_it(
    memory_cluster: MemoryCluster,
) -> None:
    slow, manager, stop = Slow(), memory_cluster.manager(settings(0.01)), asyncio.Event()
    manager.add(slow)
    running = asyncio.create_task(manager.run(stop))
    await slow.started.wait()
    stop.set()
    with pytest.raises(
        StopTimeoutError, match=r"cancelled after 0.01 s: Slow; .*--graceful-shutdown-seconds"
    ):
        await running
    assert slow.end == "cancelled"
    assert not manager.is_running


async def test_who_uses_a_manager_hears_of_it_too_but_of_an_earlier_error_first(
    memory_cluster: MemoryCluster,
) -> None:
    async def fail(stop: asyncio.Event) -> None:
        await slow.started.wait()
        raise OSError("the disk is full")

    slow, manager = Slow(), memory_cluster.manager(settings(0.01))
    manager.add(slow)
    await manager.__aenter__()
    await slow.started.wait()
    with pytest.raises(StopTimeoutError, match="Slow"):
        await manager.__aexit__(None, None, None)
    slow, manager = Slow(), memory_cluster.manager(settings(0.01))
    manager.add(slow)
    manager.add(fail)
    with pytest.raises(OSError, match="the disk is full"):
        await manager.run()
    assert slow.end == "cancelled"


async def test_a_function_runs_beside_the_controllers_until_it_is_told_to_stop(
    memory_cluster: MemoryCluster,
) -> None:
    notes: list[str] = []

    async def beside(stop: asyncio.Event) -> None:
        notes.append("began")
        await stop.wait()
        notes.append("ended")

    manager = memory_cluster.manager()
    manager.add(beside, needs_leader=False)
    async with manager:
        await memory_cluster.settle()
        assert notes == ["began"]
    assert notes == ["began", "ended"]


def test_a_second_signal_ends_the_process_at_once() -> None:
    path = os.pathsep.join(sys.path)
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr
    assert "on a second signal" in ended.stderr
    assert signal.SIGTERM.name in ended.stderr


STUCK = """
import asyncio, os, signal, threading
from dglop import ClientConfig, Manager, Settings

async def never_returns(stop):
    os.kill(os.getpid(), signal.SIGTERM)
    await stop.wait()
    while True:
        try:
            await asyncio.to_thread(threading.Event().wait)
        except asyncio.CancelledError:
            continue

settings = Settings(metrics_bind="0", health_bind="0", graceful_shutdown_seconds=0)
manager = Manager(settings, config=ClientConfig(host="http://127.0.0.1:1"))
manager.add(never_returns)
manager.main([])
"""


def test_a_program_ends_though_a_thread_never_does_and_says_which() -> None:
    ended = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "Exited at once, since something does not end" in ended.stderr
    assert "never_returns" in ended.stderr
