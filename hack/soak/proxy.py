# SPDX-License-Identifier: Apache-2.0
"""A network between a client and the API server that breaks in the ways in which networks break."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from enum import StrEnum
from typing import Self

__all__ = ("ChaosProxy", "Weather")

_CHUNK = 65536


class Weather(StrEnum):
    """What becomes of a new connection."""

    FAIR = "fair"
    """It is carried to the API server."""
    REFUSING = "refusing"
    """It is reset."""
    BLACK_HOLE = "black hole"
    """It is taken, and nothing ever comes back."""


class _Tunnel:
    """One connection: bytes go both ways until it ends, or nowhere once it is half-open."""

    def __init__(self, client: asyncio.StreamWriter) -> None:
        self.client = client
        self.server: asyncio.StreamWriter | None = None
        self.is_half_open = False

    def reset(self) -> None:
        """End both sides with an RST."""
        for writer in (self.client, self.server):
            sock = writer.get_extra_info("socket") if writer is not None else None
            if writer is not None and sock is not None:
                with suppress(OSError):
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter | None) -> None:
        """Bytes from one side to the other; a half-open connection loses them, and its end too."""
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                if writer is None or self.is_half_open:
                    continue
                writer.write(data)
                await writer.drain()
        if self.is_half_open and writer is self.client:
            return  # the server is gone, and nobody tells the client
        self.reset()


class ChaosProxy:
    """
    Listens on loopback and carries connections to a port there, bytes as they are: TLS is end to end.

    Guarantee: when left, every connection is closed.
    """

    def __init__(self, port: int) -> None:
        self.weather = Weather.FAIR
        self.ended = 0
        """Connections that were broken off."""
        self.half_opened = 0
        """Connections that fell silent without an end."""
        self._upstream = port
        self._server: asyncio.Server | None = None
        self._tunnels: set[_Tunnel] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Where clients connect to. Raises RuntimeError before it listens."""
        if self._server is None:
            raise RuntimeError("the proxy does not listen; use it with `async with`")
        return f"https://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def silent(self) -> int:
        """Half-open connections that the client still holds."""
        return sum(tunnel.is_half_open for tunnel in self._tunnels)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for tunnel in self._tunnels:
            tunnel.reset()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def end_all(self) -> None:
        """Reset all connections that still carry something: of the others nobody hears any more."""
        alive = [tunnel for tunnel in self._tunnels if not tunnel.is_half_open]
        self.ended += len(alive)
        for tunnel in alive:
            tunnel.reset()

    def half_open_all(self) -> None:
        """Let all connections that there are fall silent, both ways, without an end."""
        fresh = [tunnel for tunnel in self._tunnels if not tunnel.is_half_open]
        self.half_opened += len(fresh)
        for tunnel in fresh:
            tunnel.is_half_open = True

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer), name="proxy")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tunnel = _Tunnel(writer)
        self._tunnels.add(tunnel)
        try:
            if self.weather is Weather.BLACK_HOLE:
                await tunnel.carry(reader, None)
            elif self.weather is Weather.FAIR:
                answers, tunnel.server = await asyncio.open_connection("127.0.0.1", self._upstream)
                await asyncio.gather(tunnel.carry(reader, tunnel.server), tunnel.carry(answers, writer))
        except OSError:
            pass  # the API server does not listen: the client is told by the reset
        finally:
            tunnel.reset()
            self._tunnels.discard(tunnel)
