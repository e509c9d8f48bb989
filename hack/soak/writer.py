# SPDX-License-Identifier: Apache-2.0
"""Writes all the time: objects come, change and go, past the chaos and without knowing of it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dglop.errors import ApiError
from dglop.runtime.api.resource import resource_of
from hack.soak.kinds import CONFIG_MAP, NAMESPACE, Sample

if TYPE_CHECKING:
    import random

    from dglop.runtime.client import Client

__all__ = ("Writer",)

_NAMES = 30
_PAUSE_SECONDS = 0.04
_DELETES = 0.25


class Writer:
    """A writer of Samples and ConfigMaps; what is really there is for the API server to say."""

    def __init__(self, client: Client, chance: random.Random) -> None:
        self.writes = 0
        self.failures = 0
        """Writes of which it is not known whether they were done, such as those while the server is away."""
        self._client = client
        self._chance = chance
        self._may_write = asyncio.Event()
        self._is_idle = asyncio.Event()
        self._there: dict[tuple[str, str], bool] = {}

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            if not self._may_write.is_set():
                self._is_idle.set()
                await self._may_write.wait()
            await self._write()
            await asyncio.sleep(_PAUSE_SECONDS)

    def resume(self) -> None:
        self._is_idle.clear()
        self._may_write.set()

    async def pause(self) -> None:
        """Return when no write is under way any more."""
        self._may_write.clear()
        await self._is_idle.wait()

    async def _write(self) -> None:
        kind = self._chance.choice((Sample, CONFIG_MAP))
        resource, name = resource_of(kind), f"o-{self._chance.randrange(_NAMES)}"
        key = (resource.plural, name)
        value = self.writes = self.writes + 1
        try:
            if not self._there.get(key):
                with suppress(ApiError):  # it may be there, after a write whose answer was lost
                    await self._client.create(_object(kind, name, value))
                self._there[key] = True
            elif self._chance.random() < _DELETES:
                await self._client.delete(resource, name, NAMESPACE)
                self._there[key] = False
            else:
                body = {
                    key: part for key, part in _object(kind, name, value).items() if key in ("spec", "data")
                }
                await self._client.patch(resource, name, NAMESPACE, body)
        except ApiError:
            self.failures += 1
            self._there[key] = False


def _object(kind: Any, name: str, value: int) -> dict[str, Any]:
    resource = resource_of(kind)
    head = {"apiVersion": resource.api_version, "kind": resource.kind}
    metadata = {"name": name, "namespace": NAMESPACE}
    content: dict[str, Any] = (
        {"data": {"value": str(value)}} if kind is CONFIG_MAP else {"spec": {"value": value}}
    )
    return {**head, "metadata": metadata, **content}
