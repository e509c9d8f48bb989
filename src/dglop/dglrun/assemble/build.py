# SPDX-License-Identifier: Apache-2.0
"""The parts themselves, once every node's part is known: edges and features go where they belong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, Tuple, Union

from .directory import Directory, routed
from .numbering import Numbering
from .part import Part
from .shares import chunks_of

if TYPE_CHECKING:
    from ..inputs.source import Array, Etype
    from .plan import Plan

__all__ = ("Built", "build")

ROW_BYTES = 32 << 20  # of features read and sent at once
ORIGINAL = ""  # the name under which the ids in the input are kept beside the features


@dataclass(frozen=True)
class Built:
    """The parts of this process, and the ids of all parts."""

    nodes: Numbering
    edges: Numbering
    parts: List[Part]


def build(plan: Plan, parts: Array, *, row_bytes: int = ROW_BYTES) -> Built:
    """`parts`: the part of each node of the own share. All processes call it. Raises Refusal, PeerLost."""
    node_types = plan.node_types()
    nodes = Numbering(plan.mesh, parts, node_types, plan.num_parts, len(plan.ntypes))
    new_nodes = nodes.numbers(parts, node_types)
    source, target = _renamed_edges(plan, new_nodes)
    edge_parts = nodes.part_of(target)
    edge_types = plan.edges.types_of(_own_numbers(plan))
    edges = Numbering(plan.mesh, edge_parts, edge_types, plan.num_parts, len(plan.etypes))
    new_edges = edges.numbers(edge_parts, edge_types)
    made = [Part(number, nodes, edges) for number in plan.own_parts()]
    _send_edges(plan, made, (source, target, new_edges), (nodes.part_of(source), edge_parts))
    del source, target, edge_parts, edge_types
    _Rows((plan, made), "node", nodes, new_nodes, row_bytes).send()
    _Rows((plan, made), "edge", edges, new_edges, row_bytes).send()
    return Built(nodes, edges, made)


def _own_numbers(plan: Plan) -> Array:
    import numpy as np  # noqa: PLC0415

    return np.arange(*plan.edges.of(plan.mesh.rank))


def _renamed_edges(plan: Plan, new_nodes: Array) -> Tuple[Array, Array]:
    """Both ends of the own share of the edges, by new ids."""
    import numpy as np  # noqa: PLC0415

    directory = Directory(plan.mesh, plan.nodes.bounds, new_nodes)
    low, high = plan.edges.of(plan.mesh.rank)
    ends = np.empty((2, high - low), np.int64)
    for first, source, target in plan.rounds():
        found = directory.read(np.concatenate([source, target]))
        place = slice(first - low, first - low + len(source))
        ends[0, place], ends[1, place] = found[: len(source)], found[len(source) :]
    return ends[0], ends[1]


def _send_edges(
    plan: Plan, made: List[Part], columns: Tuple[Array, Array, Array], parts: Tuple[Array, Array]
) -> None:
    """Each edge to the part where it ends; one that begins in another part there too, as a copy."""
    import numpy as np  # noqa: PLC0415

    count = len(columns[2])
    for number in range(plan.mesh.largest(-(-count // plan.step))):
        piece = slice(number * plan.step, (number + 1) * plan.step)
        rows = np.stack([column[piece] for column in columns], axis=1)
        source_parts, target_parts = parts[0][piece], parts[1][piece]
        ends, begins = plan.maker_of(target_parts), plan.maker_of(source_parts)
        # a maker of both parts needs it once
        rows = np.concatenate([rows, rows[ends != begins]])
        order, cuts = routed(np.concatenate([ends, begins[ends != begins]]), plan.mesh.size)
        rows = rows[order]
        for got in plan.mesh.exchange([rows[cuts[to] : cuts[to + 1]] for to in range(plan.mesh.size)]):
            for part in made:
                part.take_edges(got[:, 0], got[:, 1], got[:, 2])


class _Rows:
    """Sends the features of all nodes or of all edges to the parts, and with them the ids in the input."""

    def __init__(
        self, built: Tuple[Plan, List[Part]], kind: str, numbering: Numbering, numbers: Array, row_bytes: int
    ) -> None:
        plan, made = built
        self._plan, self._made, self._kind = plan, made, kind
        self._shares = plan.nodes if kind == "node" else plan.edges
        self._numbering, self._numbers, self._row_bytes = numbering, numbers, row_bytes

    def send(self) -> None:
        low = self._shares.of(self._plan.mesh.rank)[0]
        for index, lo, hi in self._shares.pieces(self._plan.mesh.rank):
            names = self._features(self._shares.types[index])
            for part in self._made:
                for name, form, shape in names:
                    part.make_room((self._kind, index, name), form, shape)
            begin = int(self._shares.starts[index]) + lo - low
            self._send_type(index, (lo, hi), self._numbers[begin : begin + hi - lo], names)

    def _send_type(
        self, index: int, own: Tuple[int, int], numbers: Array, names: List[Tuple[str, Any, Tuple[int, ...]]]
    ) -> None:
        import numpy as np  # noqa: PLC0415

        mesh, kind = self._plan.mesh, self._shares.types[index]
        width = sum(int(form.itemsize * np.prod(shape, dtype=np.int64)) for _, form, shape in names)
        pieces = list(chunks_of(*own, max(1, self._row_bytes // width)))
        for number in range(mesh.largest(len(pieces))):
            lo, hi = pieces[number] if number < len(pieces) else (own[1], own[1])
            ids = numbers[lo - own[0] : hi - own[0]]
            order, cuts = routed(self._plan.maker_of(self._numbering.part_of(ids)), mesh.size)
            split = self._splitter(order, cuts)
            targets = mesh.exchange(split(ids))
            for name, form, shape in names:
                rows = self._read(kind, name, (lo, hi), form, shape)
                for each, got in zip(targets, mesh.exchange(split(rows))):
                    for part in self._made:
                        part.take_rows((self._kind, index, name), each, got)

    def _splitter(self, order: Array, cuts: Array) -> Callable[[Array], List[Array]]:
        def split(rows: Array) -> List[Array]:
            ordered = rows[order]
            return [ordered[cuts[to] : cuts[to + 1]] for to in range(self._plan.mesh.size)]

        return split

    def _features(self, kind: Union[str, Etype]) -> List[Tuple[str, Any, Tuple[int, ...]]]:
        import numpy as np  # noqa: PLC0415

        features = self._plan.source.schema.features
        mine: Iterator[Tuple[str, Any, Tuple[int, ...]]] = (
            (name, np.dtype(form), tuple(shape))
            for (of, name), (form, shape) in features.items()
            if of == kind
        )
        return [(ORIGINAL, np.dtype(np.int64), ()), *sorted(mine, key=lambda feature: feature[0])]

    def _read(self, kind: Any, name: str, rows: Tuple[int, int], form: Any, shape: Tuple[int, ...]) -> Array:
        import numpy as np  # noqa: PLC0415

        if name == ORIGINAL:
            return np.arange(*rows)
        if rows[0] == rows[1]:
            return np.empty((0, *shape), form)
        read = self._plan.source.node_data if self._kind == "node" else self._plan.source.edge_data
        return np.asarray(read(kind, name, *rows))
