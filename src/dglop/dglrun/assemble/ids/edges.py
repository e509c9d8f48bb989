# SPDX-License-Identifier: Apache-2.0
"""The edges as a partitioner wants them: without direction and loops; gathered ones also only once."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional, Tuple

from ..directory import routed

if TYPE_CHECKING:
    from ...inputs.source import Array
    from ..plan import Plan

__all__ = ("gathered_edges", "neighbours")


def gathered_edges(plan: Plan, root: int = 0) -> Optional[Tuple[Array, Array]]:
    """At `root` each pair of neighbours once, the smaller first; None elsewhere.

    The only place where a process holds all edges: their ids, none of their features.
    """
    import numpy as np  # noqa: PLC0415

    kept: List[Array] = []
    for _, source, target in plan.rounds():
        pairs = _pairs(np.minimum(source, target), np.maximum(source, target), plan.nodes.total)
        got = plan.mesh.gather(pairs, root)
        if got is not None:
            kept.append(np.unique(np.concatenate(got)))
    if plan.mesh.rank != root:
        return None
    whole = np.unique(np.concatenate(kept)) if kept else np.empty(0, np.int64)
    return whole // plan.nodes.total, whole % plan.nodes.total


def neighbours(plan: Plan) -> Tuple[Array, Array]:
    """(where the neighbours of each own node begin, and one more; the neighbours' numbers).

    Neighbours by several edges stand there as often.
    """
    import numpy as np  # noqa: PLC0415

    low, high = plan.nodes.of(plan.mesh.rank)
    kept: List[Array] = []
    for _, source, target in plan.rounds():
        rows = np.stack([np.concatenate([source, target]), np.concatenate([target, source])], axis=1)
        rows = rows[rows[:, 0] != rows[:, 1]]
        order, cuts = routed(np.searchsorted(plan.nodes.bounds, rows[:, 0], side="right") - 1, plan.mesh.size)
        rows = rows[order]
        got = plan.mesh.exchange([rows[cuts[to] : cuts[to + 1]] for to in range(plan.mesh.size)])
        kept += [each for each in got if len(each)]
    whole = np.concatenate(kept) if kept else np.empty((0, 2), np.int64)
    del kept
    order = np.argsort(whole[:, 0], kind="stable")
    begins = np.concatenate([[0], np.cumsum(np.bincount(whole[:, 0] - low, minlength=high - low))])
    return begins.astype(np.int64), np.ascontiguousarray(whole[order, 1])


def _pairs(small: Array, large: Array, count: int) -> Array:
    """One number a pair: there are fewer than 3 thousand million nodes, so that 63 bits are enough."""
    import numpy as np  # noqa: PLC0415

    return np.unique(small[small != large] * count + large[small != large])
