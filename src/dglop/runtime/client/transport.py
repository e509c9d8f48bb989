# SPDX-License-Identifier: Apache-2.0
"""Sends requests: connections, credentials and their renewal; knows nothing of objects."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import aiohttp
from yarl import URL

from dglop.errors import ConfigError
from dglop.runtime.client.answers import error_of_answer
from dglop.runtime.client.bodies import leave, read_shown, start_of
from dglop.runtime.client.failures import mapped
from dglop.runtime.client.lines import LineSplitter
from dglop.runtime.client.link import Link, stamp_of
from dglop.runtime.client.sources import load
from dglop.runtime.client.warnings import WarningLog, warnings_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping

    from dglop.errors import ApiError
    from dglop.runtime.client.config import ClientConfig
    from dglop.runtime.client.metrics import ClientMetrics
    from dglop.runtime.clock import Clock
    from dglop.runtime.log import Log

__all__ = ("Call", "Transport")

_CONNECT_SECONDS = 15.0
_SILENT_SECONDS = 65.0
"""The API server ends a request after a minute: who sends nothing for longer is not there any more."""
_UNAUTHORIZED = 401
_EXPIRY_MARGIN = timedelta(seconds=30)
_RENEWAL_SECONDS = 10.0  # a credential plugin is a process: not one for every request


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP request, relative to the API server."""

    method: str
    path: str
    query: Mapping[str, str] | None = None
    body: bytes | None = None
    content_type: str = "application/json"
    accept: str = "application/json"
    verb: str = ""
    action: str = ""
    """What is done, where the method leaves it open: list, apply, deletecollection."""
    on_warning: Callable[[str], object] | None = None
    """Called with each warning in the answer, beside what the client does with it."""
    on_start: Callable[[bytes], bool] | None = None
    """Called with what has come of a good answer's body, as it grows, until it has seen enough."""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Transport:
    """Owns the links to one API server, from `open` to `close`, inside one event loop."""

    def __init__(
        self,
        config: ClientConfig,
        user_agent: str,
        clock: Clock,
        metrics: ClientMetrics | None,
        log: Log,
        *,
        on_warning: Callable[[str], object] | None = None,
    ) -> None:
        self._config = config
        self._clock = clock
        self._metrics = metrics
        encoding = "gzip" if config.gzip else "identity"
        self._headers = {"User-Agent": user_agent, "Accept-Encoding": encoding}
        self._log = log
        self._on_warning = on_warning or WarningLog(self._log)
        self._reload = asyncio.Lock()
        self._readings = 0
        self._renewed_at = -_RENEWAL_SECONDS
        self._checked_at = 0.0
        self._link: Link | None = None

    async def open(self) -> None:
        """Reads the configuration; nothing is sent yet. Raises ConfigError."""
        self._link = await self._make_link()
        # Whoever turns to another cluster with kubectl meanwhile does not mean this program.
        self._config = replace(self._config, context=self._link.loaded.context or self._config.context)
        self._checked_at = self._clock.monotonic()

    async def _make_link(self) -> Link:
        return Link(
            await load(self._config, monotonic=self._clock.monotonic),
            resolved=None if self._metrics is None else self._resolved,
        )

    async def close(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    @property
    def link(self) -> Link:
        if self._link is None:
            raise ConfigError("the client is closed; use it inside `async with await Client.connect()`")
        return self._link

    async def request(self, call: Call, *, timeout: float) -> bytes:  # noqa: ASYNC109 - aiohttp's own limit
        """The body of a 2xx answer. Raises ApiError."""
        async with self._answer(
            call,
            aiohttp.ClientTimeout(timeout, sock_connect=_CONNECT_SECONDS, sock_read=_SILENT_SECONDS),
        ) as answer:
            return await (answer.read() if call.on_start is None else read_shown(answer, call.on_start))

    async def lines(self, call: Call, *, read_idle: float) -> AsyncGenerator[list[bytes], None]:
        """Batches of whole lines of a 2xx answer, as they come.

        Ends where the server ends it; an unfinished last line is dropped. Raises ApiTimeoutError
        after `read_idle` seconds without a byte. Closing the generator closes the connection.
        """
        limits = aiohttp.ClientTimeout(None, sock_connect=_CONNECT_SECONDS, sock_read=read_idle)
        splitter = LineSplitter()
        async with self._answer(call, limits, watch=True) as answer:
            while chunk := await answer.content.readany():
                if lines := splitter.feed(chunk):
                    yield lines

    @asynccontextmanager
    async def _answer(
        self, call: Call, limits: aiohttp.ClientTimeout, *, watch: bool = False
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A 2xx answer; errors of the transport while its body is read are mapped too."""
        async with self._attempt(await self._fresh(), call, limits, watch=watch) as first:
            if not isinstance(first, _Refused):
                yield first
                return
        link = await self._renewed(first)
        if link is None:
            raise first.error
        async with self._attempt(link, call, limits, watch=watch) as second:
            if isinstance(second, _Refused):
                raise second.error
            yield second

    @asynccontextmanager
    async def _attempt(
        self, link: Link, call: Call, limits: aiohttp.ClientTimeout, *, watch: bool
    ) -> AsyncIterator[aiohttp.ClientResponse | _Refused]:
        """One exchange: a 2xx answer, or that the credentials were refused; other answers raise."""
        link.enter()
        authorization = link.loaded.authorization()
        try:
            with mapped(call, connect_seconds=_CONNECT_SECONDS):
                answer = await self._send(link, call, limits, authorization, watch=watch)
                try:
                    for text in warnings_of(answer.headers.getall("Warning", ())):
                        self._on_warning(text)
                        if call.on_warning is not None:
                            call.on_warning(text)
                    if 200 <= answer.status < 300:
                        yield answer
                        return
                    error = error_of_answer(answer.status, await start_of(answer), answer.headers)
                finally:
                    self._received(link, call, answer)
                    leave(answer)
            if answer.status != _UNAUTHORIZED:
                raise error
            yield _Refused(link, authorization, error)
        finally:
            await link.leave()

    async def _send(
        self,
        link: Link,
        call: Call,
        limits: aiohttp.ClientTimeout,
        authorization: str | None,
        *,
        watch: bool,
    ) -> aiohttp.ClientResponse:
        headers = [*self._headers.items(), ("Accept", call.accept), *link.loaded.endpoint.impersonation]
        if authorization:
            headers.append(("Authorization", authorization))
        if call.body is not None:
            headers.append(("Content-Type", call.content_type))
        started, code = self._clock.monotonic(), "<error>"
        try:
            answer = await link.session(watch=watch).request(
                call.method,
                _url(link.loaded.host, call),
                data=call.body,
                headers=headers,
                timeout=limits,
                allow_redirects=False,
                **link.arguments,
            )
            code = str(answer.status)
            return answer
        finally:
            if self._metrics is not None:
                self._metrics.request(
                    method=call.method,
                    host=link.netloc,
                    code=code,
                    seconds=self._clock.monotonic() - started,
                    verb=call.verb or call.method,
                    sent=len(call.body or b""),
                )

    def _received(self, link: Link, call: Call, answer: aiohttp.ClientResponse) -> None:
        if self._metrics is not None:
            # What came, and not what the head announced: most answers come in chunks and announce nothing.
            size = answer.content.total_bytes
            self._metrics.received(verb=call.verb or call.method, host=link.netloc, size=size)

    def _resolved(self, host: str, seconds: float) -> None:
        if self._metrics is not None:
            self._metrics.resolved(host=host, seconds=seconds)

    async def _fresh(self) -> Link:
        """The link to use now: a new one if credentials ran out or a certificate file changed."""
        link, now = self.link, self._clock.monotonic()
        if link.loaded.is_expired(self._clock.now() + _EXPIRY_MARGIN) and self._may_renew(now):
            return await self._relinked(link)
        if now - self._checked_at >= self._config.files_recheck_seconds:
            self._checked_at = now
            if stamp_of(link.loaded) != link.stamp:
                return await self._relinked(link)
        return link

    async def _renewed(self, refused: _Refused) -> Link | None:
        """A link with other credentials than those that were refused, or None if there are none."""
        link = self.link
        if link.loaded.token_file is not None:
            link.loaded.token_file.reread()
        elif link is refused.link and self._may_renew(self._clock.monotonic()):
            link = await self._relinked(link)
        changed = link.loaded.authorization() != refused.authorization or link.stamp != refused.link.stamp
        return link if changed else None

    def _may_renew(self, now: float) -> bool:
        """
        Whether credentials may be read anew; whoever needs them while they are just being read waits.

        A clock that is wrong, or a plugin that always fails, would have a process run for every request.
        """
        if self._reload.locked():
            return True
        if now - self._renewed_at < _RENEWAL_SECONDS:
            return False
        self._renewed_at = now
        return True

    async def _relinked(self, old: Link) -> Link:
        readings = self._readings
        async with self._reload:
            if self.link is not old or self._readings != readings:
                return self.link  # another request did it meanwhile, or tried to
            self._readings += 1
            try:
                new = await self._make_link()
            except ConfigError as problem:
                # Files are often half written while they are rotated: what worked so far goes on.
                self._log.warning("Kept the old API server credentials", problem=str(problem))
                return old
            self._link = new
        self._log.info("Reloaded API server credentials", host=new.netloc)
        await old.retire()
        return new


@dataclass(frozen=True, slots=True)
class _Refused:
    """A 401, and what it was the answer to."""

    link: Link
    authorization: str | None
    error: ApiError


def _url(host: str, call: Call) -> URL:
    url = host + quote(call.path, safe="/:@")
    if call.query:
        url += "?" + urlencode(call.query, quote_via=quote)
    return URL(url, encoded=True)
