# SPDX-License-Identifier: Apache-2.0
"""One row of numbers over all types: which process reads which of the nodes and edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, List, Mapping, Tuple

if TYPE_CHECKING:
    from ..inputs.source import Array

__all__ = ("Shares", "chunks_of")


class Shares:
    """The ids of all types one after another, cut into `size` shares of equal length.

    `starts[i]` is the first number of the i-th type, `bounds[r]` the first of the r-th share.
    """

    def __init__(self, counts: Mapping[Any, int], size: int) -> None:
        import numpy as np  # noqa: PLC0415

        self.types: List[Any] = sorted(counts)
        sizes = np.array([counts[each] for each in self.types], np.int64)
        self.starts: Array = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.total: int = int(self.starts[-1])
        self.bounds: Array = np.arange(size + 1, dtype=np.int64) * self.total // size

    def of(self, rank: int) -> Tuple[int, int]:
        return int(self.bounds[rank]), int(self.bounds[rank + 1])

    def pieces(self, rank: int) -> Iterator[Tuple[int, int, int]]:
        """(type's index, lo, hi): the ids within each type that are in the share; also empty ones."""
        low, high = self.of(rank)
        for index in range(len(self.types)):
            first, last = int(self.starts[index]), int(self.starts[index + 1])
            begin = max(low, first)
            yield index, begin - first, max(begin, min(high, last)) - first

    def types_of(self, numbers: Array) -> Array:
        """The index of each number's type."""
        import numpy as np  # noqa: PLC0415

        return np.searchsorted(self.starts, numbers, side="right") - 1


def chunks_of(lo: int, hi: int, step: int) -> Iterator[Tuple[int, int]]:
    """Lo to hi in pieces of at most `step`."""
    for begin in range(lo, hi, step):
        yield begin, min(begin + step, hi)
