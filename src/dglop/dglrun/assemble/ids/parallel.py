# SPDX-License-Identifier: Apache-2.0
"""`parallel`: our own partitioner; no process ever holds more than its share of the edges.

Parts grow from single nodes, then nodes move to the part where most of their neighbours are, in rounds, as
long as that makes fewer cut edges and no part larger than the balance allows. That is far better than a
random partitioning where the graph has any structure, and not as good as METIS, which sees the whole of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Tuple

from .grow import grow
from .labels import Labels, best_first

if TYPE_CHECKING:
    from ...inputs.source import Array
    from ..plan import Plan

__all__ = ("parallel",)

_SLACK = 0.05  # METIS of DGL allows about as much
_ROUNDS = 60
_PATIENCE = 8  # rounds without fewer cut edges after which it is over


def parallel(plan: Plan, groups: Array, seed: int = 0) -> Array:
    """`groups`: of each own node; the nodes of each group are spread evenly over the parts."""
    import numpy as np  # noqa: PLC0415

    labels = Labels(plan, groups, _SLACK)
    random = np.random.default_rng([seed, plan.mesh.rank])
    grow(labels, random)
    around = labels.look()
    best, least, since = labels.own.copy(), labels.cut(around), 0
    for _ in range(_ROUNDS):
        if not _improve(labels, around, random):
            break
        around = labels.look()
        cut = labels.cut(around)
        since = 0 if cut < least else since + 1
        if cut < least:
            best, least = labels.own.copy(), cut
        if since >= _PATIENCE:
            break
    return best


def _improve(labels: Labels, around: Array, random: Any) -> int:
    """One round of moves; how many there were, of all processes.

    Half of the nodes take part, by lot: if all did, neighbours would change places with each other for ever.
    """
    import numpy as np  # noqa: PLC0415

    shape = (labels.num_groups, labels.parts, labels.parts)
    nodes, to, gain = _moves(labels, around, np.flatnonzero(random.random(len(labels.own)) < 0.5))
    keys = (labels.groups[nodes] * labels.parts + labels.own[nodes]) * labels.parts + to
    wanted = np.bincount(keys, minlength=int(np.prod(shape))).reshape(shape)
    allowed = _allowed(labels, labels.mesh.total(wanted))
    quota = labels.quotas(wanted, allowed).reshape(-1)
    taken = best_first(keys, gain, quota)
    labels.move(nodes[taken], to[taken])
    return int(allowed.sum())


def _moves(labels: Labels, around: Array, nodes: Array) -> Tuple[Array, Array, Array]:
    """Of `nodes` those that have more neighbours in another part; it; how many more."""
    import numpy as np  # noqa: PLC0415

    nothing = np.empty(0, np.int64)
    found, parts, gains = [nothing], [nothing], [nothing]
    for some, table in labels.tables(around, nodes):
        rows = np.arange(len(some))
        here = table[rows, labels.own[some]]
        table[rows, labels.own[some]] = -1
        best = table.argmax(axis=1)
        gain = table[rows, best] - here
        better = gain > 0
        found.append(some[better])
        parts.append(best[better])
        gains.append(gain[better])
    return np.concatenate(found), np.concatenate(parts), np.concatenate(gains)


def _allowed(labels: Labels, wanted: Array) -> Array:
    """Of the moves from part to part so many that no part becomes too large or too small.

    Pairs change places freely.
    """
    import numpy as np  # noqa: PLC0415

    swaps = np.minimum(wanted, np.swapaxes(wanted, 1, 2))
    more = wanted - swaps
    room = np.maximum(labels.most - labels.sizes, 0)
    coming = np.maximum(more.sum(axis=1), 1)
    more = more * np.minimum(room, coming)[:, None, :] // coming[:, None, :]
    spare = np.maximum(labels.sizes - labels.least, 0)
    going = np.maximum(more.sum(axis=2), 1)
    return swaps + more * np.minimum(spare, going)[:, :, None] // going[:, :, None]
