# SPDX-License-Identifier: Apache-2.0
"""A WebSocket over a socket that never blocks: frames in, frames out, in one thread."""

from __future__ import annotations

import os
import select
import ssl
import struct
import time
from typing import Any, List, Optional, Sequence, Tuple

__all__ = ("Broken", "WebSocket")

BINARY, CLOSE, PING, PONG = 2, 8, 9, 10
_BLOCK = 1 << 16
_LARGEST = 1 << 24
_PING_SECONDS = 20.0
_SILENCE_SECONDS = 60.0


class Broken(Exception):  # noqa: N818
    """The connection ended, or nothing more comes over it: what was under way may be tried again."""


class WebSocket:
    """
    Messages over a socket whose handshake is done; not to be shared by threads.

    Both directions go on at the same time: a peer that sends while we do never waits for us in vain. A peer
    that answers no ping for a minute counts as gone.
    """

    def __init__(self, sock: Any, begun: bytes = b"") -> None:
        """`begun` is what was read after the handshake already."""
        sock.setblocking(False)
        self._sock = sock
        self._inbox = bytearray(begun)
        self._outbox = bytearray()
        self._message = bytearray()
        self._heard = self._pinged = time.monotonic()
        self.is_closed: bool = False

    @property
    def outstanding(self) -> int:
        """Bytes that wait to be sent; whoever has much to send waits until there are few."""
        return len(self._outbox)

    def queue(self, payload: bytes, opcode: int = BINARY) -> None:
        """Have one message sent by the next pumps."""
        size, key = len(payload), os.urandom(4)
        head = bytearray((0x80 | opcode,))
        if size < 126:
            head.append(0x80 | size)
        elif size < 1 << 16:
            head += struct.pack(">BH", 0x80 | 126, size)
        else:
            head += struct.pack(">BQ", 0x80 | 127, size)
        self._outbox += head + key + _masked(payload, key)

    def pump(self, readers: Sequence[Any] = (), timeout: float = 1.0) -> Tuple[List[bytes], List[Any]]:
        """Send and receive what can be now; the messages that came, and those `readers` that can be read.

        Waits `timeout` seconds at most where there is neither. Raises Broken.
        """
        self._check_silence()
        messages = self._parse()
        wait = 0.0 if messages or self._pending() else timeout
        writers = [self._sock] if self._outbox else []
        readable, writable, _ = select.select([self._sock, *readers], writers, [], wait)
        if writable:
            self._send()
        if (self._sock in readable or self._pending()) and not self.is_closed:
            self._receive()
            messages += self._parse()
        return messages, [each for each in readable if each is not self._sock]

    def close(self) -> None:
        self._sock.close()

    def _check_silence(self) -> None:
        now = time.monotonic()
        if now - self._heard > _SILENCE_SECONDS:
            raise Broken("the API server has been silent for %d s" % _SILENCE_SECONDS)
        if now - self._pinged > _PING_SECONDS:
            self._pinged = now
            self.queue(b"", PING)

    def _pending(self) -> bool:
        return isinstance(self._sock, ssl.SSLSocket) and self._sock.pending() > 0

    def _send(self) -> None:
        try:
            sent = self._sock.send(self._outbox[:_BLOCK])
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return
        except OSError as error:
            raise Broken("the connection to the API server broke: %s" % error) from error
        del self._outbox[:sent]

    def _receive(self) -> None:
        try:
            block = self._sock.recv(_BLOCK)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return
        except OSError as error:
            raise Broken("the connection to the API server broke: %s" % error) from error
        self._heard = time.monotonic()
        self._inbox += block
        if not block:
            self.is_closed = True

    def _parse(self) -> List[bytes]:
        messages: List[bytes] = []
        while True:
            frame = self._frame()
            if frame is None:
                return messages
            final, opcode, payload = frame
            if opcode == CLOSE:
                self.is_closed = True
            elif opcode == PING:
                self.queue(payload, PONG)
            elif opcode != PONG:
                self._message += payload
                if final:
                    messages.append(bytes(self._message))
                    self._message.clear()

    def _frame(self) -> Optional[Tuple[bool, int, bytes]]:
        """The next whole frame, taken out of the inbox."""
        inbox = self._inbox
        if len(inbox) < 2:
            return None
        size, start = inbox[1] & 0x7F, 2
        if size >= 126:
            start = 4 if size == 126 else 10
            if len(inbox) < start:
                return None
            size = int.from_bytes(inbox[2:start], "big")
        if inbox[1] & 0x80 or size > _LARGEST:
            raise Broken("what came from the API server is no frame of a WebSocket server")
        if len(inbox) < start + size:
            return None
        frame = bool(inbox[0] & 0x80), inbox[0] & 0x0F, bytes(inbox[start : start + size])
        del inbox[: start + size]
        return frame


def _masked(payload: bytes, key: bytes) -> bytes:
    """Each byte with its byte of the key, as one large number, which is some hundred times faster."""
    size = len(payload)
    keys = (key * (size // 4 + 1))[:size]
    number = int.from_bytes(payload, "little") ^ int.from_bytes(keys, "little")
    return number.to_bytes(size, "little")
