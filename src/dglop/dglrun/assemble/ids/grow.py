# SPDX-License-Identifier: Apache-2.0
"""A first partitioning: every part grows from a node, over neighbours, until all nodes have a part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Tuple

from .labels import NOWHERE, best_first

if TYPE_CHECKING:
    from ...inputs.source import Array
    from .labels import Labels

__all__ = ("grow",)

_SEEDINGS = 64


def grow(labels: Labels, random: Any) -> None:
    """`random` is this process' own generator. Afterwards no node is without a part."""
    _seed(labels, random, range(labels.parts))
    for _ in range(_SEEDINGS):
        while _spread(labels) > 0:
            pass
        # what cannot be reached from there: each process begins again, with the smallest part
        smallest = int(labels.sizes.sum(axis=0).argmin())
        if not _seed(labels, random, [smallest] * labels.mesh.size):
            break
    _fill(labels)


def _seed(labels: Labels, random: Any, parts: Any) -> int:
    """Give one node for each of `parts` to it, the processes in turn; how many there were, of all."""
    import numpy as np  # noqa: PLC0415

    degree = np.diff(labels.begins)
    open_nodes = np.flatnonzero((labels.own == NOWHERE) & (degree > 0))
    mine = [part for place, part in enumerate(parts) if place % labels.mesh.size == labels.mesh.rank]
    mine = mine[: len(open_nodes)]
    nodes = random.choice(open_nodes, len(mine), replace=False) if mine else open_nodes[:0]
    to = np.array(mine, np.int64)
    wanted = np.zeros(labels.sizes.shape, np.int64)
    np.add.at(wanted, (labels.groups[nodes], to), 1)
    total = labels.mesh.total(wanted)
    quota = labels.quotas(wanted, np.minimum(total, np.maximum(labels.fair - labels.sizes, 0)))
    keys = labels.groups[nodes] * labels.parts + to
    taken = best_first(keys, np.zeros(len(keys)), quota.reshape(-1))
    labels.move(nodes[taken], to[taken])
    return labels.mesh.largest(len(taken))


def _spread(labels: Labels) -> int:
    """Let every part grow by as much as it has, over its surest neighbours; how many nodes that were."""
    import numpy as np  # noqa: PLC0415

    around = labels.look()
    nodes, to, score = _candidates(labels, around)
    wanted = np.zeros(labels.sizes.shape, np.int64)
    np.add.at(wanted, (labels.groups[nodes], to), 1)
    total = labels.mesh.total(wanted)
    room = np.maximum(labels.fair - labels.sizes, 0)
    # a part that grows by its own size each time does not run away from the others
    pace = np.maximum(labels.sizes.sum(axis=0), 1)
    quota = labels.quotas(wanted, np.minimum(np.minimum(total, room), pace))
    taken = best_first(labels.groups[nodes] * labels.parts + to, score, quota.reshape(-1))
    labels.move(nodes[taken], to[taken])
    return int(np.minimum(np.minimum(total, room), pace).sum())


def _candidates(labels: Labels, around: Array) -> Tuple[Array, Array, Array]:
    """Own nodes without a part that have neighbours in one with room; it; how clear that choice is."""
    import numpy as np  # noqa: PLC0415

    found, parts, scores = [], [], []
    full = labels.sizes >= labels.fair
    free = 1.0 - labels.sizes / np.maximum(labels.fair, 1)
    for nodes, table in labels.tables(around, np.flatnonzero(labels.own == NOWHERE)):
        groups = labels.groups[nodes]
        # the fuller a part, the more neighbours are needed there: else the first to grow gets all
        weight = np.where(full[groups], 0.0, table * (0.1 + free[groups]))
        best = weight.argmax(axis=1)
        rows = np.arange(len(nodes))
        some = weight[rows, best] > 0
        clear = table[rows, best] - (table.sum(axis=1) - table[rows, best])
        found.append(nodes[some])
        parts.append(best[some])
        scores.append(clear[some])
    if not found:
        nothing = np.empty(0, np.int64)
        return nothing, nothing, nothing
    return np.concatenate(found), np.concatenate(parts), np.concatenate(scores)


def _fill(labels: Labels) -> None:
    """Nodes that hang on nothing, or on full parts only, go where there is most room."""
    import numpy as np  # noqa: PLC0415

    left = np.flatnonzero(labels.own == NOWHERE)
    own = np.bincount(labels.groups[left], minlength=labels.num_groups)
    each = np.stack(labels.mesh.exchange([own] * labels.mesh.size))
    to = np.empty(len(left), np.int64)
    for group in range(labels.num_groups):
        first, total = int(each[: labels.mesh.rank, group].sum()), int(each[:, group].sum())
        slots = _slots(labels.sizes[group], total)
        mine = labels.groups[left] == group
        to[mine] = slots[first : first + int(mine.sum())]
    labels.move(left, to)


def _slots(sizes: Array, count: int) -> Array:
    """Parts for `count` more nodes, so that the smallest are filled up to one level first."""
    import numpy as np  # noqa: PLC0415

    want = np.zeros(len(sizes), np.int64)
    low, high = int(sizes.min()), int(sizes.max()) + count + 1
    while low < high:
        level = (low + high + 1) // 2
        if int(np.maximum(level - sizes, 0).sum()) <= count:
            low = level
        else:
            high = level - 1
    want = np.maximum(low - sizes, 0)
    rest = count - int(want.sum())
    want[np.flatnonzero(sizes + want <= low)[:rest]] += 1
    return np.repeat(np.arange(len(sizes)), want)
