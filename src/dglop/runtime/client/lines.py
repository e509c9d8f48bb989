# SPDX-License-Identifier: Apache-2.0
"""Cuts a byte stream into lines of any length."""

from __future__ import annotations

__all__ = ("LineSplitter",)


class LineSplitter:
    """Feeds on chunks and gives whole lines; what has no newline yet waits.

    The cost is linear in the bytes fed, however many chunks a line comes in.
    """

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, without their newlines; empty lines are left out."""
        if b"\n" not in chunk:
            self._parts.append(chunk)
            return []
        first, *rest = chunk.split(b"\n")
        self._parts.append(first)
        lines = [b"".join(self._parts), *rest[:-1]]
        self._parts = [rest[-1]] if rest[-1] else []
        return [line for line in lines if line.strip()]

    @property
    def pending(self) -> int:
        """How many bytes of an unfinished line wait."""
        return sum(map(len, self._parts))
