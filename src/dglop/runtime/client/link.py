# SPDX-License-Identifier: Apache-2.0
"""One generation of connections: two pools that were built from one reading of the configuration."""

from __future__ import annotations

import asyncio
import os
import ssl
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiohttp

from dglop.errors import ConfigError
from dglop.runtime.client.proxies import environment_proxy
from dglop.runtime.client.sockets import keepalive_socket

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import SimpleNamespace

    from dglop.runtime.client.endpoint import Endpoint, Loaded

    Resolved = Callable[[str, float], None]

__all__ = ("Link", "stamp_of")

_REQUESTS = 64
_IDLE_SECONDS = 90.0
_BUFFER = 2**20


class Link:
    """The pools for requests and for watches, and how many requests are under way on them.

    A watch holds its connection for minutes, so watches have a pool of their own, without a limit.
    A retired link closes when its last request is done. `resolved` is told of each host name that was asked
    for, and of the seconds that took.
    """

    def __init__(self, loaded: Loaded, *, resolved: Resolved | None = None) -> None:
        self.loaded = loaded
        self._resolved = resolved
        self.stamp: tuple[tuple[int, int, int], ...] = stamp_of(loaded)
        self.netloc: str = urlsplit(loaded.host).netloc
        self._users = 0
        self._retired = False
        try:
            # Once for both pools: reading the system's authorities takes an eighth of a second.
            self._tls = _tls(loaded)
        except (OSError, ValueError) as problem:  # ssl.SSLError is an OSError
            raise ConfigError(
                f"the TLS files {', '.join(loaded.files)} cannot be used: {problem}"
            ) from problem
        self._sessions: dict[bool, aiohttp.ClientSession] = {}
        self.arguments: dict[str, Any] = _arguments(loaded.endpoint)

    def session(self, *, watch: bool) -> aiohttp.ClientSession:
        session = self._sessions.get(watch)
        if session is None:  # made late: it belongs to the loop that uses it
            session = self._sessions[watch] = _session(self._tls, 0 if watch else _REQUESTS, self._resolved)
        return session

    def enter(self) -> None:
        self._users += 1

    async def leave(self) -> None:
        self._users -= 1
        if self._retired and self._users == 0:
            await self.close()

    async def retire(self) -> None:
        self._retired = True
        if self._users == 0:
            await self.close()

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()


def stamp_of(loaded: Loaded) -> tuple[tuple[int, int, int], ...]:
    """What changes when a file does; a file that is missing for the moment counts as it is."""
    return tuple(_stat(path) for path in loaded.files)


def _stat(path: str) -> tuple[int, int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116 - one system call, on every few requests
    except OSError:
        return (0, 0, 0)
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def _tls(loaded: Loaded) -> ssl.SSLContext | None:
    """How connections are secured; None where the host's URL says that they are not."""
    endpoint = loaded.endpoint
    if urlsplit(endpoint.host).scheme != "https":
        return None
    context = ssl.create_default_context(cafile=endpoint.ca_file)
    if endpoint.cert_file:
        context.load_cert_chain(endpoint.cert_file, keyfile=endpoint.key_file)
    if not endpoint.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if not loaded.strict:
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _session(tls: ssl.SSLContext | None, limit: int, resolved: Resolved | None) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(
        limit=limit,
        ssl=tls or True,
        keepalive_timeout=_IDLE_SECONDS,
        socket_factory=keepalive_socket,
    )
    return aiohttp.ClientSession(
        connector=connector,
        # Nothing may pile up from answer to answer, and the API server has no cookies.
        cookie_jar=aiohttp.DummyCookieJar(),
        # It would read ~/.netrc and the environment's proxies in a thread for every request.
        trust_env=False,
        read_bufsize=_BUFFER,
        trace_configs=[] if resolved is None else [_timed_names(resolved)],
    )


def _timed_names(resolved: Resolved) -> aiohttp.TraceConfig:
    """Tells how long each host name took to become an address; what is known, or is one, is not asked for."""
    loop = asyncio.get_running_loop()

    async def begin(_: object, trace: SimpleNamespace, __: object) -> None:
        trace.began = loop.time()

    async def end(_: object, trace: SimpleNamespace, params: aiohttp.TraceDnsResolveHostEndParams) -> None:
        resolved(params.host, loop.time() - trace.began)

    config = aiohttp.TraceConfig()
    config.on_dns_resolvehost_start.append(begin)
    config.on_dns_resolvehost_end.append(end)
    return config


def _arguments(endpoint: Endpoint) -> dict[str, Any]:
    pairs = (
        ("server_hostname", endpoint.server_name),
        ("proxy", endpoint.proxy or environment_proxy(endpoint.host)),
    )
    return {key: value for key, value in pairs if value}
