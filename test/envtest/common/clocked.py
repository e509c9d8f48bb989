# SPDX-License-Identifier: Apache-2.0
"""The world of the acceptance cases in which time passes: the Manager's clock is the test's."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, cast

from dglop.runtime.log import make_log
from test.envtest.common.case_world import Cases

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.client import Client
    from dglop.runtime.log import Log
    from dglop.runtime.manager import Manager
    from dglop.testing.clock import MovableClock
    from test.wire import Wire

__all__ = ("ClockedCases", "Said")

_TURNS = 600


class Said:
    """What a Manager logs, a line at a time."""

    def __init__(self) -> None:
        self._out = io.StringIO()
        self.log: Log = make_log(format_="json", stream=self._out)

    def warnings(self) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self._out.getvalue().splitlines()]
        return [each for each in lines if each["level"] == "warning"]


class ClockedCases(Cases):
    """
    Acceptance cases on a server whose own time goes on, while the Manager's stands still.

    Attributes
    ----------
        said: what the Manager logs.
    """

    said: Said

    def __init__(self, manager: Manager, client: Client, namespace: str, wire: Wire, *, said: Said) -> None:
        self.said = said
        super().__init__(manager, client, namespace, wire)

    @property
    def clock(self) -> MovableClock:
        return cast("MovableClock", self.manager.clock)

    async def advance(self, seconds: float) -> None:
        """Let so much time pass: whatever falls due happens, and all comes to rest."""
        await self.rest()
        end = self.clock.monotonic() + seconds
        while (due := self.clock.next_due()) is not None and due <= end:
            self.clock.move(max(due - self.clock.monotonic(), 0.0))
            await self.rest()
        self.clock.move(end - self.clock.monotonic())
        await self.rest()

    async def played_until(self, what: Callable[[], Any]) -> None:
        for _ in range(_TURNS):
            await self.kubelet.look()
            await self.rest()
            if what():
                return
            await self.advance(1.0)
        print(self.dgljob(), [(p.name,p.phase) for p in self.pods().values()], self.wire.refused[-3:], self.wire.sent[-5:]); raise TimeoutError(f"it does not become true within {_TURNS} s of the clock")
