# SPDX-License-Identifier: Apache-2.0
"""The runtime's own transport on an in-memory server: all of its code runs, only sockets are left out."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NoReturn

import aiohttp
from multidict import CIMultiDict

from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.client.endpoint import Endpoint, Loaded
from dglop.runtime.client.link import Link
from dglop.runtime.client.transport import Transport
from dglop.runtime.log import make_log
from dglop.testing.memory.faults import Effect
from dglop.testing.memory.request import Answer, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from yarl import URL

    from dglop.runtime.client.metrics import ClientMetrics
    from dglop.runtime.clock import Clock
    from dglop.runtime.log import Log
    from dglop.testing.memory.server import MemoryServer
    from dglop.testing.memory.watching import Watcher

__all__ = ("MemoryTransport", "connect")

HOST = "http://memory.invalid"
_EMPTY: tuple[tuple[int, int, int], ...] = ()


class MemoryTransport(Transport):
    """A Transport whose connections end in a MemoryServer in this process."""

    def __init__(
        self,
        server: MemoryServer,
        *,
        namespace: str = "default",
        user_agent: str = "",
        metrics: ClientMetrics | None = None,
        log: Log = None,
        on_warning: Callable[[str], object] | None = None,
    ) -> None:
        agent = user_agent or f"dglop/{version('dglop')}"
        super().__init__(
            ClientConfig(host=HOST), agent, server.clock, metrics, log or make_log(), on_warning=on_warning
        )
        self._server = server
        self._namespace = namespace

    async def open(self) -> None:
        self._link = _MemoryLink(self._server, self._namespace)


async def connect(
    server: MemoryServer,
    *,
    namespace: str = "default",
    user_agent: str = "",
    metrics: ClientMetrics | None = None,
    log: Log = None,
    on_warning: Callable[[str], object] | None = None,
) -> Client:
    """A client of *server* with its clock; *namespace* is meant where none is said."""
    transport = MemoryTransport(
        server, namespace=namespace, user_agent=user_agent, metrics=metrics, log=log, on_warning=on_warning
    )
    await transport.open()
    return Client(transport, server.clock, metrics)


class _MemoryLink(Link):
    """Connections to an in-memory server."""

    def __init__(self, server: MemoryServer, namespace: str) -> None:  # no call of super: it makes pools
        self.loaded = Loaded(Endpoint(HOST), namespace)
        self.stamp = _EMPTY
        self.netloc = HOST.rpartition("/")[2]
        self.arguments: dict[str, Any] = {}
        self._users = 0
        self._retired = False
        self._session = _Session(server)

    def session(self, *, watch: bool) -> Any:
        del watch
        return self._session

    async def close(self) -> None:
        self._session.close()


class _Session:
    """What the transport needs of an aiohttp session."""

    def __init__(self, server: MemoryServer) -> None:
        self._server = server
        self._watchers: list[Watcher] = []
        self._is_closed = False

    async def request(
        self,
        method: str,
        url: URL,
        *,
        data: bytes | None = None,
        headers: Sequence[tuple[str, str]],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - aiohttp's own
        **_: Any,
    ) -> _Response:
        await asyncio.sleep(0)  # as with a socket, others have their turn
        if self._is_closed:
            raise aiohttp.ClientConnectionError("the session is closed")
        lowered = {name.lower(): value for name, value in headers}
        request = Request(method, url.path, dict(url.query), lowered, data or b"")
        answer = await self._answer(request, timeout)
        if answer.watch is not None:
            self._watchers = [each for each in self._watchers if not each.is_ended]
            self._watchers.append(answer.watch)
        return _Response(answer, timeout)

    def close(self) -> None:
        self._is_closed = True
        for watcher in self._watchers:
            watcher.end()

    async def _answer(self, request: Request, timeout: aiohttp.ClientTimeout) -> Answer:  # noqa: ASYNC109
        server = self._server
        fault = server.faults.strike(request)
        if fault is None:
            return server.handle(request)
        clock, limit = server.clock, timeout.total
        if fault.effect is Effect.RESET:
            raise aiohttp.ServerDisconnectedError
        if fault.effect is Effect.LOSE:
            server.handle(request)
            raise aiohttp.ServerDisconnectedError
        if fault.effect is Effect.HANG or (limit is not None and fault.seconds > limit):
            await _hang(clock, limit)
        if fault.effect is Effect.DELAY:
            await clock.sleep(fault.seconds)
            return server.handle(request)
        error = fault.refusal()
        after = {"Retry-After": f"{error.retry_after:g}"} if error.retry_after else {}
        return Answer(error.code, error.body(), {"Content-Type": "application/json", **after})


async def _hang(clock: Clock, seconds: float | None) -> NoReturn:
    if seconds is None:
        await asyncio.Event().wait()
    await clock.sleep(seconds or 0.0)
    raise TimeoutError


class _Response:
    """What the transport needs of an aiohttp response; it is its own content."""

    connection = None

    def __init__(self, answer: Answer, timeout: aiohttp.ClientTimeout) -> None:
        self.status = answer.status
        self.headers = CIMultiDict(answer.headers)
        self.content_length = None if answer.watch else len(answer.body)
        self._body = answer.body
        self.total_bytes = 0
        self._watch = answer.watch
        self._idle = timeout.sock_read

    @property
    def content(self) -> _Response:
        return self

    async def read(self, size: int = -1) -> bytes:
        taken = self._body if size < 0 else self._body[:size]
        self._body = self._body[len(taken) :]
        self.total_bytes += len(taken)
        return taken

    async def readany(self) -> bytes:
        """The next lines of a watch, b"" at its end."""
        if self._watch is None:
            return await self.read()
        lines = await self._watch.read(self._idle)
        self.total_bytes += len(lines)
        return lines

    def close(self) -> None:
        if self._watch is not None:
            self._watch.end()
