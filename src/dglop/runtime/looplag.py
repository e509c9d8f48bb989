# SPDX-License-Identifier: Apache-2.0
"""Measures how late the event loop is: the sign of code that blocks it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dglop.runtime.log import Log
    from dglop.runtime.metrics import Metrics

__all__ = ("LoopLag",)

PERIOD_SECONDS = 0.5
STALL_SECONDS = 1.0


class LoopLag:
    """A Runnable that sets the lag gauges every *period* seconds, and warns of a stall of more than one."""

    name = "loop-lag"

    def __init__(self, metrics: Metrics, log: Log, *, period: float = PERIOD_SECONDS) -> None:
        self._period = period
        self._metrics = metrics
        self._log = log
        self._max = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        while not stop.is_set():
            due = loop.time() + self._period
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self._period)
            self.observe(max(loop.time() - due, 0.0))

    def observe(self, lag: float) -> None:
        self._max = max(self._max, lag)
        self._metrics.loop_lag.set(lag)
        self._metrics.loop_lag_max.set(self._max)
        if lag > STALL_SECONDS:
            self._log.warning("Event loop was blocked; run blocking code in a thread", seconds=round(lag, 3))
