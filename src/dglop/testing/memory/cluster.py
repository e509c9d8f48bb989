# SPDX-License-Identifier: Apache-2.0
"""MemoryCluster: an API server in memory and a clock that the test moves, for a Manager under test."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dglop.runtime.client import ClientConfig
from dglop.runtime.events import EVENT
from dglop.testing.clock import ManualClock
from dglop.testing.cluster import TestCluster
from dglop.testing.eventlines import event_lines
from dglop.testing.memory.server import MemoryServer
from dglop.testing.memory.transport import HOST, connect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.runtime.client import Client

__all__ = ("MemoryCluster",)


class MemoryCluster(TestCluster):
    """
    A TestCluster whose API server is in memory and whose clock stands still unless the test moves it.

    Nothing passes by itself: `settle` lets everything happen that can without time, `advance` and `until` let
    time pass. A Manager made by `manager` runs on both.
    """

    def __init__(
        self,
        *,
        namespaces: Iterable[str] = ("default",),
        start: datetime = datetime(2026, 1, 1, tzinfo=UTC),
    ) -> None:
        super().__init__()
        self.clock: ManualClock = ManualClock(start)
        self.server: MemoryServer = MemoryServer(self.clock, namespaces=namespaces)

    @property
    def events(self) -> list[str]:
        info = self.server.registry.find(EVENT.group, EVENT.version, EVENT.plural)
        found = self.server.store.all(info.storage) if info else []
        return event_lines([each.wire for each in found])

    async def _open(self) -> Client:
        return await connect(self.server)

    def _config(self) -> ClientConfig:
        # The client knows its own clock; the configuration only says what `namespace` means.
        return ClientConfig(host=HOST)

    def _marks(self) -> tuple[int, ...]:
        return (self.server.requests, self.server.store.version)
