# SPDX-License-Identifier: Apache-2.0
"""MemoryCluster: an API server in memory and a clock that the test moves, for a Manager under test."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar

from dglop.runtime.client import ClientConfig
from dglop.runtime.crdinstall import install_crds
from dglop.runtime.manager import Manager
from dglop.runtime.settings import Settings
from dglop.testing.clock import ManualClock
from dglop.testing.memory.server import MemoryServer
from dglop.testing.memory.transport import HOST, connect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dglop.runtime.cache import CacheOptions
    from dglop.runtime.client import Client

__all__ = ("MemoryCluster",)

T = TypeVar("T")

QUIET_ROUNDS = 50  # the longest way from one request or event to the next takes about fifteen
_THREAD_SECONDS = 10.0
_PATIENCE_SECONDS = 3600.0


class MemoryCluster:
    """
    An in-memory API server, a client of it and a clock that stands still, for `async with`.

    Nothing passes by itself: `settle` lets everything happen that can without time, `advance` lets time
    pass. A Manager made by `manager` runs on both; only leader election, which has a loop and a client of
    its own, needs a server with a socket. There are no other controllers: nothing collects garbage, no pod
    runs, and a deleted namespace stays Terminating, as with envtest.
    """

    def __init__(
        self,
        *,
        namespaces: Iterable[str] = ("default",),
        start: datetime = datetime(2026, 1, 1, tzinfo=UTC),
    ) -> None:
        self.clock: ManualClock = ManualClock(start)
        self.server: MemoryServer = MemoryServer(self.clock, namespaces=namespaces)
        self._client: Client | None = None
        self._threads = _Threads()

    async def __aenter__(self) -> Self:
        asyncio.get_running_loop().set_default_executor(self._threads)
        self._client = await connect(self.server)
        return self

    async def __aexit__(self, *_: object) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @property
    def client(self) -> Client:
        """The test's own client. Raises RuntimeError outside `async with`."""
        if self._client is None:
            raise RuntimeError("the cluster is closed; use it inside `async with MemoryCluster()`")
        return self._client

    async def install(self, *kinds: type) -> None:
        """Install the CRDs of CustomResource classes."""
        await install_crds(self.client, kinds, self.clock)

    def manager(
        self,
        settings: Settings | None = None,
        *,
        name: str = "test",
        cache: CacheOptions | None = None,
    ) -> Manager:
        """A Manager on this cluster that is not started yet; by default it opens no port."""
        used = settings or Settings(metrics_bind="0", health_bind="0")
        # The client knows its own clock; the configuration only says what `namespace` means.
        config = ClientConfig(host=HOST)
        return Manager(used, name=name, client=self.client, config=config, cache=cache, clock=self.clock)

    async def settle(self) -> None:
        """
        Return when nothing can happen any more without time passing.

        Plain functions that run in threads are waited for. Raises TimeoutError for one that does not end:
        it must not wait for the clock.
        """
        quiet, seen = 0, self._marks()
        while quiet < QUIET_ROUNDS:
            await asyncio.sleep(0)
            marks = self._marks()
            quiet, seen = quiet + 1 if marks == seen else 0, marks
            if quiet == QUIET_ROUNDS and await self._threads.join_one(_THREAD_SECONDS):
                quiet = 0

    async def advance(self, seconds: float) -> None:
        """Let *seconds* pass: at each moment at which something is due, it happens and all settles."""
        await self.settle()
        end = self.clock.monotonic() + seconds
        while (due := self.clock.next_due()) is not None and due <= end:
            self.clock.move(max(due - self.clock.monotonic(), 0.0))
            await self.settle()
        self.clock.move(max(end - self.clock.monotonic(), 0.0))
        await self.settle()

    async def until(self, answer: Callable[[], T], *, seconds: float = _PATIENCE_SECONDS) -> T:
        """
        The first true answer, for which as much time passes as it takes.

        Raises TimeoutError after *seconds* of the clock.
        """
        await self.settle()
        end = self.clock.monotonic() + seconds
        while not (found := answer()):
            due = self.clock.next_due()
            if due is None or due > end:
                raise TimeoutError(f"it does not become true within {seconds:g} s of the clock")
            await self.advance(max(due - self.clock.monotonic(), 0.0))
        return found

    def _marks(self) -> tuple[int, ...]:
        return (self.server.requests, self.server.store.version, self.clock.count, self._threads.started)


class _Threads(ThreadPoolExecutor):
    """The loop's threads, of which it is known whether they are at work."""

    def __init__(self) -> None:
        super().__init__(thread_name_prefix="memory-cluster")
        self.started = 0
        self._working: set[Future[Any]] = set()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        self.started += 1
        future = super().submit(fn, *args, **kwargs)
        self._working.add(future)
        future.add_done_callback(self._working.discard)
        return future

    async def join_one(self, seconds: float) -> bool:
        """Wait until one of those at work ends; False if none is."""
        working = [asyncio.wrap_future(each) for each in list(self._working) if not each.done()]
        if not working:
            return False
        ended, _ = await asyncio.wait(working, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not ended:
            raise TimeoutError(f"a function in a thread does not end within {seconds:g} s")
        return True
