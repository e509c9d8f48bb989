# SPDX-License-Identifier: Apache-2.0
"""Nodes and the part each has at the moment, spread over the processes; and moves that keep a balance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, Tuple

from ..directory import Lookup
from .edges import neighbours

if TYPE_CHECKING:
    from ...inputs.source import Array
    from ..mesh import Mesh
    from ..plan import Plan

__all__ = ("NOWHERE", "Labels", "best_first")

NOWHERE = -1
_CELLS = 1 << 22  # of a table of nodes by parts, at once


class Labels:
    """`own` holds the part of each own node, or NOWHERE. `groups` are balanced each for itself.

    `sizes[group, part]` counts the nodes of all processes; `fair[group]` is what each part has where all are
    equal, `most` and `least` how far from it they may be.
    """

    def __init__(self, plan: Plan, groups: Array, slack: float) -> None:
        """`slack`: how much larger or smaller than the average a part may become, 0.05 for a twentieth."""
        import numpy as np  # noqa: PLC0415

        self.mesh: Mesh = plan.mesh
        self.parts: int = plan.num_parts
        self.groups: Array = groups
        self.num_groups: int = plan.mesh.largest(int(groups.max()) + 1 if len(groups) else 0)
        begins, around = neighbours(plan)
        self.begins: Array = begins
        self._lookup = Lookup(plan.mesh, plan.nodes.bounds, around)
        self.own: Array = np.full(len(groups), NOWHERE, np.int64)
        totals = plan.mesh.total(np.bincount(groups, minlength=self.num_groups))
        average = totals[:, None] / self.parts
        self.fair: Array = np.ceil(average).astype(np.int64)
        self.most: Array = np.maximum(self.fair, np.floor(average * (1 + slack))).astype(np.int64)
        self.least: Array = np.minimum(np.floor(average), np.ceil(average * (1 - slack))).astype(np.int64)
        self.sizes: Array = np.zeros((self.num_groups, self.parts), np.int64)

    def look(self) -> Array:
        """The parts of all neighbours, as they are now."""
        return self._lookup.read(self.own)

    def tables(self, around: Array, nodes: Array) -> Iterator[Tuple[Array, Array]]:
        """For some of `nodes` at a time: which, and how many neighbours each has in each part."""
        import numpy as np  # noqa: PLC0415

        step = max(1, _CELLS // self.parts)
        for begin in range(0, len(nodes), step):
            some = nodes[begin : begin + step]
            first, count = self.begins[some], self.begins[some + 1] - self.begins[some]
            rows = np.repeat(np.arange(len(some)), count)
            places = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
            labels = around[places + np.repeat(first, count)]
            known = labels != NOWHERE
            cells = np.bincount(rows[known] * self.parts + labels[known], minlength=len(some) * self.parts)
            yield some, cells.reshape(len(some), self.parts)

    def cut(self, around: Array) -> int:
        """Pairs of neighbours in different parts, counted from both sides."""
        import numpy as np  # noqa: PLC0415

        mine = np.repeat(self.own, np.diff(self.begins))
        return int(self.mesh.total(np.array([(mine != around).sum()]))[0])

    def move(self, nodes: Array, to: Array) -> None:
        """Give own nodes another part; the sizes follow. All processes must call it."""
        import numpy as np  # noqa: PLC0415

        change = np.zeros_like(self.sizes)
        before, groups = self.own[nodes], self.groups[nodes]
        known = before != NOWHERE
        np.subtract.at(change, (groups[known], before[known]), 1)
        np.add.at(change, (groups, to), 1)
        self.own[nodes] = to
        self.sizes = self.sizes + self.mesh.total(change)

    def quotas(self, wanted: Array, allowed: Array) -> Array:
        """How many of the moves that this process wants it may make; all together make what is allowed.

        `wanted` is this process' own table, `allowed` the same one everywhere, never more than all want.
        """
        import numpy as np  # noqa: PLC0415

        each = np.stack(self.mesh.exchange([wanted] * self.mesh.size))
        upto, total = np.cumsum(each, axis=0), np.maximum(each.sum(axis=0), 1)
        share = allowed * upto // total
        return share[self.mesh.rank] - (share[self.mesh.rank - 1] if self.mesh.rank else 0)


def best_first(keys: Array, scores: Array, quota: Array) -> Array:
    """Places of the highest scores of each key, at most `quota[key]` of them."""
    import numpy as np  # noqa: PLC0415

    order = np.lexsort((-scores, keys))
    ordered = keys[order]
    place = np.arange(len(keys)) - np.searchsorted(ordered, ordered)
    return order[place < quota[ordered]]
