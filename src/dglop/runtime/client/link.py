# SPDX-License-Identifier: Apache-2.0
"""One generation of connections: two pools that were built from one reading of the configuration."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from kubernetes.aio.client.rest import RESTClientObject

from dglop.errors import ConfigError
from dglop.runtime.client.sockets import keepalive_socket

if TYPE_CHECKING:
    from dglop.runtime.client.sources import Loaded

__all__ = ("Link", "stamp_of")

_REQUESTS = 64
_IDLE_SECONDS = 90.0
_BUFFER = 2**20


class _Rest(RESTClientObject):
    """The official transport with sockets that notice a dead peer (it takes no socket options)."""

    def _create_connector(self) -> aiohttp.TCPConnector:
        return aiohttp.TCPConnector(
            limit=self.maxsize,
            ssl=self.ssl_context,
            keepalive_timeout=_IDLE_SECONDS,
            socket_factory=keepalive_socket,
        )


class Link:
    """The pools for requests and for watches, and how many requests are under way on them.

    A watch holds its connection for minutes, so watches have a pool of their own, without a limit.
    A retired link closes when its last request is done.
    """

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.stamp: tuple[tuple[int, int, int], ...] = stamp_of(loaded)
        self.netloc: str = urlsplit(loaded.host).netloc
        self._users = 0
        self._retired = False
        configuration = loaded.configuration
        configuration.client_session_kwargs = {
            # Nothing may pile up from answer to answer, and the API server has no cookies.
            "cookie_jar": aiohttp.DummyCookieJar(),
            # It would read ~/.netrc and the environment's proxies in a thread for every request.
            "trust_env": False,
            "read_bufsize": _BUFFER,
        }
        try:
            self._rest, self._watch = _pool(configuration, _REQUESTS), _pool(configuration, 0)
        except (OSError, ValueError) as problem:  # ssl.SSLError is an OSError
            raise ConfigError(
                f"the TLS files {', '.join(loaded.files)} cannot be used: {problem}"
            ) from problem
        self.arguments: dict[str, Any] = _arguments(configuration, loaded.host)

    def session(self, *, watch: bool) -> aiohttp.ClientSession:
        pool = self._watch if watch else self._rest
        if pool.pool_manager is None:
            pool.pool_manager = pool._create_pool_manager()  # noqa: SLF001 - made lazily inside request() only
        session: aiohttp.ClientSession = pool.pool_manager
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
        await self._rest.close()
        await self._watch.close()


def stamp_of(loaded: Loaded) -> tuple[tuple[int, int, int], ...]:
    """What changes when a file does; a file that is missing for the moment counts as it is."""
    return tuple(_stat(path) for path in loaded.files)


def _stat(path: str) -> tuple[int, int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116 - one system call, on every few requests
    except OSError:
        return (0, 0, 0)
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def _environment_proxy(host: str) -> str | None:
    """The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY mean for `host`."""
    url = urlsplit(host)
    proxy = getproxies().get(url.scheme)
    return proxy if proxy and not proxy_bypass(url.hostname or "") else None


def _pool(configuration: Any, size: int) -> Any:
    configuration.connection_pool_maxsize = size
    return _Rest(configuration)


def _arguments(configuration: Any, host: str) -> dict[str, Any]:
    pairs = (
        ("server_hostname", configuration.tls_server_name),
        ("proxy", configuration.proxy or _environment_proxy(host)),
        ("proxy_headers", configuration.proxy_headers),
    )
    return {key: value for key, value in pairs if value}
