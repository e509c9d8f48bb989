# SPDX-License-Identifier: Apache-2.0
"""Reads the bodies of answers, whole or in part, and leaves them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiohttp

__all__ = ("leave", "read_shown", "start_of")

_ERROR_BODY = 64 * 1024


def leave(answer: aiohttp.ClientResponse) -> None:
    """Ends an answer; one that was read to its end has given its connection back already.

    Another's connection is dropped at once: closing it politely would wait for the server's part of the
    TLS shutdown, outside the session's books, and outlive the client.
    """
    connection = answer.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()
    answer.close()


async def start_of(answer: aiohttp.ClientResponse) -> bytes:
    """As much of the body as an error is read from."""
    body = b""
    while len(body) < _ERROR_BODY and (chunk := await answer.content.read(_ERROR_BODY - len(body))):
        body += chunk
    return body


async def read_shown(answer: aiohttp.ClientResponse, show: Callable[[bytes], bool]) -> bytes:
    """The whole body; `show` gets what has come of it, as it grows, until it returns True."""
    parts: list[bytes] = []
    has_seen = False
    while chunk := await answer.content.readany():
        parts.append(chunk)
        has_seen = has_seen or show(b"".join(parts))
    return b"".join(parts)
