# SPDX-License-Identifier: Apache-2.0
"""One part while it is put together: its edges, the rows of its features, and its halo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Tuple

if TYPE_CHECKING:
    from ..inputs.source import Array
    from .numbering import Numbering

__all__ = ("Part",)


class Part:
    """Inner edges end in the part's own nodes, outer ones begin there and end elsewhere.

    Ids are new ones. `rows[(kind, index of the type, name)]`, kind "node" or "edge", holds a feature of all
    inner ones of a type, in the order of their new ids.
    """

    def __init__(self, number: int, nodes: Numbering, edges: Numbering) -> None:
        import numpy as np  # noqa: PLC0415

        self.number: int = number
        self.nodes: Numbering = nodes
        self.edges: Numbering = edges
        self.first_node: int = nodes.start(number)
        self.end_node: int = nodes.start(number + 1)
        self.first_edge: int = edges.start(number)
        self.end_edge: int = edges.start(number + 1)
        self._numberings = {"node": nodes, "edge": edges}
        count = self.end_edge - self.first_edge
        self.source: Array = np.empty(count, np.int64)
        self.target: Array = np.empty(count, np.int64)
        self.outer: List[Tuple[Array, Array, Array]] = []
        self.rows: Dict[Tuple[str, int, str], Array] = {}

    def take_edges(self, source: Array, target: Array, numbers: Array) -> None:
        """Those of these edges that concern this part."""
        inner = (numbers >= self.first_edge) & (numbers < self.end_edge)
        place = numbers[inner] - self.first_edge
        self.source[place], self.target[place] = source[inner], target[inner]
        outer = ~inner & (source >= self.first_node) & (source < self.end_node)
        if outer.any():
            self.outer.append((source[outer], target[outer], numbers[outer]))

    def take_rows(self, key: Tuple[str, int, str], numbers: Array, rows: Array) -> None:
        """Those of these rows that belong to this part's own nodes or edges."""
        numbering, index = self._numberings[key[0]], key[1]
        first, end = numbering.start(self.number, index), numbering.end(self.number, index)
        store = self.rows[key]
        inner = (numbers >= first) & (numbers < end)
        store[numbers[inner] - first] = rows[inner]

    def make_room(self, key: Tuple[str, int, str], kind: Any, shape: Tuple[int, ...]) -> None:
        """For rows that are still to come; a type that the part has none of has empty ones."""
        import numpy as np  # noqa: PLC0415

        numbering, index = self._numberings[key[0]], key[1]
        count = numbering.end(self.number, index) - numbering.start(self.number, index)
        self.rows[key] = np.empty((count, *shape), kind)

    def local(self) -> Tuple[Array, Array, Array, Array]:
        """(ids of the nodes, inner ones first; of the edges, likewise; both ends as places among nodes)."""
        import numpy as np  # noqa: PLC0415

        outer = [np.concatenate(each) for each in zip(*self.outer)] or [np.empty(0, np.int64)] * 3
        order = np.argsort(outer[2], kind="stable")
        source = np.concatenate([self.source, outer[0][order]])
        target = np.concatenate([self.target, outer[1][order]])
        edges = np.concatenate([np.arange(self.first_edge, self.end_edge), outer[2][order]])
        halo = np.unique(np.concatenate([self._strangers(source), self._strangers(target)]))
        nodes = np.concatenate([np.arange(self.first_node, self.end_node), halo])
        return nodes, edges, self._places(source, halo), self._places(target, halo)

    def cut_edges(self) -> int:
        """Inner edges that begin in another part."""
        return len(self._strangers(self.source))

    def _strangers(self, ids: Array) -> Array:
        return ids[(ids < self.first_node) | (ids >= self.end_node)]

    def _places(self, ids: Array, halo: Array) -> Array:
        import numpy as np  # noqa: PLC0415

        own = (ids >= self.first_node) & (ids < self.end_node)
        away = np.searchsorted(halo, ids) + (self.end_node - self.first_node)
        return np.where(own, ids - self.first_node, away)
