# SPDX-License-Identifier: Apache-2.0
"""Which bytes of a text file hold which lines, known from the number of line ends in each block of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, List, Sequence, Tuple

from ..ending import config_refusal
from .source import ALONE

if TYPE_CHECKING:
    from .source import Alone, Array

__all__ = ("Lines", "count_lines")

BLOCK = 1 << 20
_MOST_BLOCKS = 1 << 14  # a longer file has longer blocks


class Lines:
    """The lines of a file from the byte `begin` on; blank ones at its end do not count.

    Nothing can be found in it before `count_lines`.
    """

    def __init__(self, path: str, begin: int = 0, block: int = BLOCK) -> None:
        """Raises Refusal (ConfigInvalid) for a file that cannot be read."""
        self.path = path
        self.begin = begin
        try:
            self.end: int = max(begin, _text_end(path))
        except OSError as error:
            raise config_refusal("cannot read %s: %s" % (path, error.strerror or error)) from error
        self._block = max(block, -(-(self.end - begin) // _MOST_BLOCKS))
        self._ends: Array = None

    @property
    def blocks(self) -> int:
        return -(-(self.end - self.begin) // self._block)

    @property
    def rows(self) -> int:
        return 0 if self.end == self.begin else int(self._ends[-1]) + 1

    def line_ends(self, block: int) -> int:
        """How many lines end in a block."""
        return self._bytes(*self._span(block)).count(b"\n")

    def know(self, ends: Sequence[int]) -> None:
        """Take what `line_ends` said of each block."""
        import numpy as np  # noqa: PLC0415

        self._ends = np.concatenate([[0], np.cumsum(np.asarray(ends, np.int64))]).astype(np.int64)

    def read(self, lo: int, hi: int) -> bytes:
        """The lines lo to hi-1."""
        return self._bytes(self.offset(lo), self.offset(hi)) if lo < hi else b""

    def offset(self, line: int) -> int:
        """The byte where a line begins; that after the last one is the end."""
        import numpy as np  # noqa: PLC0415

        if line == 0:
            return self.begin
        if line >= self.rows:
            return self.end
        block = int(np.searchsorted(self._ends, line, side="left")) - 1
        begin, end = self._span(block)
        ends = np.flatnonzero(np.frombuffer(self._bytes(begin, end), np.uint8) == 10)
        return begin + int(ends[line - 1 - int(self._ends[block])]) + 1

    def _span(self, block: int) -> Tuple[int, int]:
        begin = self.begin + block * self._block
        return begin, min(begin + self._block, self.end)

    def _bytes(self, begin: int, end: int) -> bytes:
        try:
            with open(self.path, "rb") as file:
                file.seek(begin)
                found = file.read(end - begin)
        except OSError as error:
            raise config_refusal("cannot read %s: %s" % (self.path, error.strerror or error)) from error
        if len(found) < end - begin:
            raise config_refusal(
                "%s became shorter while it was read: bring it whole, then start the job" % self.path
            )
        return found


def count_lines(files: Sequence[Lines], peers: Alone = ALONE) -> None:
    """Let every file know its blocks; processes that are not alone count a share each."""
    blocks = [(number, block) for number, file in enumerate(files) for block in range(file.blocks)]
    lo, hi = len(blocks) * peers.rank // peers.size, len(blocks) * (peers.rank + 1) // peers.size
    told: List[Any] = peers.share([files[number].line_ends(block) for number, block in blocks[lo:hi]])
    ends = [count for each in told for count in each]
    for file in files:
        file.know(ends[: file.blocks])
        ends = ends[file.blocks :]


def _text_end(path: str) -> int:
    """Where the last line that is not blank ends, without what ends it."""
    with open(path, "rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            begin = max(0, end - 4096)
            file.seek(begin)
            kept = file.read(end - begin).rstrip(b"\r\n\t ")
            if kept:
                return begin + len(kept)
            end = begin
    return 0
