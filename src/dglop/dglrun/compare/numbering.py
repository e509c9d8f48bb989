# SPDX-License-Identifier: Apache-2.0
"""The ranges of ids in a partition config: of each type in each part, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Tuple

if TYPE_CHECKING:
    from ..inputs.source import Array
    from .findings import Findings

__all__ = ("Numbering",)


class Numbering:
    """Parts follow each other, and in each part the types do, in the order of their numbers."""

    def __init__(self, ranges: Mapping[str, Any], numbers: Mapping[str, int], parts: int) -> None:
        """Raises ValueError, KeyError or TypeError for what are no ranges."""
        import numpy as np  # noqa: PLC0415

        self.types: List[str] = sorted(numbers, key=lambda name: numbers[name])
        self.parts = parts
        if sorted(numbers.values()) != list(range(len(numbers))) or sorted(ranges) != sorted(numbers):
            raise ValueError("types %s are numbered %s" % (sorted(ranges), dict(numbers)))
        table = np.array([ranges[name] for name in self.types], np.int64)
        if table.shape != (len(self.types), parts, 2):
            raise ValueError("there are not %d ranges of each type" % parts)
        self._table: Array = table.transpose(1, 0, 2).reshape(-1, 2)
        self._begins: Array = self._table[:, 0]
        lengths = np.maximum(self._table[:, 1] - self._begins, 0).reshape(parts, len(self.types))
        self._offsets: Array = (np.cumsum(lengths, axis=0) - lengths).reshape(-1)
        self.lengths: Array = lengths

    @property
    def total(self) -> int:
        return int(self._table[-1, 1])

    def check(self, findings: Findings, what: str, counts: Mapping[str, int]) -> bool:
        """Whether the ranges are without gap, and as long as there are nodes or edges of each type."""
        import numpy as np  # noqa: PLC0415

        ends = np.concatenate([[0], self._table[:, 1]])
        fine = findings.check(
            (self._begins == ends[:-1]).all() and (self._table[:, 1] >= self._begins).all(),
            "the ranges of %s_map do not follow each other" % what,
        )
        found: Dict[str, int] = {
            name: int(self.lengths[:, kind].sum()) for kind, name in enumerate(self.types)
        }
        return (
            findings.check(found == dict(counts), "%s_map has %s, the input %s" % (what, found, dict(counts)))
            and fine
        )

    def range_of(self, part: int) -> Tuple[int, int]:
        """The ids of a part, of all types."""
        rows = self._table[part * len(self.types) : (part + 1) * len(self.types)]
        return int(rows[0, 0]), int(rows[-1, 1])

    def range_of_type(self, part: int, kind: int) -> Tuple[int, int]:
        begin, end = self._table[part * len(self.types) + kind]
        return int(begin), int(end)

    def rows_of(self, ids: Array) -> Array:
        """The range that each id lies in."""
        import numpy as np  # noqa: PLC0415

        # an empty range begins where the next one does, and holds nothing
        return np.searchsorted(self._begins, ids, side="right") - 1

    def types_of(self, ids: Array) -> Array:
        return self.rows_of(ids) % len(self.types)

    def parts_of(self, ids: Array) -> Array:
        return self.rows_of(ids) // len(self.types)

    def places_of(self, ids: Array) -> Array:
        """Which one of its type each id is, over all parts."""
        rows = self.rows_of(ids)
        return ids - self._begins[rows] + self._offsets[rows]
