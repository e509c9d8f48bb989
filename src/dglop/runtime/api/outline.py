# SPDX-License-Identifier: Apache-2.0
"""JSON that is nested deeper than a decoder goes: what there is of it further out, found without recursion.

An API server takes ten thousand levels wherever a schema leaves fields open. Whoever may write one such
object must not be able to end a program that only looks at it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ("cut", "outline")

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
_OPENING, _CLOSING = frozenset(b"[{"), frozenset(b"]}")


def outline(data: bytes, deepest: int) -> bytes:
    """The JSON with null for each list and object that lies inside *deepest* others; linear in its size."""
    return cut(data, deepest)[0]


def cut(data: bytes, deepest: int) -> tuple[bytes, list[bytes]]:
    """The outline, and what it has null for, as it was written and in its order."""
    kept: list[bytes] = []
    parts: list[bytes] = []
    at = 0
    for begin, end in _spans(data, deepest):
        kept += (data[at:begin], b"null")
        parts.append(data[begin:end])
        at = end
    kept.append(data[at:])
    return b"".join(kept), parts


def _spans(data: bytes, outside: int) -> Iterator[tuple[int, int]]:
    depth = begin = 0
    for token in _TOKEN.finditer(data):
        character = data[token.start()]
        if character in _OPENING:
            if depth == outside:
                begin = token.start()
            depth += 1
        elif character in _CLOSING:
            depth -= 1
            if depth == outside:
                yield begin, token.end()
