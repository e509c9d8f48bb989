# SPDX-License-Identifier: Apache-2.0
"""A server's certificate and key, read again when their files change."""

from __future__ import annotations

import asyncio
import os
import ssl
from functools import partial
from typing import TYPE_CHECKING

from dglop.errors import ConfigError
from dglop.runtime.clock import repeat

if TYPE_CHECKING:
    from pathlib import Path

    from dglop.runtime.clock import Clock
    from dglop.runtime.log import Log
    from dglop.runtime.metrics import Metrics

__all__ = ("CertWatcher", "server_context")

PERIOD_SECONDS = 10.0
CERT, KEY = "tls.crt", "tls.key"
_Stamp = tuple[tuple[int, int, int], ...]


def server_context(cert: Path, key: Path, client_ca: Path | None = None) -> ssl.SSLContext:
    """
    A server's TLS context; with *client_ca* for clients alone that show a certificate of that authority.

    Raises ConfigError, which names the files, if they are no pair, or no authority.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # With an empty password an encrypted key is an error; without one OpenSSL would ask a terminal.
        context.load_cert_chain(cert, key, password="")
    except (OSError, ValueError) as problem:  # ssl.SSLError is an OSError
        raise ConfigError(
            f"{cert} and {key} cannot be used as a server's certificate and key: {problem}"
        ) from problem
    if client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        # Who resumes a session is not asked for a certificate again, though the authority may be another now;
        # before TLS 1.3 there is no way to forbid it.
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.num_tickets = 0
        try:
            context.load_verify_locations(client_ca)
        except OSError as problem:
            raise ConfigError(f"{client_ca} cannot be used as clients' authority: {problem}") from problem
    return context


class CertWatcher:
    """
    The TLS context of a server whose files `tls.crt` and `tls.key` in *folder* may be replaced at any time.

    Guarantees: a connection that begins after a change was seen gets the new certificate, those that are
    open live on; a pair that cannot be used is told in the log once, and the last good one goes on; a key is
    never served with another certificate than its own, even while the files are being written. Also a
    Runnable, which looks every *period* seconds. With *client_ca*, a file that may be replaced too, clients
    need a certificate of that authority. Raises ConfigError if there is no usable pair at first.
    """

    name = "certificates"

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock,
        log: Log,
        metrics: Metrics,
        client_ca: Path | None = None,
        period: float = PERIOD_SECONDS,
    ) -> None:
        self._cert, self._key, self._client_ca = folder / CERT, folder / KEY, client_ca
        self._clock = clock
        self._log = log
        self._period = period
        self._reads = metrics.counter("certwatcher_read_certificate_total", "Certificates read")
        self._errors = metrics.counter(
            "certwatcher_read_certificate_errors_total", "Certificates that could not be read"
        )
        self._refused: _Stamp | None = None
        self._stamp = self._stamp_now()
        # The listener's context lives as long as the server; each handshake moves on to the current one.
        self._current = self._read()
        self.context: ssl.SSLContext = self._current
        self.context.sni_callback = self._choose

    def check(self) -> bool:
        """Read the files if they changed; True if from now on another pair is served."""
        stamp = self._stamp_now()
        if stamp == self._stamp:
            return False
        try:
            self._current = self._read()
        except ConfigError as error:
            if stamp != self._refused:
                self._log.error("Kept the old certificate", error=str(error))
            self._refused = stamp
            return False
        self._stamp, self._refused = stamp, None
        self._log.info("Took the new certificate", file=str(self._cert))
        return True

    async def run(self, stop: asyncio.Event) -> None:
        """Look for changes until *stop* is set."""
        await repeat(self._clock, self._period, partial(asyncio.to_thread, self.check), stop)

    def _read(self) -> ssl.SSLContext:
        self._reads.inc()
        try:
            return server_context(self._cert, self._key, self._client_ca)
        except ConfigError:
            self._errors.inc()
            raise

    def _stamp_now(self) -> _Stamp:
        return tuple(_stat(path) for path in (self._cert, self._key, self._client_ca) if path)

    def _choose(self, connection: ssl.SSLObject, _: str | None, __: ssl.SSLContext) -> None:
        # OpenSSL asks at every handshake, also where the client sends no server name.
        connection.context = self._current


def _stat(path: Path) -> tuple[int, int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116 - follows the links of a mounted Secret, one system call
    except OSError:
        return (0, 0, 0)
    return (found.st_ino, found.st_mtime_ns, found.st_size)
