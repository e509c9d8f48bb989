# SPDX-License-Identifier: Apache-2.0
"""A source as one DGLGraph in memory, and the graph of a file that only DGL can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ending import config_refusal
from .arrays import source_of_graph

if TYPE_CHECKING:
    from .arrays import ArraysSource
    from .source import Source

__all__ = ("graph_of", "open_saved")


def graph_of(source: Source) -> Any:
    """Edges keep their ids, parallel ones and isolated nodes are kept. Raises Refusal (ConfigInvalid)."""
    import dgl  # noqa: PLC0415
    import torch  # noqa: PLC0415

    schema = source.schema
    ends = {}
    for etype, count in schema.etypes.items():
        ends[etype] = tuple(torch.from_numpy(column) for column in source.edges(etype, 0, count))
    graph = dgl.heterograph(ends, num_nodes_dict=schema.ntypes, idtype=torch.int64)
    for kind, name in schema.features:
        if isinstance(kind, str):
            rows = source.node_data(kind, name, 0, schema.ntypes[kind])
            graph.nodes[kind].data[name] = torch.from_numpy(rows)
        else:
            rows = source.edge_data(kind, name, 0, schema.etypes[kind])
            graph.edges[kind].data[name] = torch.from_numpy(rows)
    return graph


def open_saved(path: str, name: str) -> ArraysSource:
    """The first graph of a file that dgl.save_graphs wrote. Raises Refusal (ConfigInvalid)."""
    import dgl  # noqa: PLC0415

    try:
        graphs = dgl.load_graphs(path, [0])[0]
    except dgl.DGLError as error:
        raise config_refusal(
            "%s holds no graph that dgl.save_graphs wrote: %s" % (path, str(error).strip().splitlines()[0])
        ) from error
    return source_of_graph(graphs[0], name)
