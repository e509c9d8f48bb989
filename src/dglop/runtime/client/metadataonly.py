# SPDX-License-Identifier: Apache-2.0
"""Objects' metadata without the rest: what the server cuts out need not be sent, parsed or kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.runtime.api.meta import ObjectMeta
from dglop.runtime.client.calls import get_call, list_query
from dglop.runtime.client.convert import decode, decode_page
from dglop.runtime.client.transport import Call

if TYPE_CHECKING:
    import builtins

    from dglop.runtime.api.resource import Kind, Resource
    from dglop.runtime.client.calls import Selector
    from dglop.runtime.client.door import Door
    from dglop.runtime.client.view import View

__all__ = ("MetadataView", "PartialObject")

_FORM = "application/json;as={};g=meta.k8s.io;v=v1"


@dataclass(frozen=True, slots=True)
class PartialObject:
    """An object of which only the metadata was read; it can own others and be deleted."""

    resource: Resource
    metadata: ObjectMeta

    @property
    def name(self) -> str:
        return self.metadata.name or ""

    @property
    def namespace(self) -> str:
        """The namespace, or "" for a cluster-scoped object."""
        return self.metadata.namespace or ""

    @property
    def uid(self) -> str:
        return self.metadata.uid or ""

    @property
    def is_deleting(self) -> bool:
        return self.metadata.deletion_timestamp is not None


class MetadataView:
    """Reads metadata alone, of any kind. Made by `Client.metadata`."""

    def __init__(self, door: Door, view: View) -> None:
        self._door = door
        self._view = view

    async def get(self, kind: Kind, name: str, namespace: str | None = None) -> PartialObject:
        """Raises NotFoundError."""
        resource = await self._door.resource(kind)
        call = get_call(self._view, resource, name, namespace)
        body = await self._door.send(replace(call, accept=_FORM.format("PartialObjectMetadata")))
        return _partial(resource, decode(resource, body))

    async def list(
        self, kind: Kind, namespace: str | None = None, *, labels: Selector = "", fields: Selector = ""
    ) -> builtins.list[PartialObject]:
        """All objects' metadata, read page by page; without a namespace, of all namespaces."""
        resource = await self._door.resource(kind)
        path = resource.path(self._view.reach(resource, namespace))
        call = Call(
            "GET",
            path,
            list_query(labels, fields),
            accept=_FORM.format("PartialObjectMetadataList"),
            action="list",
        )
        found = await self._door.read_all(call, lambda body: decode_page(resource, body))
        return [_partial(resource, wire) for wire in found]


def _partial(resource: Resource, wire: dict[str, Any]) -> PartialObject:
    metadata = {key: value for key, value in wire["metadata"].items() if key != "managedFields"}
    return PartialObject(resource, ObjectMeta.model_validate_json(msgspec.json.encode(metadata)))
