# SPDX-License-Identifier: Apache-2.0
"""Subresources: scale, eviction, binding, token, status and any other, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.runtime.client.calls import apply_call, get_call, patch_call
from dglop.runtime.client.convert import decode, encoded
from dglop.runtime.client.patchtype import PatchType
from dglop.runtime.client.transport import Call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dglop.runtime.api.resource import Kind, Resource
    from dglop.runtime.client.calls import PatchBody
    from dglop.runtime.client.door import Door
    from dglop.runtime.client.view import View

__all__ = ("SubResource",)

# Subresources that speak another kind than their parent's.
_KINDS = {
    "eviction": ("policy/v1", "Eviction"),
    "binding": ("v1", "Binding"),
    "token": ("authentication.k8s.io/v1", "TokenRequest"),
    "scale": ("autoscaling/v1", "Scale"),
}


class SubResource:
    """One subresource of one kind; its objects are wire dicts. Made by `Client.subresource`."""

    def __init__(self, door: Door, view: View, kind: Kind, name: str) -> None:
        self._door = door
        self._view = view
        self._kind = kind
        self._name = name

    def __repr__(self) -> str:
        return f"SubResource({self._kind!r}, {self._name!r})"

    async def get(self, name: str, namespace: str | None = None) -> dict[str, Any]:
        resource = await self._door.resource(self._kind)
        return _wire(
            resource, await self._door.send(get_call(self._view, resource, name, namespace, self._name))
        )

    async def create(
        self, name: str, body: Mapping[str, Any] | None = None, namespace: str | None = None
    ) -> dict[str, Any]:
        """Asks for what the subresource does: evicts a pod, binds it, gives out a token.

        apiVersion, kind and metadata are filled in where `body` has none. Raises TooManyRequestsError
        where a disruption budget forbids an eviction for longer than a call lasts.
        """
        resource = await self._door.resource(self._kind)
        place = self._view.place(resource, namespace)
        wire = self._filled(resource, name, place, body or {})
        path = resource.path(place, name, self._name)
        call = Call("POST", path, self._view.writes(), encoded(wire), action="create")
        return _wire(resource, await self._door.send(call))

    async def patch(
        self,
        name: str,
        body: PatchBody,
        namespace: str | None = None,
        *,
        how: PatchType = PatchType.MERGE,
        field_manager: str | None = None,
    ) -> dict[str, Any]:
        resource = await self._door.resource(self._kind)
        call = patch_call(
            self._view,
            resource,
            name,
            namespace,
            body,
            how=how,
            subresource=self._name,
            manager=field_manager,
        )
        return _wire(resource, await self._door.send(call))

    async def apply(
        self,
        name: str,
        body: Mapping[str, Any],
        namespace: str | None = None,
        *,
        field_manager: str | None = None,
        force: bool = True,
    ) -> dict[str, Any]:
        """Server-side apply of the fields in `body`; without `force` another owner's field is a conflict."""
        resource = await self._door.resource(self._kind)
        wire = self._filled(resource, name, self._view.place(resource, namespace), body)
        call = apply_call(
            self._view, resource, wire, manager=field_manager, force=force, subresource=self._name
        )
        return _wire(resource, await self._door.send(call))

    def _filled(self, resource: Resource, name: str, place: str, body: Mapping[str, Any]) -> dict[str, Any]:
        api_version, kind = _KINDS.get(self._name, (resource.api_version, resource.kind))
        metadata = {"name": name} | ({"namespace": place} if resource.namespaced else {})
        head = {"apiVersion": api_version, "kind": kind}
        return {**head, **body, "metadata": {**metadata, **(body.get("metadata") or {})}}


def _wire(resource: Resource, body: bytes) -> dict[str, Any]:
    found: dict[str, Any] = decode(resource, body)
    return found
