# SPDX-License-Identifier: Apache-2.0
"""Edges between parts are in two of them: with the part where they end, and as a copy where they begin."""

from __future__ import annotations

from typing import TYPE_CHECKING, List

if TYPE_CHECKING:
    from ..inputs.source import Array
    from .findings import Findings

__all__ = ("Crossing",)


class Crossing:
    """Compares both without keeping either: by number, and by a sum that depends on every edge."""

    def __init__(self, parts: int) -> None:
        self._expected: List[List[int]] = [[0, 0] for _ in range(parts)]
        self._found: List[List[int]] = [[0, 0] for _ in range(parts)]

    def expect(self, part: int, edges: Array) -> None:
        """Edges (rows of id, source, destination) that end elsewhere and begin in `part`."""
        _count(self._expected[part], edges)

    def find(self, part: int, edges: Array) -> None:
        """Copies that `part` has."""
        _count(self._found[part], edges)

    def end(self, findings: Findings) -> None:
        """After all parts."""
        for part, (expected, found) in enumerate(zip(self._expected, self._found)):
            findings.check(
                expected == found,
                "part %d: of its nodes' edges into other parts it has %d as copies, there are %d%s"
                % (part, found[0], expected[0], ", others" if expected[0] == found[0] else ""),
            )


def _count(sums: List[int], edges: Array) -> None:
    import numpy as np  # noqa: PLC0415

    mixed = np.zeros(len(edges), np.uint64)
    for column in range(3):
        mixed = (mixed ^ edges[:, column].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(31)
    sums[0] += len(edges)
    sums[1] = (sums[1] + int(mixed.sum(dtype=np.uint64))) % 2**64
