# SPDX-License-Identifier: Apache-2.0
"""One round of everything that happens to watches in a year."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hack.soak.proxy import Weather

if TYPE_CHECKING:
    from collections.abc import Callable

    from hack.soak.proxy import ChaosProxy
    from hack.soak.server import SoakServer

__all__ = ("Chaos",)

_BETWEEN_SECONDS = 3.0
_ENDS = 3
_AWAY_SECONDS = 3.0
_SILENT_SECONDS = 4.0


class Chaos:
    """Breaks network and API server, one thing after the other; `now` says which."""

    def __init__(self, server: SoakServer, proxy: ChaosProxy, say: Callable[[str], None]) -> None:
        self.doing = ""
        self._server = server
        self._proxy = proxy
        self._say = say

    async def round(self) -> None:
        """About half a minute, and the time that the API server takes to start."""
        # First, since this silence ends last: after the server's limit and half a minute more.
        self._begin("connections fall silent")
        self._proxy.half_open_all()
        await asyncio.sleep(_SILENT_SECONDS)
        for _ in range(_ENDS):
            await self._end_all()
        self._begin("the token is rotated")
        await self._server.rotate()
        await self._end_all()
        await self._storm()
        await self._vanish()
        self._begin("the API server is killed and started again")
        await self._server.kill()
        self.doing = ""
        await asyncio.sleep(_BETWEEN_SECONDS)

    async def _end_all(self) -> None:
        self._begin("all connections are reset")
        self._proxy.end_all()
        await asyncio.sleep(_BETWEEN_SECONDS)

    async def _storm(self) -> None:
        """The history that the watches need is gone when they come back."""
        self._begin("no connection is taken, and history is forgotten")
        self._proxy.weather = Weather.REFUSING
        self._proxy.end_all()
        await asyncio.sleep(_AWAY_SECONDS)
        await self._server.compact()
        self._proxy.weather = Weather.FAIR
        await asyncio.sleep(_BETWEEN_SECONDS)

    async def _vanish(self) -> None:
        self._begin("new connections get no answer")
        self._proxy.weather = Weather.BLACK_HOLE
        self._proxy.end_all()
        await asyncio.sleep(_SILENT_SECONDS)
        self._proxy.weather = Weather.FAIR
        self._proxy.end_all()

    def _begin(self, what: str) -> None:
        self.doing = what
        self._say(what)
