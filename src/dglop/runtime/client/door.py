# SPDX-License-Identifier: Apache-2.0
"""What every view of a client can do: name kinds, send calls, and be looked at in another way."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from dglop.errors import GoneError
from dglop.runtime.api.resource import Kind, Resource, is_builtin, resource_of
from dglop.runtime.client.mapper import Mapper
from dglop.runtime.client.sender import Sender
from dglop.runtime.client.transport import Call, Transport
from dglop.runtime.client.view import FieldValidation, View

if TYPE_CHECKING:
    from dglop.runtime.client.metrics import ClientMetrics
    from dglop.runtime.client.view import Interceptor
    from dglop.runtime.clock import Clock

__all__ = ("Door",)

PAGE = 500
SECONDS = 30.0


class Door:
    """The shared part of Client: transport, views, raw requests. Strictly for the client package."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        metrics: ClientMetrics | None = None,
        *,
        qps: float = 0.0,
        burst: int = 10,
    ) -> None:
        self._sender = Sender(transport, clock, metrics, qps=qps, burst=burst)
        self._view = View(transport.link.loaded.namespace)
        self._mapper = Mapper(self.raw)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections, of every view of this client; requests under way fail."""
        await self._sender.transport.close()

    @property
    def namespace(self) -> str:
        """The namespace that is meant where none is said."""
        return self._view.namespace

    @property
    def host(self) -> str:
        """URL of the API server."""
        return self._sender.transport.link.loaded.host

    @property
    def mapper(self) -> Mapper:
        """Which kinds the API server has, and under which names; read from it when first asked."""
        return self._mapper

    def in_namespace(self, namespace: str, *, instead: str = "") -> Self:
        """This client for one namespace alone: `list` means it, and calls elsewhere raise ConfigError.

        Cluster-scoped kinds and `raw` are as before. *instead* is what the error advises, for those who
        did not make the client themselves.
        """
        return self._with(namespace=namespace, is_bound=True, instead=instead or self._view.instead)

    def dry_run(self) -> Self:
        """This client with all its writes checked, admitted and answered, but not kept."""
        return self._with(dry_run=True)

    def with_field_manager(self, name: str) -> Self:
        """This client with `name` as the owner of the fields it writes."""
        return self._with(field_manager=name)

    def with_validation(self, validation: FieldValidation | str) -> Self:
        """This client with its own rule for unknown fields.

        Without one, typed objects are created and applied as Strict, and the server's rule (Warn) goes
        for wire dicts and patches.
        """
        return self._with(validation=FieldValidation(validation))

    def strict(self) -> Self:
        """This client with Strict validation, unless it has a rule of its own."""
        return self if self._view.validation else self.with_validation(FieldValidation.STRICT)

    def counted_for(self, controller: str) -> Self:
        """This client with its requests counted in `dglop_api_requests_total` as the controller's."""
        return self._with(caller=controller)

    def with_warnings(self, handler: Callable[[str], object]) -> Self:
        """This client with *handler* called with each warning in the answers to its calls (not watches).

        They are logged, or handed to what `connect` was given, as well. One may come twice: a try that
        failed has an answer too.
        """
        return self._with(on_warning=handler)

    def intercepted(self, *interceptors: Interceptor) -> Self:
        """This client with its calls (not its watches) handed through functions of one's own.

        Looking up what the API server calls a kind is a call, too.

        Each is awaited with the call and a function that sends it on; it may change the call or its
        answer, raise an ApiError instead, or trace. The first one is outermost; retries lie inside.
        """
        view = self._with(interceptors=(*self._view.interceptors, *interceptors))
        view.__dict__["_mapper"] = self._mapper.asking(view.raw)
        return view

    async def raw(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = "application/json",
        accept: str = "application/json",
        timeout: float = SECONDS,  # noqa: ASYNC109 - the budget of all tries together
        retry: bool = True,
        on_start: Callable[[bytes], bool] | None = None,
    ) -> bytes:
        """The body of the answer; tries again, within `timeout` seconds, what may be sent again.

        `on_start` is called with what has come of the body, as it grows, until it returns True.
        """
        call = Call(method, path, query, body, content_type, accept, on_start=on_start)
        return await self._sender.send(call, self._view, timeout=timeout, retry=retry)

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
    ) -> AsyncGenerator[list[bytes], None]:
        """As `stream`, but all the lines that came together at once."""
        call = Call("GET", path, query, accept=accept, verb="WATCH", action="watch")
        return self._sender.lines(call, self._view, read_idle=read_idle)

    async def resource(self, kind: Kind) -> Resource:
        """What the API server calls `kind`, which may also be a name such as `widgets.example.dev`.

        A wire dict of a kind that is not built in is looked up too. Raises NoKindMatchError, ConfigError.
        """
        if isinstance(kind, str):
            return await self._mapper.find(kind)
        found = resource_of(kind)
        if isinstance(kind, Mapping) and not is_builtin(found):
            return await self._mapper.resource(found.kind, group=found.group, version=found.version)
        return found

    async def send(self, call: Call) -> bytes:
        """The body of the answer to a call. For the parts of a client."""
        return await self._sender.send(call, self._view, timeout=SECONDS)

    async def read_all(
        self,
        call: Call,
        decode: Callable[[bytes], tuple[list[Any], str]],
    ) -> list[Any]:
        """All items of a list, page by page. For the parts of a client."""
        found: list[Any] = []
        page = {"limit": str(PAGE)}
        while True:
            try:
                body = await self.send(replace(call, query={**(call.query or {}), **page}))
            except GoneError:
                if "continue" not in page:
                    raise
                # The token outlived etcd's history: one page of everything cannot.
                found, page = [], {}
                continue
            items, token = decode(body)
            found += items
            if not token:
                return found
            page = {"limit": str(PAGE), "continue": token}

    def _with(self, **changes: Any) -> Self:
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__)
        view._view = replace(self._view, **changes)
        return view
