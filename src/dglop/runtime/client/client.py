# SPDX-License-Identifier: Apache-2.0
"""Client: the one door to the API server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from dglop.errors import ApiError, GoneError, SchemaError
from dglop.runtime.api.resource import Kind, Resource, resource_of
from dglop.runtime.client.config import ClientConfig
from dglop.runtime.client.convert import applicable, decode, decode_page, encoded, kind_of, wire_of
from dglop.runtime.client.patchtype import PatchType
from dglop.runtime.client.retry import retrying
from dglop.runtime.client.transport import Call, Transport
from dglop.runtime.clock import Clock, SystemClock
from dglop.runtime.log import Log, make_log

if TYPE_CHECKING:
    from dglop.runtime.client.metrics import ClientMetrics

__all__ = ("Client",)

T = TypeVar("T")

PatchBody = Mapping[str, Any] | Sequence[Any]
Lines = list[bytes]
Objects = list[Any]

_PAGE = 500
_SECONDS = 30.0
_READS = frozenset({"GET", "HEAD"})


class Client:
    """Reads and writes objects of any kind.

    A kind is a CustomResource class, an official model such as V1Pod, or a Resource (then objects are
    wire dicts). Where a namespace is left out, `namespace` of this client is meant; only `list` then
    means all namespaces.
    Guarantees: every call has a deadline; what may be sent again is, within it; no object that was
    parsed is ever written back whole.
    Assumptions: one client belongs to one event loop.
    Raises: ApiError and its kinds; SchemaError where an answer does not fit its type.
    """

    def __init__(self, transport: Transport, clock: Clock, metrics: ClientMetrics | None) -> None:
        self._transport = transport
        self._clock = clock
        self._metrics = metrics
        self.namespace = transport.link.loaded.namespace

    @classmethod
    async def connect(
        cls,
        config: ClientConfig | None = None,
        *,
        user_agent: str = "",
        metrics: ClientMetrics | None = None,
        clock: Clock | None = None,
        log: Log = None,
    ) -> Self:
        """A client by `config`; nothing is sent yet. Raises ConfigError."""
        agent = f"dglop/{version('dglop')}" + (f" ({user_agent})" if user_agent else "")
        used = clock or SystemClock()
        transport = Transport(config or ClientConfig(), agent, used, metrics, log or make_log())
        await transport.open()
        return cls(transport, used, metrics)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections; requests under way fail."""
        await self._transport.close()

    @property
    def host(self) -> str:
        """URL of the API server."""
        return self._transport.link.loaded.host

    @overload
    async def get(self, kind: type[T], name: str, namespace: str | None = None) -> T: ...
    @overload
    async def get(self, kind: Resource, name: str, namespace: str | None = None) -> dict[str, Any]: ...
    async def get(self, kind: Kind, name: str, namespace: str | None = None) -> Any:
        return decode(kind, await self.raw("GET", self._path(kind, namespace, name)))

    @overload
    async def list(
        self, kind: type[T], namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[T]: ...
    @overload
    async def list(
        self, kind: Resource, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[dict[str, Any]]: ...
    async def list(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> Any:
        """All objects, read page by page; without a namespace, of all namespaces."""
        path = resource_of(kind).path(namespace)
        query = _selected(labels, fields)
        found: Objects = []
        page = {"limit": str(_PAGE)}
        while True:
            try:
                body = await self.raw("GET", path, query={**query, **page})
            except GoneError:
                if "continue" not in page:
                    raise
                # The token outlived etcd's history: one page of everything cannot.
                found, page = [], {}
                continue
            items, token = decode_page(kind, body)
            found += items
            if not token:
                return found
            page = {"limit": str(_PAGE), "continue": token}

    async def create(self, obj: T, *, dry_run: bool = False) -> T:
        """The object as the server made it. Raises AlreadyExistsError where the name is taken."""
        wire = wire_of(obj)
        metadata = wire.setdefault("metadata", {})
        if not metadata.get("name") and not metadata.get("generateName"):
            raise SchemaError(f"{wire['kind']}: metadata.name is missing, and so is generateName")
        body = await self.raw(
            "POST",
            self._collection(obj, wire),
            query={"dryRun": "All"} if dry_run else None,
            body=encoded(wire),
        )
        result: T = decode(kind_of(obj), body)
        return result

    async def apply(
        self,
        obj: T,
        *,
        field_manager: str = "dglop",
        force: bool = True,
        subresource: str | None = None,
        version: str | None = None,
    ) -> T:
        """Server-side apply of exactly the fields that `obj` has, without status unless that is meant.

        With `version`, only to the object as it was at that resourceVersion (else ConflictError).
        """
        wire = applicable(wire_of(obj), subresource=subresource, version=version)
        name = wire["metadata"].get("name")
        if not name:
            raise SchemaError(f"{wire['kind']}: apply needs metadata.name")
        path = self._path(obj, wire["metadata"].get("namespace"), name, subresource)
        query = {"fieldManager": field_manager, "force": str(force).lower()}
        body = await self.raw("PATCH", path, query=query, body=encoded(wire), content_type=PatchType.APPLY)
        result: T = decode(kind_of(obj), body)
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
        kind: Resource,
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
        if (how is PatchType.JSON) is not isinstance(body, list):
            raise SchemaError(
                f"a patch as {how} must be {'a list' if how is PatchType.JSON else 'an object'}"
            )
        answer = await self.raw(
            "PATCH",
            self._path(kind, namespace, name, subresource),
            query={"fieldManager": field_manager} if field_manager else None,
            body=encoded(body),
            content_type=how,
        )
        return decode(kind, answer)

    async def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        propagation: str | None = "Background",
        grace_seconds: int | None = None,
    ) -> None:
        """Asks for deletion; with `uid`, only of that very object (else ConflictError)."""
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if propagation:
            options["propagationPolicy"] = propagation
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        if uid:
            options["preconditions"] = {"uid": uid}
        await self.raw("DELETE", self._path(kind, namespace, name), body=encoded(options))

    async def raw(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = "application/json",
        accept: str = "application/json",
        timeout: float = _SECONDS,  # noqa: ASYNC109 - the budget of all tries together
        retry: bool = True,
    ) -> bytes:
        """The body of the answer; tries again, within `timeout` seconds, what may be sent again."""
        call = Call(method, path, query, body, content_type, accept)
        send = partial(self._transport.request, call, timeout=timeout)
        if not retry:
            return await send()
        idempotent = method in _READS or content_type == PatchType.APPLY
        return await retrying(
            send,
            idempotent=idempotent,
            budget=timeout,
            sleep=self._clock.sleep,
            told=partial(self._told, method),
        )

    async def stream(
        self, path: str, *, query: Mapping[str, str] | None = None, read_idle: float
    ) -> AsyncGenerator[bytes, None]:
        """Lines of any length as they come, until the server ends the answer.

        Raises ApiTimeoutError after `read_idle` seconds without a byte. Wrap it in
        `contextlib.aclosing` so that leaving early closes the connection at once.
        """
        async for batch in self.batches(path, query=query, read_idle=read_idle):
            for line in batch:
                yield line

    def batches(
        self,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        read_idle: float,
        accept: str = "application/json",
    ) -> AsyncGenerator[Lines, None]:
        """As `stream`, but all the lines that came together at once."""
        return self._transport.lines(
            Call("GET", path, query, accept=accept, verb="WATCH"), read_idle=read_idle
        )

    def _path(
        self, kind: Kind, namespace: str | None, name: str | None, subresource: str | None = None
    ) -> str:
        return resource_of(kind).path(namespace or self.namespace, name, subresource)

    def _collection(self, obj: Any, wire: dict[str, Any]) -> str:
        return self._path(obj, wire["metadata"].get("namespace"), None)

    def _told(self, method: str, error: ApiError) -> None:
        if self._metrics is not None:
            self._metrics.retry(
                code=str(error.status or "<error>"), verb=method, host=self._transport.link.netloc
            )


def _selected(labels: str, fields: str) -> dict[str, str]:
    pairs = (("labelSelector", labels), ("fieldSelector", fields))
    return {key: value for key, value in pairs if value}
