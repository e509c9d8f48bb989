# SPDX-License-Identifier: Apache-2.0
"""The common ground of all processes: the graph, its shares, the parts and who makes which of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, List, Tuple

from ..ending import config_refusal
from .shares import Shares, chunks_of

if TYPE_CHECKING:
    from ..inputs.source import Array, Etype, Source
    from .mesh import Mesh

__all__ = ("EDGE_STEP", "Plan")

EDGE_STEP = 1 << 19  # edges read and sent at once


class Plan:
    """What every process computes alike. Numbers of nodes and edges run over all types."""

    def __init__(self, source: Source, mesh: Mesh, num_parts: int, *, edge_step: int = EDGE_STEP) -> None:
        """Raises Refusal where there are more processes than parts, or fewer nodes than parts."""
        self.source: Source = source
        self.mesh: Mesh = mesh
        self.num_parts: int = num_parts
        schema = source.schema
        self.nodes: Shares = Shares(schema.ntypes, mesh.size)
        self.edges: Shares = Shares(schema.etypes, mesh.size)
        if mesh.size > num_parts:
            raise config_refusal(
                "%d processes make %d parts: give at most one a part" % (mesh.size, num_parts)
            )
        if self.nodes.total < num_parts:
            raise config_refusal(
                "the graph has %d nodes, %d parts need at least as many" % (self.nodes.total, num_parts)
            )
        self.step: int = edge_step

    @property
    def ntypes(self) -> List[str]:
        return self.nodes.types

    @property
    def etypes(self) -> List[Etype]:
        return self.edges.types

    @property
    def is_homogeneous(self) -> bool:
        return len(self.ntypes) == 1 and len(self.etypes) == 1

    def maker_of(self, parts: Array) -> Array:
        """The process that makes each part: neighbouring parts, as many for each as can be."""
        return parts * self.mesh.size // self.num_parts

    def own_parts(self) -> List[int]:
        return [part for part in range(self.num_parts) if self.maker_of(part) == self.mesh.rank]

    def node_types(self) -> Array:
        """The type of each node of the own share."""
        import numpy as np  # noqa: PLC0415

        return self.nodes.types_of(np.arange(*self.nodes.of(self.mesh.rank)))

    def rounds(self) -> Iterator[Tuple[int, Array, Array]]:
        """The own share of the edges, piece by piece: (number of the first, sources, destinations).

        All processes get as many pieces, of which the last may be empty.
        """
        import numpy as np  # noqa: PLC0415

        pieces: List[Tuple[int, int, int]] = []
        for kind, lo, hi in self.edges.pieces(self.mesh.rank):
            pieces += [(kind, begin, end) for begin, end in chunks_of(lo, hi, self.step)]
        nothing = np.empty(0, np.int64)
        for number in range(self.mesh.largest(len(pieces))):
            if number < len(pieces):
                yield self._piece(*pieces[number])
            else:
                yield self.edges.of(self.mesh.rank)[1], nothing, nothing

    def _piece(self, kind: int, lo: int, hi: int) -> Tuple[int, Array, Array]:
        etype = self.etypes[kind]
        source, target = self.source.edges(etype, lo, hi)
        return (
            int(self.edges.starts[kind]) + lo,
            source + self._start(etype[0]),
            target + self._start(etype[2]),
        )

    def _start(self, ntype: str) -> int:
        return int(self.nodes.starts[self.ntypes.index(ntype)])
