# SPDX-License-Identifier: Apache-2.0
"""An operator under measurement: its process, and where it answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.request import urlopen

if TYPE_CHECKING:
    from hack.bench.process import Program

__all__ = ("Operator",)

_LIMIT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Operator:
    """A process, and its ports on the loopback: of /readyz and of /metrics."""

    program: Program
    health: int
    metrics: int

    async def ready(self) -> float:
        """Seconds from exec until it is ready. Raises BenchError where it ends, or is not ready in time."""
        return await self.program.ready(self.health)

    async def told(self) -> str:
        """What it tells at /metrics. Raises OSError where it does not answer."""
        return await asyncio.to_thread(self._read)

    def _read(self) -> str:
        with urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=_LIMIT_SECONDS) as answer:
            text: str = answer.read().decode()
            return text
