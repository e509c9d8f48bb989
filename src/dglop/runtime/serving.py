# SPDX-License-Identifier: Apache-2.0
"""A small HTTP server whose handlers are plain coroutines over plain values."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from aiohttp import web

from dglop.errors import ConfigError
from dglop.runtime.bind import parse_bind
from dglop.runtime.usercode import contained, failure_of

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from dglop.runtime.log import Log

__all__ = (
    "Certificates",
    "HTTPServer",
    "HttpRequest",
    "HttpResponse",
    "OnFailure",
    "Route",
    "Server",
    "serve",
)

IDLE_SECONDS = 75.0
HANDLER_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """
    One request.

    Attributes
    ----------
        params: what the braces of the route's path matched.
        query: by name; of a name given several times, the first.
        repeated: every value of each name of the query.
        headers: by lower-case name.
        peer: the client's address, empty if unknown.
    """

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    repeated: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    peer: str = ""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One answer."""

    status: int = 200
    body: bytes | str = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Route:
    """
    Which requests go to which handler.

    *path* may hold `{names}`, each matching one segment, and `{name:.*}` matching the rest.
    """

    method: str
    path: str
    handler: Callable[[HttpRequest], Awaitable[HttpResponse]]
    max_body: int = 65536


class Certificates(Protocol):
    """Where a server's TLS context comes from."""

    context: ssl.SSLContext

    async def run(self, stop: asyncio.Event) -> None:
        """Keep the context current until *stop* is set."""
        ...


OnFailure: TypeAlias = "Callable[[BaseException], object]"
"""Hears once of what went wrong in the background."""


class Server(Protocol):
    """Something that listens from its start to its stop."""

    @property
    def port(self) -> int | None: ...
    async def start(self, on_failure: OnFailure | None = None) -> None: ...
    async def stop(self) -> None: ...


class HTTPServer:
    """
    Serves routes until stopped; also a Runnable.

    Guarantees: a body over a route's limit is answered 413 without reading on; a handler that takes longer
    than half a minute is answered for with 503, one that raises with 500 (and logged, by aiohttp); at most
    *max_concurrent* requests are handled at once, the others wait. With *tls* it speaks HTTPS only, and
    looks for new certificates while it serves. At its end it takes no connection any more, and requests in
    progress get *drain_seconds*.
    """

    def __init__(
        self,
        bind: str,
        routes: Sequence[Route],
        *,
        name: str,
        log: Log,
        max_concurrent: int = 64,
        tls: Certificates | None = None,
        drain_seconds: float = 1.0,
    ) -> None:
        self._address = parse_bind(bind)
        self._bind = bind
        self._routes = routes
        self._name = name
        self._log = log
        self._slots = asyncio.Semaphore(max_concurrent)
        self._tls = tls
        self._drain_seconds = drain_seconds
        self._ended = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._on_failure: OnFailure | None = None
        self._runner: web.AppRunner | None = None
        self.port: int | None = None
        """The port that is listened on, once started."""

    async def start(self, on_failure: OnFailure | None = None) -> None:
        """
        Listen. Raises ConfigError if the address cannot be used.

        *on_failure* hears what made it stop looking for new certificates.
        """
        self._on_failure = on_failure
        if self._address is None:
            return
        app = web.Application(client_max_size=max((r.max_body for r in self._routes), default=0) + 1)
        for route in self._routes:
            app.router.add_route(route.method, route.path, self._adapt(route))
        self._runner = web.AppRunner(
            app,
            access_log=None,
            handle_signals=False,
            keepalive_timeout=IDLE_SECONDS,
            shutdown_timeout=self._drain_seconds,
        )
        await self._runner.setup()
        host, port = self._address
        try:
            context = self._tls.context if self._tls else None
            if host is None and port == 0:
                site: web.BaseSite = web.SockSite(self._runner, _free_everywhere(), ssl_context=context)
            else:
                site = web.TCPSite(self._runner, host, port, ssl_context=context)
            await site.start()
        except OSError as error:
            await self.stop()
            raise ConfigError(
                f"cannot listen on {self._bind} for {self._name}: {error.strerror or error}; "
                f"choose another address, or 0 for none"
            ) from error
        self.port = int(self._runner.addresses[0][1])
        if self._tls is not None:
            self._watch(self._tls)
        self._log.info("Started server", server=self._name, port=self.port, tls=self._tls is not None)

    async def stop(self) -> None:
        """Close the socket, and wait a while for requests in progress."""
        runner, self._runner, self.port = self._runner, None, None
        self._ended.set()
        if runner is not None:
            open_ = [each.transport for each in (runner.server.connections if runner.server else ())]
            await runner.cleanup()
            # Every answer is on its way by now. Over TLS, asyncio would wait half a minute for each client to
            # say goodbye, and leave the socket open until then.
            for transport in open_ if self._tls else ():
                if transport is not None:
                    transport.abort()
        if self._watching is not None:
            await asyncio.wait([self._watching])

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until *stop* is set."""
        await serve(self, stop)

    def _watch(self, tls: Certificates) -> None:
        self._watching = asyncio.create_task(tls.run(self._ended), name=f"{self._name}/certificates")
        self._watching.add_done_callback(self._on_watching_done)

    def _on_watching_done(self, task: asyncio.Task[None]) -> None:
        error = failure_of(task, is_ours=self._ended.is_set())
        if error is not None and self._on_failure is not None:
            self._on_failure(error)

    def _adapt(self, route: Route) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            async with self._slots:
                answer = await self._answer(route, request)
            body = answer.body.encode() if isinstance(answer.body, str) else answer.body
            headers = {"Content-Type": answer.content_type, **answer.headers}
            return web.Response(status=answer.status, body=body, headers=headers)

        return handle

    async def _answer(self, route: Route, request: web.Request) -> HttpResponse:
        if (request.content_length or 0) > route.max_body:
            return HttpResponse(413, f"the body is larger than {route.max_body} bytes\n")
        try:
            async with asyncio.timeout(HANDLER_SECONDS):
                body = bytearray()
                while request.can_read_body and len(body) <= route.max_body and not request.content.at_eof():
                    body += await request.content.read(route.max_body + 1 - len(body))
                if len(body) > route.max_body:
                    return HttpResponse(413, f"the body is larger than {route.max_body} bytes\n")
                with contained(route.handler):
                    return await route.handler(_plain(request, bytes(body)))
        except TimeoutError:
            return HttpResponse(503, "this took too long\n")


async def serve(server: Server, stop: asyncio.Event) -> None:
    """Run *server* until *stop* is set. Raises what it fails with meanwhile."""
    over, failures = asyncio.Event(), list[BaseException]()

    def fail(error: BaseException) -> None:
        failures.append(error)
        over.set()

    await server.start(fail)
    waits = [asyncio.ensure_future(each.wait()) for each in (stop, over)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await server.stop()
    if failures:
        raise failures[0]


def _free_everywhere() -> socket.socket:
    """A socket on one free port of all addresses; asyncio would take one port for IPv4, another for IPv6."""
    if socket.has_dualstack_ipv6():
        with suppress(OSError):  # IPv6 may be known and yet turned off
            return socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", 0))


def _plain(request: web.Request, body: bytes) -> HttpRequest:
    return HttpRequest(
        method=request.method,
        path=request.path,
        params=dict(request.match_info),
        query={name: request.query[name] for name in request.query},
        repeated={name: request.query.getall(name) for name in request.query},
        headers={name.lower(): value for name, value in request.headers.items()},
        body=body,
        peer=request.remote or "",
    )
