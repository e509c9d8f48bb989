# SPDX-License-Identifier: Apache-2.0
"""Sends calls with all that goes for every one of them: its own rate limit, retries, counting."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from dglop.runtime.client.patchtype import PatchType
from dglop.runtime.client.retry import retrying
from dglop.runtime.queue.ratelimit import TokenBucket

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from dglop.errors import ApiError
    from dglop.runtime.client.metrics import ClientMetrics
    from dglop.runtime.client.transport import Call, Transport
    from dglop.runtime.client.view import Interceptor, Send, View
    from dglop.runtime.clock import Clock

__all__ = ("Sender",)

_READS = frozenset({"GET", "HEAD"})


class Sender:
    """What all views of one client share."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        metrics: ClientMetrics | None,
        *,
        qps: float = 0.0,
        burst: int = 10,
    ) -> None:
        self.transport = transport
        self.clock = clock
        self.metrics = metrics
        self._bucket: TokenBucket[str] | None = None
        if qps > 0:
            self._bucket = TokenBucket(clock.monotonic, rate=qps, burst=max(1, burst))

    async def send(
        self,
        call: Call,
        view: View,
        *,
        timeout: float,  # noqa: ASYNC109 - the budget of all tries together
        retry: bool = True,
    ) -> bytes:
        """The body of the answer, through the view's interceptors, the first of them outermost."""

        async def plain(sent: Call) -> bytes:
            return await self._tried(sent, view.caller, seconds=timeout, retry=retry)

        handed: Send = plain
        for interceptor in reversed(view.interceptors):
            handed = partial(_through, interceptor, handed)
        return await handed(call if view.on_warning is None else replace(call, on_warning=view.on_warning))

    def lines(self, call: Call, view: View, *, read_idle: float) -> AsyncGenerator[list[bytes], None]:
        """Batches of lines of a watch, which is counted as one call."""
        self._count(call, view.caller)
        return self.transport.lines(call, read_idle=read_idle)

    async def _tried(self, call: Call, caller: str, *, seconds: float, retry: bool) -> bytes:
        async def once() -> bytes:
            await self._wait_turn(call)
            self._count(call, caller)
            return await self.transport.request(call, timeout=seconds)

        if not retry:
            return await once()
        idempotent = call.method in _READS or call.content_type == PatchType.APPLY
        return await retrying(
            once,
            idempotent=idempotent,
            budget=seconds,
            sleep=self.clock.sleep,
            told=partial(self._told, call.method),
        )

    async def _wait_turn(self, call: Call) -> None:
        if self._bucket is None:
            return
        seconds = self._bucket.when("")
        if seconds > 0:
            await self.clock.sleep(seconds)
        if self.metrics is not None:
            self.metrics.waited(seconds=seconds, verb=call.method, host=self.transport.link.netloc)

    def _count(self, call: Call, caller: str) -> None:
        if self.metrics is not None and caller:
            self.metrics.called(controller=caller, verb=call.action or call.method.lower())

    def _told(self, method: str, error: ApiError) -> None:
        if self.metrics is not None:
            self.metrics.retry(
                code=str(error.status or "<error>"), verb=method, host=self.transport.link.netloc
            )


async def _through(interceptor: Interceptor, send: Send, call: Call) -> bytes:
    return await interceptor(call, send)
