# SPDX-License-Identifier: Apache-2.0
"""For tests of informers: small pods on the wire, and a handler that notes what it is told."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dglop.runtime.cache import Cached

__all__ = ("Hearer", "pod")


def pod(name: str, rv: int, uid: str = "", **more: Any) -> dict[str, Any]:
    """A pod as the server would send it, in namespace n."""
    metadata = {"name": name, "namespace": "n", "uid": uid or f"uid-{name}", "resourceVersion": str(rv)}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, **more}


class Hearer:
    """Notes what it is told, and lets tests wait for it."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._changed = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    def on_add(self, obj: Cached, is_initial: bool) -> None:
        self._note(f"+{obj.name}@{obj.resource_version}{'!' if is_initial else ''}")

    def on_update(self, old: Cached, new: Cached) -> None:
        self._note(f"~{new.name}@{old.resource_version}>{new.resource_version}")

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None:
        self._note(f"-{obj.name}@{obj.resource_version}{'?' if final_state_unknown else ''}")

    async def until(self, what: str) -> None:
        """Until it has heard `what`, such as "+a@5!" (initial), "~a@5>6" or "-a@6?" (not seen)."""
        async with self._changed:
            await self._changed.wait_for(lambda: what in self.heard)

    def _note(self, what: str) -> None:
        self.heard.append(what)
        self._tasks.append(asyncio.ensure_future(self._notify()))

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()
