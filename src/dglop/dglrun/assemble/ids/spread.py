# SPDX-License-Identifier: Apache-2.0
"""`random`: parts of equal size without any look at the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...inputs.source import Array
    from ..plan import Plan

__all__ = ("spread",)


def spread(plan: Plan, seed: int = 0) -> Array:
    """Of as many successive nodes as there are parts each goes to another part, drawn by lot.

    The lot depends on the seed and the node's number only: any number of processes draws the same.
    """
    import numpy as np  # noqa: PLC0415

    parts = plan.num_parts
    low, high = plan.nodes.of(plan.mesh.rank)
    first = low // parts
    rows = np.arange(first, -(-high // parts), dtype=np.uint64)
    cells = rows[:, None] * np.uint64(parts) + np.arange(parts, dtype=np.uint64)
    lots = np.argsort(_mixed(cells, seed), axis=1, kind="stable").reshape(-1)
    return lots[low - first * parts : high - first * parts].astype(np.int64)


def _mixed(numbers: Array, seed: int) -> Array:
    """A well mixed word of 64 bits for each number (the finaliser of splitmix64)."""
    import numpy as np  # noqa: PLC0415

    words = numbers * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed * 0x632BE59BD9B4E019 % (1 << 64))
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
