# SPDX-License-Identifier: Apache-2.0
"""TestCluster: what a test of an operator can do, whether its API server is in memory or a real one."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from dglop.errors import ConfigError
from dglop.runtime.api import Resource
from dglop.runtime.crdinstall import install_crds
from dglop.runtime.manager import Manager
from dglop.runtime.settings import Settings
from dglop.testing.loosecrd import loose_crd
from dglop.testing.namespaces import remove_namespace
from dglop.testing.podstatus import POD, PodPhase, pod_status
from dglop.testing.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dglop.runtime.cache import CacheOptions
    from dglop.runtime.client import Client, ClientConfig
    from dglop.runtime.client.transport import Call
    from dglop.runtime.client.view import Send
    from dglop.testing.clock import MovableClock

__all__ = ("FakeCluster", "TestCluster")

T = TypeVar("T")

QUIET_ROUNDS = 50  # the longest way from one request or event to the next takes about fifteen
_THREAD_SECONDS = 10.0
_PATIENCE_SECONDS = 3600.0


class TestCluster(ABC):
    """
    An API server, a client of it and a clock that the test moves, for `async with`.

    `MemoryCluster` and `EnvtestCluster` are the two there are. `settle` returns when everything has happened
    that can without waiting, `advance` lets time pass. There are no other controllers: nothing collects
    garbage, no pod runs, and a deleted namespace stays Terminating. Leader election, which has a loop and a
    client of its own, is refused by `manager`.
    """

    __test__: ClassVar[bool] = False
    namespace: str = "default"
    """The namespace that is meant where a test names none."""
    clock: MovableClock

    def __init__(self) -> None:
        self._opened: Client | None = None
        self._shown: Client | None = None
        self._threads = Threads()
        self._managers: list[Manager] = []
        self._later: list[Manager] = []
        self._running = AsyncExitStack()
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        asyncio.get_running_loop().set_default_executor(self._threads)
        self._opened = await self._open()
        self._shown = self._view(self._opened).intercepted(self._start_first)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._later.clear()
        opened = self._opened
        try:
            await self._running.aclose()
        finally:
            self._opened = self._shown = None
            if opened is not None:
                await opened.close()

    @property
    def client(self) -> Client:
        """The test's own client. Raises RuntimeError outside `async with`."""
        return self._shown or self._connected

    @property
    @abstractmethod
    def events(self) -> list[str]:
        """What was told so far, oldest first: "Normal Published Greeting/hello: it can be read now"."""

    async def install(self, *kinds: type | Resource) -> None:
        """
        Install the CRDs of CustomResource classes. A Manager of `manager` does so by itself.

        A Resource is somebody else's kind: its CRD takes any spec and status, by a status subresource.
        """
        own = [each for each in kinds if not isinstance(each, Resource)]
        foreign = [loose_crd(each) for each in kinds if isinstance(each, Resource)]
        await install_crds(self._connected, own, self.clock, manifests=foreign)

    def manager(
        self,
        settings: Settings | None = None,
        *,
        name: str = "test",
        cache: CacheOptions | None = None,
    ) -> Manager:
        """
        A Manager on this cluster that is not started yet, for `async with`.

        By default it opens no port and installs the CRDs of its kinds. Raises ConfigError for settings with
        leader election.
        """
        used = settings or Settings(metrics_bind="0", health_bind="0", install_crds=True)
        if used.leader_elect:
            raise ConfigError(
                "leader_elect: a test cluster's clock and client are of one loop, and an "
                "elector has its own; test it with Envtest and a Manager with its kubeconfig"
            )
        client = self._connected.with_field_manager(name)
        made = Manager(
            self._limited(used),
            name=name,
            client=client,
            config=self._config(),
            cache=cache,
            clock=self.clock,
        )
        self._managers.append(made)
        return made

    def run_later(self, manager: Manager) -> None:
        """Have it started by the next call of `client`, `settle` or `advance`, and stopped with the cluster.

        What has to be said to a Manager before it starts can be said until then.
        """
        self._later.append(manager)

    async def settle(self) -> None:
        """
        Return when nothing can happen any more without time passing.

        Plain functions that run in threads are waited for. Raises TimeoutError for one that does not end:
        it must not wait for the clock.
        """
        await self._start()
        await self._settle()

    async def advance(self, time: timedelta | float) -> None:
        """Let so much time pass, in seconds if a number: whatever falls due happens, and all settles."""
        seconds = time.total_seconds() if isinstance(time, timedelta) else time
        await self.settle()
        end = self.clock.monotonic() + seconds
        while (due := self.clock.next_due()) is not None and due <= end:
            self.clock.move(max(due - self.clock.monotonic(), 0.0))
            await self._settle()
        self.clock.move(max(end - self.clock.monotonic(), 0.0))
        await self._settle()

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

    async def set_pod_phase(
        self,
        phase: PodPhase,
        *,
        labels: Mapping[str, str] | str = "",
        name: str = "",
        exit_code: int | None = None,
    ) -> list[str]:
        """
        Be the kubelet: the pods that match are in this phase from now on, with all their containers.

        Gives their names. *exit_code* is 0 for Succeeded and 1 for Failed unless it says otherwise. Raises
        LookupError if no pod matches.
        """
        fields = f"metadata.name={name}" if name else ""
        client = self.client
        pods = await client.list(POD, self.namespace, labels=labels, fields=fields)
        if not pods:
            there = [each["metadata"]["name"] for each in await client.list(POD, self.namespace)]
            raise LookupError(f"no pod matches {labels or name}; there are {', '.join(there) or 'none'}")
        for pod in pods:
            status = pod_status(pod, phase, self.clock.now(), exit_code=exit_code)
            metadata = pod["metadata"]
            await client.patch(
                POD, metadata["name"], metadata["namespace"], {"status": status}, subresource="status"
            )
        return [each["metadata"]["name"] for each in pods]

    async def end_namespace(self, name: str) -> None:
        """
        Be the namespace controller: the namespace, deleted or not, goes, and before it all that is in it.

        Raises NotFoundError, and RuntimeError for what a finalizer keeps though all has settled.
        """
        await self._start()
        await remove_namespace(self._connected, name, self._settle)
        await self._settle()

    @abstractmethod
    async def _open(self) -> Client:
        """A client that everything goes through."""

    @abstractmethod
    def _config(self) -> ClientConfig:
        """What leads to the API server."""

    @abstractmethod
    def _marks(self) -> tuple[int, ...]:
        """Numbers that change when something goes on."""

    def _view(self, client: Client) -> Client:
        """The client as the test has it."""
        return client

    def _limited(self, settings: Settings) -> Settings:
        """The settings of a Manager on this cluster."""
        return settings

    async def _is_caught_up(self) -> bool:
        """Whether nothing is under way from the API server."""
        return True

    @property
    def _connected(self) -> Client:
        if self._opened is None:
            kind = type(self).__name__
            raise RuntimeError(f"the cluster is closed; use it inside `async with {kind}(...)`")
        return self._opened

    async def _start_first(self, call: Call, send: Send) -> bytes:
        await self._start()
        return await send(call)

    async def _start(self) -> None:
        async with self._starting:
            while self._later:
                await self._running.enter_async_context(self._later.pop(0))

    async def _settle(self) -> None:
        while True:
            await self._quiet()
            if await self._is_caught_up():
                return

    async def _quiet(self) -> None:
        """Until many rounds of the loop have changed nothing."""
        quiet, seen = 0, self._all_marks()
        while quiet < QUIET_ROUNDS:
            await self._turn()
            marks = self._all_marks()
            quiet, seen = quiet + 1 if marks == seen else 0, marks
            if quiet == QUIET_ROUNDS and await self._threads.join_one(_THREAD_SECONDS):
                quiet = 0

    async def _turn(self) -> None:
        """Let others have their turn."""
        await asyncio.sleep(0)

    def _all_marks(self) -> tuple[Any, ...]:
        return (*self._marks(), self.clock.count, self._threads.started)


FakeCluster = TestCluster
"""The same by a name that no test runner takes for a class of tests."""
