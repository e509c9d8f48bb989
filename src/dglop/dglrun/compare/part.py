# SPDX-License-Identifier: Apache-2.0
"""One part beside the input: its nodes, its edges, what it has of its neighbours, and its features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Tuple

from ..inputs.source import etype_of, etype_text
from .rows import compare_features, picked

if TYPE_CHECKING:
    from ..inputs.source import Array, Etype, Kind, Source
    from .crossing import Crossing
    from .disk import Disk, LocalGraph
    from .findings import Findings

__all__ = ("PartCheck",)


class PartCheck:
    """`originals`: the input's ids of all nodes by new id, and of the part's own edges from the first on."""

    def __init__(
        self, source: Source, disk: Disk, findings: Findings, part: int, originals: Tuple[Array, Array]
    ) -> None:
        self._source, self._disk, self._findings, self._part = source, disk, findings, part
        self._nodes, self._edges = originals
        self._etypes: List[Etype] = [etype_of(name) for name in disk.edges.types]

    def graph(self, crossing: Crossing) -> bool:
        """Whether it could be compared edge by edge. Raises LayoutError where it cannot be read."""
        graph = self._disk.graph(self._part)
        fine = self._ids(graph)
        if not fine or not self._types(graph):
            return False
        inner = graph.inner_edges
        targets_inner = graph.inner_nodes[graph.target]
        self._check(targets_inner[inner], "edge %d ends in no node of its own", graph.edges[inner])
        copies = graph.inner_nodes[graph.source] & ~targets_inner
        self._check(copies[~inner], "edge %d is of no node of its own", graph.edges[~inner])
        self._halo(graph)
        rows = self._rows(graph)
        crossing.find(self._part, rows[~inner])
        owners = self._disk.nodes.parts_of(rows[:, 1])
        for part in range(self._disk.parts):
            if part != self._part:
                crossing.expect(part, rows[inner & (owners == part)])
        self._ends(rows[inner])
        return True

    def features(self) -> None:
        """Raises LayoutError where they cannot be read."""
        first_node, end_node = self._disk.nodes.range_of(self._part)
        sides: Tuple[Tuple[str, List[Tuple[str, Kind]], Array], ...] = (
            (
                "node_feats",
                [(name, name) for name in self._disk.nodes.types],
                self._nodes[first_node:end_node],
            ),
            ("edge_feats", [(name, etype_of(name)) for name in self._disk.edges.types], self._edges),
        )
        for key, kinds, ids in sides:
            numbering = self._disk.nodes if key == "node_feats" else self._disk.edges
            begin = numbering.range_of(self._part)[0]
            found = self._disk.tensors(self._part, key)
            wanted: Dict[str, Tuple[Kind, str]] = {
                "%s/%s" % (text, name): (kind, name)
                for text, kind in kinds
                for name in self._source.schema.names(kind)
            }
            self._findings.check(
                sorted(found) == sorted(wanted),
                "part %d: %s has %s, the input %s" % (self._part, key, sorted(found), sorted(wanted)),
            )
            for number, (text, kind) in enumerate(kinds):
                first, last = numbering.range_of_type(self._part, number)
                own = ids[first - begin : last - begin]
                for name in self._source.schema.names(kind):
                    full = "%s/%s" % (text, name)
                    if full in found and (own >= 0).all():
                        what = "part %d: feature %s" % (self._part, full.replace("%", "%%"))
                        compare_features(self._source, kind, name, (what, own, found[full]), self._findings)

    def _check(self, hold: Array, sentence: str, *names: Array) -> bool:
        return self._findings.check_all(hold, "part %d: %s" % (self._part, sentence), *names)

    def _ids(self, graph: LocalGraph) -> bool:
        """Own nodes come first, in the order of their ids; own edges are those of the range, each once."""
        import numpy as np  # noqa: PLC0415

        fine = True
        for what, numbering, ids, inner in (
            ("nodes", self._disk.nodes, graph.nodes, graph.inner_nodes),
            ("edges", self._disk.edges, graph.edges, graph.inner_edges),
        ):
            begin, end = numbering.range_of(self._part)
            own = np.arange(begin, end)
            known = (ids >= 0) & (ids < numbering.total)
            fine &= self._check(known, "%s have an id %%d that is in no range" % what, ids)
            fine &= self._findings.check(
                np.array_equal(ids[: end - begin], own)
                and np.array_equal(inner, np.arange(len(ids)) < end - begin),
                "part %d: its own %s are not first, or not those of the map, %d to %d"
                % (self._part, what, begin, end - 1),
            )
            fine &= self._findings.check(
                len(np.unique(ids)) == len(ids),
                "part %d: some of its %s are there twice" % (self._part, what),
            )
        return bool(fine)

    def _types(self, graph: LocalGraph) -> bool:
        """What the graph says of types and owners is what the maps say; one of a single type says nothing."""
        fine = True
        several = len(self._disk.nodes.types) > 1 or len(self._disk.edges.types) > 1
        for data, numbering, ids in (
            (graph.node_data, self._disk.nodes, graph.nodes),
            (graph.edge_data, self._disk.edges, graph.edges),
        ):
            marks = data.get("_TYPE")
            if marks is not None:
                fine &= self._check(
                    marks == numbering.types_of(ids), "the type of %d is not that of its range", ids
                )
            else:
                fine &= self._findings.check(
                    not several, "part %d: nothing says of which type things are" % self._part
                )
        owners = graph.node_data.get("part_id")
        if owners is not None:
            right = owners == self._disk.nodes.parts_of(graph.nodes)
            fine &= self._check(right, "part_id of node %d is not the part that has it", graph.nodes)
        return bool(fine)

    def _halo(self, graph: LocalGraph) -> None:
        import numpy as np  # noqa: PLC0415

        touched = graph.inner_nodes.copy()
        touched[graph.source] = True
        touched[graph.target] = True
        self._check(touched, "node %d of another part has no edge here", graph.nodes)
        begin, end = self._disk.nodes.range_of(self._part)
        foreign = (graph.nodes < begin) | (graph.nodes >= end)
        self._check(np.logical_xor(foreign, graph.inner_nodes), "node %d is marked wrongly", graph.nodes)

    def _rows(self, graph: LocalGraph) -> Array:
        """Id, source and destination of each edge, by new ids."""
        import numpy as np  # noqa: PLC0415

        return np.stack([graph.edges, graph.nodes[graph.source], graph.nodes[graph.target]], axis=1)

    def _ends(self, rows: Array) -> None:
        """The part's own edges join what they join in the input."""
        begin = self._disk.edges.range_of(self._part)[0]
        node_types = self._disk.nodes.types
        for number, etype in enumerate(self._etypes):
            first, last = self._disk.edges.range_of_type(self._part, number)
            own = rows[(rows[:, 0] >= first) & (rows[:, 0] < last)]
            ids = self._edges[own[:, 0] - begin]
            for column, word, ntype in ((1, "source", etype[0]), (2, "destination", etype[2])):
                right = self._disk.nodes.types_of(own[:, column]) == node_types.index(ntype)
                self._check(right, "the %s of edge %%d is no %s" % (word, ntype), own[:, 0])
            self._same_ends(etype, own, ids)

    def _same_ends(self, etype: Etype, own: Array, ids: Array) -> None:
        def read(lo: int, hi: int) -> Tuple[Array, Array]:
            return self._source.edges(etype, lo, hi)

        name = etype_text(etype).replace("%", "%%")
        what = "edge %d (" + name + " %d of the input) joins other nodes than there"
        sources, targets = self._nodes[own[:, 1]], self._nodes[own[:, 2]]
        for places, found, which in picked(ids, self._source.schema.etypes[etype], 16, read):
            same = (sources[places] == found[0][which]) & (targets[places] == found[1][which])
            self._check(same, what, own[places, 0], ids[places])
