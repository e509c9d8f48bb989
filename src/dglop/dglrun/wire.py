# SPDX-License-Identifier: Apache-2.0
"""JSON lines between the supervisors over TCP, and how two of them prove that they know the job's token."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import socket
import threading
import time
from typing import Any, Dict, Mapping, Optional

__all__ = ("Channel", "Gone", "same_proof", "sign")

_LONGEST = 1 << 16


class Gone(Exception):  # noqa: N818
    """The other side closed the connection, broke it, sent nonsense or was silent for too long."""

    def __init__(self, why: str, *, silent: bool = False) -> None:
        super().__init__(why)
        self.silent = silent


class Channel:
    """One connection. `send` may be called from several threads, `receive` from one."""

    def __init__(self, connection: socket.socket, lost_after: float) -> None:
        """`lost_after`: seconds without a word from the other side after which it counts as gone."""
        connection.settimeout(lost_after)
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = connection
        self._lost_after = lost_after
        self._lock = threading.Lock()
        self._buffer = b""
        self.heard: float = time.monotonic()

    def send(self, message: Mapping[str, Any]) -> None:
        """Raises Gone."""
        data = (json.dumps(message) + "\n").encode("utf-8")
        try:
            with self._lock:
                self._connection.sendall(data)
        except OSError as error:
            raise Gone(str(error) or type(error).__name__) from error

    def receive(self) -> Dict[str, Any]:
        """The next message. Raises Gone."""
        while b"\n" not in self._buffer:
            try:
                more = self._connection.recv(_LONGEST)
            except socket.timeout as error:
                raise Gone("silent for %g s" % self._lost_after, silent=True) from error
            except OSError as error:
                raise Gone(str(error) or type(error).__name__) from error
            if not more:
                raise Gone("closed the connection")
            self.heard = time.monotonic()
            self._buffer += more
            if len(self._buffer) > _LONGEST:
                raise Gone("sent a line longer than %d bytes" % _LONGEST)
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            message = json.loads(line.decode("utf-8"))
        except ValueError as error:
            raise Gone("sent something else than JSON") from error
        if not isinstance(message, dict) or not isinstance(message.get("t"), str):
            raise Gone("sent something else than a message of dglrun")
        return message

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)  # wakes a thread that reads
        self._connection.close()


def sign(token: Optional[str], role: str, nonces: str, who: Mapping[str, Any]) -> str:
    """Proof that its maker knows `token`: bound to both sides' nonces, so that it cannot be replayed.

    Without a token there is nothing to prove, and the proof is empty.
    """
    if token is None:
        return ""
    text = json.dumps([role, nonces, dict(who)], sort_keys=True)
    return hmac.new(token.encode("utf-8"), text.encode("utf-8"), hashlib.sha256).hexdigest()


def same_proof(one: str, other: Any) -> bool:
    return isinstance(other, str) and hmac.compare_digest(one.encode("utf-8"), other.encode("utf-8"))
