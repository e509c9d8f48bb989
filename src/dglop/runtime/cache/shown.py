# SPDX-License-Identifier: Apache-2.0
"""How far a reflector has come, and who waits for it to come further."""

from __future__ import annotations

import asyncio

__all__ = ("Shown",)


class Shown:
    """
    The newest resourceVersion that one reflector has put into the store.

    Versions compare as decimal numbers (KEP-5504). One that is none says nothing, so nobody waits for it.
    """

    def __init__(self) -> None:
        self._newest = -1
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []

    def see(self, version: str) -> None:
        """An object of this version is in the store, or out of it."""
        if not version.isdecimal() or int(version) <= self._newest:
            return
        self._newest = int(version)
        for wanted, waiter in self._waiting:
            if wanted <= self._newest and not waiter.done():
                waiter.set_result(None)
        self._waiting = [each for each in self._waiting if not each[1].done()]

    def has(self, version: str) -> bool:
        """Whether what was written as *version*, and everything before it, is in the store."""
        return not version.isdecimal() or int(version) <= self._newest

    async def wait(self, version: str) -> None:
        """Return when it `has` *version*."""
        if self.has(version):
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append((int(version), waiter))
        await waiter
