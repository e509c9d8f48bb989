# SPDX-License-Identifier: Apache-2.0
"""The line between a trainer and a sampler: blocks of bytes, after each has proved that it knows the token.

What goes over it is pickled, and so runs code on the other side: nothing is read from who has proved nothing.
"""

from __future__ import annotations

import json
import secrets
import socket
import struct
import threading
from typing import Any, Dict

from ..wire import Gone, same_proof, sign

__all__ = ("Frames", "answer", "greet")

_HEAD = struct.Struct("!Q")
_GREETING = 1 << 12
_GREETING_SECONDS = 30.0


class Frames:
    """One connection. `send` may be called from several threads, `receive` from one."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, block: bytes) -> None:
        """Raises Gone."""
        try:
            with self._lock:
                self._connection.sendall(_HEAD.pack(len(block)))
                self._connection.sendall(block)
        except OSError as error:
            raise Gone(str(error) or type(error).__name__) from error

    def receive(self, longest: int = 1 << 40) -> bytes:
        """The next block. Raises Gone, also for one that is longer than `longest`."""
        size = _HEAD.unpack(self._exactly(_HEAD.size))[0]
        if size > longest:
            raise Gone("sent a block of %d bytes where %d are the most" % (size, longest))
        return self._exactly(size)

    def patience(self, seconds: float) -> None:
        """How long a read or write may take; 0: for ever."""
        self._connection.settimeout(seconds or None)

    def close(self) -> None:
        self._connection.close()

    def _exactly(self, size: int) -> bytes:
        block, got = bytearray(size), 0
        view = memoryview(block)
        while got < size:
            try:
                more = self._connection.recv_into(view[got:])
            except socket.timeout as error:
                raise Gone("silent", silent=True) from error
            except OSError as error:
                raise Gone(str(error) or type(error).__name__) from error
            if not more:
                raise Gone("closed the connection")
            got += more
        return bytes(block)


def greet(frames: Frames, token: str, rank: int) -> None:
    """The trainer's side. Raises Gone where the other does not know the token, or does not let this one in."""
    frames.patience(_GREETING_SECONDS)
    hello = _read(frames)
    who, nonce = {"rank": rank}, secrets.token_hex(16)
    nonces = str(hello.get("nonce")) + nonce
    _write(frames, {"nonce": nonce, "who": who, "proof": sign(token, "trainer", nonces, who)})
    if not same_proof(sign(token, "sampler", nonces, who), _read(frames).get("proof")):
        raise Gone("it does not know this job's token")
    frames.patience(0)


def answer(frames: Frames, token: str) -> int:
    """The sampler's side; the rank of the trainer. Raises Gone where it does not know the token."""
    frames.patience(_GREETING_SECONDS)
    nonce = secrets.token_hex(16)
    _write(frames, {"nonce": nonce})
    said = _read(frames)
    who, nonces = said.get("who"), nonce + str(said.get("nonce"))
    if not isinstance(who, dict) or not isinstance(who.get("rank"), int):
        raise Gone("it does not introduce itself")
    if not same_proof(sign(token, "trainer", nonces, who), said.get("proof")):
        raise Gone("it does not know this job's token")
    _write(frames, {"proof": sign(token, "sampler", nonces, who)})
    frames.patience(0)
    return int(who["rank"])


def _write(frames: Frames, message: Dict[str, Any]) -> None:
    frames.send(json.dumps(message).encode("utf-8"))


def _read(frames: Frames) -> Dict[str, Any]:
    try:
        message = json.loads(frames.receive(_GREETING).decode("utf-8"))
    except ValueError as error:
        raise Gone("it sent something else than a greeting") from error
    if not isinstance(message, dict):
        raise Gone("it sent something else than a greeting")
    return message
