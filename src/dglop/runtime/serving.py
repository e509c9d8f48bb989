# SPDX-License-Identifier: Apache-2.0
"""A small HTTP server whose handlers are plain coroutines over plain values."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiohttp import web

from dglop.errors import ConfigError
from dglop.runtime.bind import parse_bind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from dglop.runtime.log import Log

__all__ = ("HTTPServer", "HttpRequest", "HttpResponse", "Route")

IDLE_SECONDS = 75.0
HANDLER_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """
    One request.

    Attributes
    ----------
        params: what the braces of the route's path matched.
        headers: by lower-case name.
        peer: the client's address, empty if unknown.
    """

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
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


class HTTPServer:
    """
    Serves routes until stopped; also a Runnable.

    Guarantees: a body over a route's limit is answered 413 without reading on; a handler that takes longer
    than half a minute is answered for with 503, one that raises with 500 (and logged, by aiohttp); at most
    *max_concurrent* requests are handled at once, the others wait.
    """

    def __init__(
        self, bind: str, routes: Sequence[Route], *, name: str, log: Log, max_concurrent: int = 64
    ) -> None:
        self._address = parse_bind(bind)
        self._bind = bind
        self._routes = routes
        self._name = name
        self._log = log
        self._slots = asyncio.Semaphore(max_concurrent)
        self._runner: web.AppRunner | None = None
        self.port: int | None = None
        """The port that is listened on, once started."""

    async def start(self) -> None:
        """Listen. Raises ConfigError if the address cannot be used."""
        if self._address is None:
            return
        app = web.Application(client_max_size=max((r.max_body for r in self._routes), default=0) + 1)
        for route in self._routes:
            app.router.add_route(route.method, route.path, self._adapt(route))
        self._runner = web.AppRunner(
            app, access_log=None, handle_signals=False, keepalive_timeout=IDLE_SECONDS, shutdown_timeout=1.0
        )
        await self._runner.setup()
        host, port = self._address
        try:
            await web.TCPSite(self._runner, host, port).start()
        except OSError as error:
            await self.stop()
            raise ConfigError(
                f"cannot listen on {self._bind} for {self._name}: {error.strerror or error}; "
                f"choose another address, or 0 for none"
            ) from error
        self.port = int(self._runner.addresses[0][1])
        self._log.info("Started server", server=self._name, port=self.port)

    async def stop(self) -> None:
        """Close the socket; requests in progress get a second to end."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until *stop* is set."""
        await self.start()
        try:
            await stop.wait()
        finally:
            await self.stop()

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
                body = await request.content.read(route.max_body + 1) if request.can_read_body else b""
                while len(body) <= route.max_body and not request.content.at_eof():
                    body += await request.content.read(route.max_body + 1 - len(body))
                if len(body) > route.max_body:
                    return HttpResponse(413, f"the body is larger than {route.max_body} bytes\n")
                return await route.handler(_plain(request, body))
        except TimeoutError:
            return HttpResponse(503, "this took too long\n")


def _plain(request: web.Request, body: bytes) -> HttpRequest:
    return HttpRequest(
        method=request.method,
        path=request.path,
        params=dict(request.match_info),
        query=dict(request.query),
        headers={name.lower(): value for name, value in request.headers.items()},
        body=body,
        peer=request.remote or "",
    )
