# SPDX-License-Identifier: Apache-2.0
"""A graph whose edges and features are arrays in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Mapping, Tuple

from .source import Etype, Kind, Schema, Source

if TYPE_CHECKING:
    from .source import Array

__all__ = ("ArraysSource", "source_of_graph")


class ArraysSource(Source):
    """For built-in graphs, which every process makes alike, and for files that are only read whole."""

    def __init__(
        self,
        name: str,
        nodes: Mapping[str, int],
        edges: Mapping[Etype, Tuple[Array, Array]],
        features: Mapping[Tuple[Kind, str], Array],
    ) -> None:
        self._edges: Dict[Etype, Tuple[Array, Array]] = dict(edges)
        self._features: Dict[Tuple[Kind, str], Array] = dict(features)
        self.schema: Schema = Schema(
            graph=name,
            ntypes=dict(nodes),
            etypes={etype: len(ends[0]) for etype, ends in edges.items()},
            features={key: (array.dtype, tuple(array.shape[1:])) for key, array in features.items()},
        )

    def edges(self, etype: Etype, lo: int, hi: int) -> Tuple[Array, Array]:
        source, target = self._edges[etype]
        return source[lo:hi], target[lo:hi]

    def node_data(self, ntype: str, name: str, lo: int, hi: int) -> Array:
        return self._features[(ntype, name)][lo:hi]

    def edge_data(self, etype: Etype, name: str, lo: int, hi: int) -> Array:
        return self._features[(etype, name)][lo:hi]


def source_of_graph(graph: Any, name: str) -> ArraysSource:
    """A DGLGraph, read as any other source; edges in the order of their ids."""
    edges: Dict[Etype, Tuple[Array, Array]] = {}
    features: Dict[Tuple[Kind, str], Array] = {}
    for ntype in graph.ntypes:
        for key, value in graph.nodes[ntype].data.items():
            features[(ntype, key)] = value.numpy()
    for etype in graph.canonical_etypes:
        source, target = graph.edges(order="eid", etype=etype)
        edges[etype] = source.long().numpy(), target.long().numpy()
        for key, value in graph.edges[etype].data.items():
            features[(etype, key)] = value.numpy()
    return ArraysSource(name, {ntype: graph.num_nodes(ntype) for ntype in graph.ntypes}, edges, features)
