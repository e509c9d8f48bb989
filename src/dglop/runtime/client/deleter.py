# SPDX-License-Identifier: Apache-2.0
"""The deletions of a client: of one object, or of many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.runtime.client.calls import delete_call, list_query
from dglop.runtime.client.door import Door

if TYPE_CHECKING:
    from dglop.runtime.api.resource import Kind
    from dglop.runtime.client.calls import Selector

__all__ = ("Deleter",)


class Deleter(Door):
    """The part of Client that deletes. Strictly for the client package."""

    async def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        propagation: str | None = "Background",
        grace_seconds: int | None = None,
    ) -> None:
        """Asks for deletion; with `uid` or `resource_version`, of that very object or state alone.

        `propagation` is Background, Foreground, Orphan, or None for the kind's default.
        Raises ConflictError where it is another, and NotFoundError.
        """
        await self.send(
            delete_call(
                self._view,
                await self.resource(kind),
                name,
                namespace,
                uid=uid,
                resource_version=resource_version,
                propagation=propagation,
                grace_seconds=grace_seconds,
            )
        )

    async def delete_all_of(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        labels: Selector = "",
        fields: Selector = "",
        propagation: str | None = "Background",
        grace_seconds: int | None = None,
    ) -> None:
        """Asks for the deletion of a kind's objects in one namespace, or of those that are selected."""
        await self.send(
            delete_call(
                self._view,
                await self.resource(kind),
                None,
                namespace,
                propagation=propagation,
                grace_seconds=grace_seconds,
                query=list_query(labels, fields),
            )
        )
