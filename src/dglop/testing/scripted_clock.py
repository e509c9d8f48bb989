# SPDX-License-Identifier: Apache-2.0
"""A clock for tests with real sockets: real time, but pauses take none."""

from __future__ import annotations

import asyncio

from dglop.runtime.clock import SystemClock

__all__ = ("EagerClock",)


class EagerClock(SystemClock):
    """Real time; `sleep` only notes how long it would have been, and gives way once."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await asyncio.sleep(0)
