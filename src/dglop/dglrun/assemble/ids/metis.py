# SPDX-License-Identifier: Apache-2.0
"""`metis`: DGL's own METIS, in one process; that one gets the ids of all edges, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from .edges import gathered_edges

if TYPE_CHECKING:
    from ...inputs.source import Array
    from ..plan import Plan

__all__ = ("metis",)


def metis(plan: Plan, groups: Array, balance_edges: bool) -> Array:
    """`groups`: of each own node, of which METIS balances each one's number of nodes."""
    import numpy as np  # noqa: PLC0415

    pairs, gathered = gathered_edges(plan), plan.mesh.gather(groups)
    found: Optional[Array] = None
    if pairs is not None and gathered is not None:
        found = np.zeros(plan.nodes.total, np.int64)
        if plan.num_parts > 1:
            found = _whole(pairs, np.concatenate(gathered), plan.num_parts, balance_edges)
    pieces = None if found is None else [found[slice(*plan.nodes.of(rank))] for rank in range(plan.mesh.size)]
    return plan.mesh.scatter(pieces)


def _whole(pairs: "tuple[Array, Array]", groups: Array, parts: int, balance_edges: bool) -> Array:
    import dgl  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415
    import torch  # noqa: PLC0415
    from dgl.partition import metis_partition_assignment  # noqa: PLC0415

    # simple and in both directions: METIS of DGL 1.1.3 corrupts its heap on parallel edges
    small, large = (torch.from_numpy(each) for each in pairs)
    graph = dgl.graph((torch.cat([small, large]), torch.cat([large, small])), num_nodes=len(groups))
    kinds = torch.from_numpy(np.unique(groups, return_inverse=True)[1].astype(np.int32))
    one_kind = int(kinds.max()) == 0
    found = metis_partition_assignment(
        graph, parts, balance_ntypes=None if one_kind else kinds, balance_edges=balance_edges
    )
    return found.numpy().astype(np.int64)
