# SPDX-License-Identifier: Apache-2.0
"""The world of the job tests with PodGroups in it, where the test is the gang scheduler too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.errors import CacheNotSyncedError
from test.envtest.common.world import World

if TYPE_CHECKING:
    from dglop.common.gang import GangScheduler
    from dglop.runtime.client import Client
    from dglop.runtime.manager import Manager

__all__ = ("GangWorld",)


class GangWorld(World):
    """Groups as the Manager's cache shows them, and the scheduler's writes."""

    def __init__(self, scheduler: GangScheduler, manager: Manager, client: Client, namespace: str) -> None:
        super().__init__(manager, client, namespace)
        self.kind = scheduler.resource

    def hear_of_groups(self) -> None:
        """Have `until` woken by groups too, once the server knows them."""
        self.manager.cache.informer(self.kind).add_handler(self)

    def groups(self) -> dict[str, dict[str, Any]]:
        try:
            listed = self.manager.cache.list(self.kind, self.namespace)
        except CacheNotSyncedError:
            return {}
        return {each.name: each.to_dict() for each in listed}

    async def group(self, name: str = "g") -> dict[str, Any]:
        """The group, once the cache shows it."""
        await self.until(lambda: name in self.groups())
        return self.groups()[name]

    async def set_phase(self, phase: str, name: str = "g") -> None:
        """Be the scheduler; Volcano's groups have no status subresource."""
        body = {"status": {"phase": phase}}
        sub = None if self.kind.group == "scheduling.volcano.sh" else "status"
        await self.client.patch(self.kind, name, self.namespace, body, subresource=sub)
