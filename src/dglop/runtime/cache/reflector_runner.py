# SPDX-License-Identifier: Apache-2.0
"""Carries out what the reflector's step says: lists, watches, and hands whole states and events on."""

from __future__ import annotations

import asyncio
import random
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.errors import ApiError, DglopError, ServerError
from dglop.runtime.cache.entry import Cached, PartialCached, read_object
from dglop.runtime.cache.meta import Meta
from dglop.runtime.cache.paging import Early, in_order
from dglop.runtime.cache.reflector import (
    Action,
    Listed,
    ListFailed,
    NoInitialEndError,
    Outcome,
    State,
    StreamEnded,
    TakeList,
    begin,
    newer,
    step,
)
from dglop.runtime.cache.reflector import Stream as StreamAction
from dglop.runtime.cache.reminder import reminded
from dglop.runtime.cache.scope import Limits, Scope
from dglop.runtime.cache.transform import transformed
from dglop.runtime.cache.watchline import Bookmark, read_line
from dglop.runtime.client.convert import page_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

    from dglop.runtime.cache.sink import Sink
    from dglop.runtime.client.client import Client
    from dglop.runtime.client.convert import Page
    from dglop.runtime.clock import Clock

__all__ = ("ReflectorRunner",)

_CHUNK = 25  # often, so that the next pages are asked for and received meanwhile
_AHEAD = 3  # pages on their way: with one the server waits for us, and more keep no more cores busy
_LIST_SECONDS = 120.0
_REMIND_SECONDS = 10.0
_INITIAL_END = "k8s.io/initial-events-end"


@dataclass(slots=True)
class _Progress:
    """How far one watch has come."""

    rv: str
    is_whole: bool
    started: float
    initial: bool
    count: int = 0
    fresh: dict[tuple[str, str], Cached] = field(default_factory=dict)

    def ended(self, now: float, error: DglopError | None) -> StreamEnded:
        return StreamEnded(self.rv, self.is_whole, self.count, now - self.started, error, self.initial)


class ReflectorRunner:
    """Keeps a sink equal to what the server has in a scope, from `run` until that is cancelled.

    Guarantees: the sink sees each state whole; no resource version goes back; a failure of the server
    never ends it. Raises only what the sink raises, or a transform.
    """

    def __init__(
        self,
        client: Client,
        scope: Scope,
        sink: Sink,
        *,
        clock: Clock,
        streams: bool = True,
        pages: Callable[[], bool] = lambda: False,
        limits: Limits | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._client = client
        self._scope = scope
        self._sink = sink
        self._clock = clock
        self._jitter = jitter
        self._limits = limits or Limits()
        self._state = State(streams=streams)
        self._pages_served = pages

    async def run(self) -> None:
        self._state = replace(self._state, pages=self._pages_served())
        action: Action = begin(self._state)
        while True:
            if action.after:
                await self._clock.sleep(action.after)
            outcome = await self._list(action) if isinstance(action, TakeList) else await self._watch(action)
            error = None if isinstance(outcome, Listed) else outcome.error
            if error is not None:
                self._sink.failed(error)
            now, jitter = self._clock.monotonic(), self._jitter()
            self._state, action = step(self._state, outcome, now=now, jitter=jitter)
            if error is not None and (isinstance(action, TakeList) or action.initial):
                self._sink.restarting(_reason(error))

    async def _list(self, action: TakeList) -> Outcome:
        objects: list[Cached] = []
        first = {"resourceVersion": action.rv, "limit": str(action.limit or "")}
        pages, rv = 0, ""
        async with aclosing(self._pages(first)) as found:
            try:
                async for page in found:
                    pages += 1
                    rv = page.metadata.resource_version or ""
                    self._sink.alive()
                    await self._read_items(page, objects)
            except DglopError as error:
                return ListFailed(error, action, continuing=pages > 0)
        if not rv:
            return ListFailed(ServerError(200, "NotAList", "the list has no resourceVersion"), action)
        await self._sink.replace(objects, rv)
        return Listed(rv, pages > 1)

    def _pages(self, query: dict[str, str]) -> AsyncGenerator[Page, None]:
        """The pages of a list; some are on their way while one is read."""

        async def ask(token: str, follow: Callable[[str], None]) -> Page:
            # The token says the version; both are refused.
            asked = {**query, "resourceVersion": "", "continue": token} if token else query
            return await self._page(asked, follow)

        return in_order(ask, ahead=_AHEAD)

    async def _page(self, query: dict[str, str], follow: Callable[[str], None]) -> Page:
        early = Early(follow)
        body = await self._client.raw(
            "GET",
            self._scope.path,
            query=self._scope.query(**query),
            accept=self._scope.accept("PartialObjectMetadataList"),
            timeout=_LIST_SECONDS,
            retry=False,
            on_start=early.look,
        )
        try:
            page = page_of(body)
        except msgspec.DecodeError as problem:
            raise _not_json(body, problem) from problem
        early.know(page.metadata.continue_ or "")
        return page

    async def _read_items(self, page: Page, objects: list[Cached]) -> None:
        like = objects[-1].meta if objects else Meta()
        for index, raw in enumerate(page.items or ()):
            if index % _CHUNK == _CHUNK - 1:
                await asyncio.sleep(0)  # others' turn: a page may be the whole list
            try:
                obj = self._kept(read_object(raw, self._scope.resource, like)[0])
            except msgspec.DecodeError as problem:
                raise _not_json(bytes(raw), problem) from problem
            objects.append(obj)
            like = obj.meta

    def _kept(self, obj: Cached) -> Cached:
        if self._scope.metadata_only:
            return PartialCached(obj.raw, obj.meta, obj.resource)
        return obj if self._scope.transform is None else transformed(obj, self._scope.transform)

    async def _watch(self, action: StreamAction) -> StreamEnded:
        progress = _Progress(
            action.rv,
            is_whole=not action.initial,
            started=self._clock.monotonic(),
            initial=action.initial,
        )
        try:
            with reminded(self._clock, _REMIND_SECONDS, lambda: progress.is_whole, self._sink.awaiting):
                async with aclosing(self._batches(action)) as batches:
                    async for lines in _bounded(batches, progress, self._limits.initial):
                        self._sink.alive()
                        await self._take(lines, progress)
        except DglopError as error:
            return progress.ended(self._clock.monotonic(), error)
        return progress.ended(self._clock.monotonic(), None)

    def _batches(self, action: StreamAction) -> Any:
        seconds = self._limits.watch * (1.0 + self._jitter())
        query = self._scope.query(
            watch="true",
            allowWatchBookmarks="true",
            timeoutSeconds=str(max(1, round(seconds))),
            resourceVersion=action.rv,
            sendInitialEvents="true" if action.initial else "",
            resourceVersionMatch="NotOlderThan" if action.initial else "",
        )
        return self._client.batches(
            self._scope.path,
            query=query,
            read_idle=seconds + self._limits.grace,
            accept=self._scope.accept("PartialObjectMetadata"),
        )

    async def _take(self, lines: Sequence[bytes], progress: _Progress) -> None:
        """Reads the events of some lines; what came before a bad line still counts."""
        events: list[tuple[str, Cached]] = []
        try:
            for line in lines:
                mark = self._read(line, progress, events)
                if mark is not None and _ends_initial(mark) and not progress.is_whole:
                    # Initial events come unordered, so only this version stands for all of them.
                    progress.rv, progress.is_whole = mark.resource_version or "", True
                    objects, progress.fresh = list(progress.fresh.values()), {}
                    await self._sink.replace(objects, progress.rv)
                elif mark is not None and progress.is_whole:
                    progress.rv = newer(progress.rv, mark.resource_version or "")
        finally:
            if events:
                await self._sink.events(events)

    def _read(self, line: bytes, progress: _Progress, events: list[tuple[str, Cached]]) -> Bookmark | None:
        """Reads one line into `events`, or into the state that is being gathered; gives a bookmark back."""
        try:
            found = read_line(line, self._scope.resource)
        except msgspec.DecodeError as problem:
            raise _not_json(line, problem) from problem
        if isinstance(found, Bookmark):
            progress.count += 1
            return found
        type_, obj, kind = found
        if kind not in ("", self._scope.resource.kind, "PartialObjectMetadata"):
            return None  # of another kind: an aggregated server's mistake, and none of ours
        progress.count += 1
        obj = self._kept(obj)
        if progress.is_whole:
            events.append((type_, obj))
            progress.rv = newer(progress.rv, obj.resource_version)
        elif type_ == "DELETED":
            progress.fresh.pop(obj.key, None)
        else:
            progress.fresh[obj.key] = obj
        return None


def _ends_initial(mark: Bookmark) -> bool:
    return (mark.annotations or {}).get(_INITIAL_END) == "true"


async def _bounded(
    batches: AsyncIterator[list[bytes]], progress: _Progress, seconds: float
) -> AsyncIterator[list[bytes]]:
    """`batches`, each within `seconds` for as long as initial events are awaited."""
    while True:
        try:
            async with asyncio.timeout(None if progress.is_whole else seconds):
                lines = await _next(batches)
        except TimeoutError as problem:
            raise NoInitialEndError(
                f"nothing came for {seconds:g} s and the initial events had not ended"
            ) from problem
        if lines is None:
            return
        yield lines


async def _next(batches: AsyncIterator[list[bytes]]) -> list[bytes] | None:
    return await anext(batches, None)


def _reason(error: DglopError) -> str:
    return error.reason if isinstance(error, ApiError) else type(error).__name__


def _not_json(body: bytes, problem: Exception) -> ServerError:
    text = " ".join(body[:200].decode("utf-8", "replace").split())
    return ServerError(200, "NotJSON", f"no Kubernetes object came: {problem}: {text}")
