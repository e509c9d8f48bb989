# SPDX-License-Identifier: Apache-2.0
"""Client: the one door to the API server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from dglop.runtime.api.resource import Kind, Resource
from dglop.runtime.client.calls import (
    apply_call,
    create_call,
    get_call,
    list_query,
    patch_call,
)
from dglop.runtime.client.config import ClientConfig
from dglop.runtime.client.convert import decode, decode_page, wire_of
from dglop.runtime.client.deleter import Deleter
from dglop.runtime.client.door import PAGE
from dglop.runtime.client.merging import merge_body
from dglop.runtime.client.metadataonly import MetadataView
from dglop.runtime.client.patchtype import PatchType
from dglop.runtime.client.subresource import SubResource
from dglop.runtime.client.transport import Call, Transport
from dglop.runtime.clock import Clock, SystemClock
from dglop.runtime.log import Log, make_log

if TYPE_CHECKING:
    from dglop.runtime.client.metrics import ClientMetrics

__all__ = ("Client",)

T = TypeVar("T")

Selector = str | Mapping[str, str]
PatchBody = Mapping[str, Any] | Sequence[Any]
Objects = list[Any]


class Client(Deleter):
    """Reads and writes objects of any kind.

    A kind is a CustomResource class, an official model such as V1Pod, a Resource, or a name such as
    "widgets.example.dev" (with the last two, objects are wire dicts). Where a namespace is left out,
    `namespace` of this client is meant; only `list` then means all namespaces.
    Guarantees: every call has a deadline; what may be sent again is, within it; no object that was
    parsed is ever written back whole.
    Assumptions: one client belongs to one event loop. `dry_run`, `in_namespace` and their like give views
    that share its connections.
    Raises: ApiError and its kinds; SchemaError where an answer does not fit its type.
    """

    @classmethod
    async def connect(
        cls,
        config: ClientConfig | None = None,
        *,
        user_agent: str = "",
        metrics: ClientMetrics | None = None,
        clock: Clock | None = None,
        log: Log = None,
        on_warning: Callable[[str], object] | None = None,
    ) -> Self:
        """A client by `config`; nothing is sent yet.

        `on_warning` is called with each warning of the API server; without it, each is logged once.
        Raises ConfigError.
        """
        agent = f"dglop/{version('dglop')}" + (f" ({user_agent})" if user_agent else "")
        used, settings = clock or SystemClock(), config or ClientConfig()
        transport = Transport(settings, agent, used, metrics, log or make_log(), on_warning=on_warning)
        await transport.open()
        return cls(transport, used, metrics, qps=settings.qps, burst=settings.burst)

    @property
    def metadata(self) -> MetadataView:
        """Reads of metadata alone."""
        return MetadataView(self, self._view)

    def subresource(self, kind: Kind, name: str) -> SubResource:
        """A subresource of a kind, by name: "scale", "status", "eviction", "binding", "token" or any."""
        return SubResource(self, self._view, kind, name)

    @overload
    async def get(self, kind: type[T], name: str, namespace: str | None = None) -> T: ...
    @overload
    async def get(self, kind: Resource | str, name: str, namespace: str | None = None) -> dict[str, Any]: ...
    async def get(self, kind: Kind, name: str, namespace: str | None = None) -> Any:
        """One object, from the API server itself. Raises NotFoundError."""
        resource = await self.resource(kind)
        return decode(_form(kind, resource), await self.send(get_call(self._view, resource, name, namespace)))

    @overload
    async def list(
        self, kind: type[T], namespace: str | None = None, *, labels: Selector = "", fields: Selector = ""
    ) -> list[T]: ...
    @overload
    async def list(
        self,
        kind: Resource | str,
        namespace: str | None = None,
        *,
        labels: Selector = "",
        fields: Selector = "",
    ) -> list[dict[str, Any]]: ...
    async def list(
        self, kind: Kind, namespace: str | None = None, *, labels: Selector = "", fields: Selector = ""
    ) -> Any:
        """All objects, read page by page; without a namespace, of all namespaces."""
        resource = await self.resource(kind)
        path = resource.path(self._view.reach(resource, namespace))
        call = Call("GET", path, list_query(labels, fields), action="list")
        return await self.read_all(call, lambda body: decode_page(_form(kind, resource), body))

    async def pages(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
        size: int = PAGE,
    ) -> AsyncIterator[Objects]:
        """As `list`, but a page of at most `size` objects at a time, for what is too much to hold at once.

        Raises GoneError where reading took longer than the server keeps old states (five minutes).
        """
        resource = await self.resource(kind)
        path = resource.path(self._view.reach(resource, namespace))
        query, token = {**list_query(labels, fields), "limit": str(size)}, ""
        while True:
            asked = {**query, "continue": token} if token else query
            body = await self.send(Call("GET", path, asked, action="list"))
            items, token = decode_page(_form(kind, resource), body)
            yield items
            if not token:
                return

    async def create(
        self,
        obj: T,
        *,
        dry_run: bool = False,
        field_manager: str | None = None,
        resource: Resource | None = None,
    ) -> T:
        """The object as the server made it. Raises AlreadyExistsError where the name is taken.

        `resource` says what a wire dict is, where the API server need not be asked.
        """
        found = resource or await self.resource(obj)
        call = create_call(
            self._view,
            found,
            wire_of(obj),
            is_typed=not isinstance(obj, Mapping),
            dry_run=dry_run,
            manager=field_manager,
        )
        result: T = decode(_form(obj, found), await self.send(call))
        return result

    async def apply(
        self,
        obj: T,
        *,
        field_manager: str | None = None,
        force: bool = True,
        subresource: str | None = None,
        version: str | None = None,
        resource: Resource | None = None,
    ) -> T:
        """Server-side apply of exactly the fields that `obj` has, without status unless that is meant.

        With `version`, only to the object as it was at that resourceVersion (else ConflictError).
        The fields belong to `field_manager`, else to the view's, else to "dglop"; what it applied before
        and left out now is removed. Raises ConflictError, without `force`, where another manager owns one.
        """
        found = resource or await self.resource(obj)
        call = apply_call(
            self._view,
            found,
            wire_of(obj),
            is_typed=not isinstance(obj, Mapping),
            manager=field_manager,
            force=force,
            subresource=subresource,
            version=version,
        )
        result: T = decode(_form(obj, found), await self.send(call))
        return result

    @overload
    async def patch(
        self,
        kind: type[T],
        name: str,
        namespace: str | None,
        body: PatchBody,
        *,
        how: PatchType = PatchType.MERGE,
        subresource: str | None = None,
        field_manager: str | None = None,
    ) -> T: ...
    @overload
    async def patch(
        self,
        kind: Resource | str,
        name: str,
        namespace: str | None,
        body: PatchBody,
        *,
        how: PatchType = PatchType.MERGE,
        subresource: str | None = None,
        field_manager: str | None = None,
    ) -> dict[str, Any]: ...
    async def patch(
        self,
        kind: Kind,
        name: str,
        namespace: str | None,
        body: Any,
        *,
        how: PatchType = PatchType.MERGE,
        subresource: str | None = None,
        field_manager: str | None = None,
    ) -> Any:
        """Patches one object; a null in a merge patch removes the field."""
        resource = await self.resource(kind)
        call = patch_call(
            self._view,
            resource,
            name,
            namespace,
            body,
            how=how,
            subresource=subresource,
            manager=field_manager,
        )
        return decode(_form(kind, resource), await self.send(call))

    async def merge_from(
        self,
        before: T,
        after: T,
        *,
        lock: bool = False,
        subresource: str | None = None,
        field_manager: str | None = None,
    ) -> T:
        """Merges what was changed from `before` to `after`; with nothing changed nothing is sent.

        Status is left out, or with `subresource="status"` alone is meant. A list is sent whole. With `lock`
        it fails with ConflictError if the object is no longer the one that `before` was read as.
        Raises SchemaError where they are not two states of one object.
        """
        body = merge_body(wire_of(before), wire_of(after), lock=lock, subresource=subresource)
        if body is None:
            return after
        resource, metadata = await self.resource(before), wire_of(before)["metadata"]
        call = patch_call(
            self._view,
            resource,
            metadata["name"],
            metadata.get("namespace"),
            body,
            subresource=subresource,
            manager=field_manager,
        )
        result: T = decode(_form(after, resource), await self.send(call))
        return result


def _form(kind: Kind, resource: Resource) -> Kind:
    """What an answer is decoded as: the class that was asked for or given, else a wire dict."""
    if isinstance(kind, Resource | str | Mapping):
        return resource
    return kind if isinstance(kind, type) else type(kind)
