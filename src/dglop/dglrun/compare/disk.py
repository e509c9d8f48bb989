# SPDX-License-Identifier: Apache-2.0
"""Parts as they lie in a folder, read as arrays."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Mapping

from ..layout import LayoutError, read_layout
from .numbering import Numbering

if TYPE_CHECKING:
    from ..inputs.source import Array

__all__ = ("Disk", "LocalGraph")


@dataclass(frozen=True)
class LocalGraph:
    """A part's graph: ids and marks of its nodes and edges, and its edges as places among its nodes."""

    nodes: Array
    inner_nodes: Array
    edges: Array
    inner_edges: Array
    source: Array
    target: Array
    node_data: Mapping[str, Array]
    edge_data: Mapping[str, Array]


class Disk:
    """A partition config and what it names. Everything raises LayoutError for what cannot be read."""

    def __init__(self, folder: str) -> None:
        layout = read_layout(folder)
        self._folder = folder
        self.parts: int = layout.num_parts
        with open(os.path.join(folder, layout.config), encoding="utf-8") as file:
            self._config: Dict[str, Any] = json.load(file)
        self.name: str = layout.config
        self.hops: int = int(self._config.get("halo_hops", 1))
        try:
            self.nodes: Numbering = Numbering(self._config["node_map"], self._config["ntypes"], self.parts)
            self.edges: Numbering = Numbering(self._config["edge_map"], self._config["etypes"], self.parts)
        except (KeyError, TypeError, ValueError) as error:
            raise LayoutError("%s has no usable maps of ids: %s" % (self.name, error)) from error

    def totals(self) -> List[int]:
        return [self._config["num_nodes"], self._config["num_edges"]]

    def tensors(self, part: int, key: str) -> Dict[str, Array]:
        """`node_feats`, `edge_feats`, `orig_nids` or `orig_eids` of a part."""
        path = self._config["part-%d" % part].get(key)
        if path is None:
            raise LayoutError(
                "%s names no %s: only parts that dglrun has made say which nodes and edges of the input they "
                "are of" % (self.name, key)
            )
        from dgl.data.utils import load_tensors  # noqa: PLC0415

        return {name: tensor.numpy() for name, tensor in self._load(load_tensors, path).items()}

    def graph(self, part: int) -> LocalGraph:
        import dgl  # noqa: PLC0415

        path = self._config["part-%d" % part]["part_graph"]
        graph = self._load(dgl.load_graphs, path)[0][0]
        nodes = {name: tensor.numpy() for name, tensor in graph.ndata.items()}
        edges = {name: tensor.numpy() for name, tensor in graph.edata.items()}
        source, target = graph.edges(order="eid")
        try:
            return LocalGraph(
                nodes=nodes[dgl.NID],
                inner_nodes=nodes["inner_node"] == 1,
                edges=edges[dgl.EID],
                inner_edges=edges["inner_edge"] == 1,
                source=source.numpy(),
                target=target.numpy(),
                node_data=nodes,
                edge_data=edges,
            )
        except KeyError as error:
            raise LayoutError("%s has no %s" % (path, error)) from error

    def _load(self, load: Any, path: str) -> Any:
        import dgl  # noqa: PLC0415

        try:
            return load(os.path.join(self._folder, path))
        except (dgl.DGLError, OSError) as error:
            # DGL's own words come first, where it was in its code after them
            first = (str(error).strip() or repr(error)).splitlines()[0]
            raise LayoutError("%s cannot be read: %s" % (path, first)) from error
