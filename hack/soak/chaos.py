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
_LOOKS, _LOOK_SECONDS = 60, 0.25


class Chaos:
    """Breaks network and API server, one thing after the other; `say` is told which."""

    def __init__(
        self,
        server: SoakServer,
        proxy: ChaosProxy,
        say: Callable[[str], None],
        expired: Callable[[], int],
    ) -> None:
        self._server = server
        self._proxy = proxy
        self._say = say
        self._expired = expired
        """How many watches were answered 410 so far."""

    async def round(self, *, ends_silent: bool) -> None:
        """
        About half a minute, and the time that the API server takes to start.

        With *ends_silent* all connections are half-open at the end, and stay so until the client gives up.
        """
        for _ in range(_ENDS):
            await self._end_all()
        self._say("the token is rotated")
        await self._server.rotate()
        await self._end_all()
        await self._storm()
        await self._vanish()
        self._say("the API server is killed and started again")
        await self._server.kill()
        await asyncio.sleep(_BETWEEN_SECONDS)
        if ends_silent:
            self._say("connections fall silent")
            self._proxy.half_open_all()
            await asyncio.sleep(_SILENT_SECONDS)

    async def _end_all(self) -> None:
        self._say("all connections are reset")
        self._proxy.end_all()
        await asyncio.sleep(_BETWEEN_SECONDS)

    async def _storm(self) -> None:
        """The history that the watches need is gone when they come back."""
        self._say("no connection is taken, and history is forgotten")
        self._proxy.weather = Weather.REFUSING
        self._proxy.end_all()
        await asyncio.sleep(_AWAY_SECONDS)
        await self._server.compact()
        before = self._expired()
        self._proxy.weather = Weather.FAIR
        # Until a back-off is over and the answer is there: or the next trouble would hide this one.
        for _ in range(_LOOKS):
            await asyncio.sleep(_LOOK_SECONDS)
            if self._expired() > before:
                return

    async def _vanish(self) -> None:
        self._say("new connections get no answer")
        self._proxy.weather = Weather.BLACK_HOLE
        self._proxy.end_all()
        await asyncio.sleep(_SILENT_SECONDS)
        self._proxy.weather = Weather.FAIR
        self._proxy.end_all()
