# SPDX-License-Identifier: Apache-2.0
"""The Range header: one span of bytes, as a resumed transfer asks for."""

from __future__ import annotations

import re
from typing import Optional, Tuple

__all__ = ("NOT_SATISFIABLE", "Span", "parse_range")

Span = Tuple[int, int]  # first byte, byte after the last
NOT_SATISFIABLE: Span = (-1, -1)
_ONE = re.compile(r"bytes=([0-9]*)-([0-9]*)\Z")


def parse_range(header: Optional[str], size: int) -> Optional[Span]:
    """The span to send of a file of `size` bytes; None: the whole of it, with 200.

    A header that is no single range is ignored, as RFC 9110 allows; one that begins behind the end gives
    NOT_SATISFIABLE.
    """
    match = _ONE.match(header.strip()) if header else None
    if match is None:
        return None
    first, last = match.group(1), match.group(2)
    if not first and not last:
        return None
    if not first:
        length = min(int(last), size)
        return (size - length, size) if length else NOT_SATISFIABLE
    begin, end = int(first), size if not last else min(int(last) + 1, size)
    if last and int(last) < begin:
        return None
    return (begin, end) if begin < size else NOT_SATISFIABLE
