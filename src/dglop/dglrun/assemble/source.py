# SPDX-License-Identifier: Apache-2.0
"""What is read of a graph: shares of its ids, edges and features; and a graph in memory read like that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Protocol, Tuple, Union

if TYPE_CHECKING:
    from .mesh import Array

__all__ = ("Etype", "GraphSource", "Schema", "Source", "etype_text")

Etype = Tuple[str, str, str]
Feature = Tuple[Any, Tuple[int, ...]]  # dtype of numpy, shape of a row


@dataclass(frozen=True)
class Schema:
    """The types of a graph and how many there are of each; `features` by (node type or edge type, name)."""

    graph: str
    ntypes: Dict[str, int]
    etypes: Dict[Etype, int]
    features: Dict[Tuple[Union[str, Etype], str], Feature] = field(default_factory=dict)


class Source(Protocol):
    """A graph of which any share can be read."""

    @property
    def schema(self) -> Schema: ...

    def edges(self, etype: Etype, lo: int, hi: int) -> Tuple[Array, Array]:
        """Sources and destinations, int64, of the edges lo to hi-1."""

    def node_data(self, ntype: str, name: str, lo: int, hi: int) -> Array:
        """The rows lo to hi-1 of a feature."""

    def edge_data(self, etype: Etype, name: str, lo: int, hi: int) -> Array:
        """The rows lo to hi-1 of a feature."""


class GraphSource:
    """A DGLGraph in memory, as a source: for the built-in graphs, which every process makes alike."""

    def __init__(self, graph: Any, name: str) -> None:
        self._graph = graph
        self._edges = {etype: graph.edges(order="eid", etype=etype) for etype in graph.canonical_etypes}
        features: Dict[Tuple[Union[str, Etype], str], Feature] = {}
        for ntype in graph.ntypes:
            for key, value in graph.nodes[ntype].data.items():
                features[(ntype, key)] = _feature(value)
        for etype in graph.canonical_etypes:
            for key, value in graph.edges[etype].data.items():
                features[(etype, key)] = _feature(value)
        self.schema: Schema = Schema(
            graph=name,
            ntypes={ntype: graph.num_nodes(ntype) for ntype in graph.ntypes},
            etypes={etype: graph.num_edges(etype) for etype in graph.canonical_etypes},
            features=features,
        )

    def edges(self, etype: Etype, lo: int, hi: int) -> Tuple[Array, Array]:
        source, target = self._edges[etype]
        return source[lo:hi].numpy().astype("int64"), target[lo:hi].numpy().astype("int64")

    def node_data(self, ntype: str, name: str, lo: int, hi: int) -> Array:
        return self._graph.nodes[ntype].data[name][lo:hi].numpy()

    def edge_data(self, etype: Etype, name: str, lo: int, hi: int) -> Array:
        return self._graph.edges[etype].data[name][lo:hi].numpy()


def etype_text(etype: Etype) -> str:
    """The name of an edge type in DGL's files."""
    return ":".join(etype)


def _feature(value: Any) -> Feature:
    return value[:0].numpy().dtype, tuple(value.shape[1:])
