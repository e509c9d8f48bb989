# SPDX-License-Identifier: Apache-2.0
"""Which part each node goes to, chosen by one process that sees all edges."""

from __future__ import annotations

from typing import Any, Dict, Optional

from . import contract
from .ending import config_refusal

__all__ = ("METHODS", "TRAIN_MASK", "assign_nodes", "balance_groups")

METHODS = ("metis", "random")
TRAIN_MASK = "train_mask"


def assign_nodes(graph: Any, parts: int, method: str, *, ntypes: Optional[str], edges: bool) -> Any:
    """A part for each node of a DGLGraph: a tensor over all types, as dgl.to_homogeneous numbers them.

    By METIS parts have as many nodes, of each type, and of each value of the feature `ntypes` (a name, none,
    or None: of train_mask where there is one), and as many `edges` where that is so. Raises Refusal.
    """
    import dgl  # noqa: PLC0415
    import torch  # noqa: PLC0415

    if method not in METHODS:
        raise config_refusal(
            "%s=%s: one process partitions by %s" % (contract.ENV_PART_METHOD, method, " or ".join(METHODS))
        )
    if graph.num_nodes() < parts:
        raise config_refusal(
            "the graph has %d nodes, %d parts need at least as many" % (graph.num_nodes(), parts)
        )
    groups = balance_groups(graph, ntypes)
    if parts == 1:
        return torch.zeros(graph.num_nodes(), dtype=torch.int64)
    if method == "random":
        return torch.randint(parts, (graph.num_nodes(),), generator=torch.Generator().manual_seed(0))
    whole = dgl.to_homogeneous(graph)
    # METIS of dgl 1.1.3 corrupts its heap on parallel edges, so it is shown each pair of nodes once
    simple = dgl.remove_self_loop(dgl.to_simple(whole, return_counts=None, copy_ndata=False))
    found = dgl.distributed.partition.metis_partition_assignment(
        simple, parts, balance_ntypes=groups, balance_edges=edges
    )
    if found is None:
        raise config_refusal(
            "METIS found no %d parts of %d nodes: partition by random, or balance less"
            % (parts, graph.num_nodes())
        )
    return found


def balance_groups(graph: Any, name: Optional[str]) -> Any:
    """The group of each node, of which every part is to have as many; None where all are alike.

    Raises Refusal (ConfigInvalid) for a feature that no node has, or that has no single number for each.
    """
    import torch  # noqa: PLC0415

    if name == "none":
        return None
    having = [ntype for ntype in graph.ntypes if (name or TRAIN_MASK) in graph.nodes[ntype].data]
    if name is not None and not having:
        known: Dict[str, None] = {key: None for ntype in graph.ntypes for key in graph.nodes[ntype].data}
        raise config_refusal(
            "%s=%s: no node has that feature; there are %s"
            % (contract.ENV_BALANCE_NTYPES, name, ", ".join(sorted(known)) or "none")
        )
    groups, count = [], 0
    for ntype in graph.ntypes:
        own = torch.zeros(graph.num_nodes(ntype), dtype=torch.int64)
        if ntype in having:
            own = _numbered(graph.nodes[ntype].data[name or TRAIN_MASK], name or TRAIN_MASK)
        groups.append(own + count)
        count += int(own.max()) + 1 if len(own) else 0
    return torch.cat(groups) if count > 1 else None


def _numbered(values: Any, name: str) -> Any:
    import torch  # noqa: PLC0415

    distinct, places = torch.unique(values, return_inverse=True)
    if values.dim() != 1 or values.is_floating_point() or len(distinct) > 64:
        raise config_refusal(
            "%s=%s: nodes are balanced by a mask, or by a whole number of at most 64 values; this one has "
            "shape %s, type %s and %d values"
            % (contract.ENV_BALANCE_NTYPES, name, tuple(values.shape), values.dtype, len(distinct))
        )
    return places
