# SPDX-License-Identifier: Apache-2.0
"""An HTTP server on a local socket that does what a test says, also what no proper server does."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    import ssl

__all__ = ("Exchange", "Reply", "ScriptedServer", "Seen")


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that the server got; header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_watch(self) -> bool:
        return self.query.get("watch") == "true"

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Exchange:
    """One request and the means to answer it, byte by byte if need be."""

    request: Seen
    writer: asyncio.StreamWriter
    reader: asyncio.StreamReader
    is_open: bool = True

    async def send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer."""
        await self.start(status, {"Content-Length": str(len(body)), **(headers or {})})
        await self.write(body)

    async def start(self, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Status line and headers; without a Content-Length the answer goes on until `end`."""
        lines = [f"HTTP/1.1 {status} Scripted"]
        lines += [f"{key}: {value}" for key, value in (headers or {}).items()]
        if not headers or "Content-Length" not in headers:
            lines.append("Transfer-Encoding: chunked")
        await self.write("\r\n".join((*lines, "\r\n")).encode())

    async def chunk(self, data: bytes) -> None:
        await self.write(b"%x\r\n%s\r\n" % (len(data), data))

    async def end(self) -> None:
        """The proper end of an answer in chunks."""
        await self.write(b"0\r\n\r\n")

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def gone(self) -> None:
        """Until the client has closed its side."""
        with suppress(ConnectionError):
            while await self.reader.read(1024):
                pass
        self.is_open = False

    def cut(self) -> None:
        """Closes the connection in the midst of whatever was being sent."""
        self.writer.close()
        self.is_open = False

    def reset(self) -> None:
        """Ends the connection with an RST, as a crashed peer or a firewall does."""
        sock = self.writer.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()
        self.is_open = False


Reply = Callable[[Exchange], Awaitable[None]]
"""Answers one request."""


@dataclass(slots=True)
class _Route:
    matches: Callable[[Seen], bool]
    replies: list[Reply]


@dataclass(slots=True)
class ScriptedServer:
    """Answers by script, and remembers what it was asked.

    `on` gives replies in order for the requests that match; the last one is used for all that follow.
    What matches nothing gets 404. Guarantee: when left, every connection is closed.
    """

    tls: ssl.SSLContext | None = None
    requests: list[Seen] = field(default_factory=list)
    connections: int = 0
    _routes: list[_Route] = field(default_factory=list)
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def url(self) -> str:
        """The base URL, on loopback."""
        if self._server is None:
            raise RuntimeError("the scripted server does not run; use it with `async with`")
        port = self._server.sockets[0].getsockname()[1]
        return f"https://localhost:{port}" if self.tls else f"http://127.0.0.1:{port}"

    def on(self, matches: Callable[[Seen], bool], *replies: Reply) -> None:
        self._routes.append(_Route(matches, list(replies)))

    def watches(self, *replies: Reply) -> None:
        """Replies for watches of anything."""
        self.on(lambda seen: seen.is_watch, *replies)

    def lists(self, *replies: Reply) -> None:
        """Replies for other GETs."""
        self.on(lambda seen: seen.method == "GET" and not seen.is_watch, *replies)

    async def until(self, count: int, matches: Callable[[Seen], bool] = lambda _: True) -> Sequence[Seen]:
        """The requests that match, once there are `count`."""
        async with self._changed:
            await self._changed.wait_for(lambda: sum(map(matches, self.requests)) >= count)
        return [each for each in self.requests if matches(each)]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self.tls)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (seen := await _read(reader)) is not None:
                exchange = Exchange(seen, writer, reader)
                reply = self._reply(seen)
                async with self._changed:
                    self.requests.append(seen)
                    self._changed.notify_all()
                await reply(exchange)
                if not exchange.is_open:
                    return
        except ConnectionError:
            return
        except asyncio.CancelledError:
            writer.transport.abort()  # a client that is still there need not agree to the end
            raise
        finally:
            writer.close()

    def _reply(self, seen: Seen) -> Reply:
        for route in self._routes:
            if route.matches(seen):
                return route.replies.pop(0) if len(route.replies) > 1 else route.replies[0]
        return _not_found


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *rest = head.rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {key.strip().lower(): value.strip() for key, _, value in (line.partition(":") for line in rest)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    return Seen(method, unquote(parts.path), dict(parse_qsl(parts.query)), headers, body)


async def _not_found(exchange: Exchange) -> None:
    status = {"kind": "Status", "apiVersion": "v1", "code": 404, "reason": "NotFound", "message": "no script"}
    await exchange.send(404, json.dumps(status).encode(), {"Content-Type": "application/json"})
