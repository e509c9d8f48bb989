# SPDX-License-Identifier: Apache-2.0
"""Graphs in memory, processes as threads, and what parts must be to be the graph that they were made from."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dglop.dglrun.assemble.build import ORIGINAL, Built, build
from dglop.dglrun.assemble.mesh import Mesh
from dglop.dglrun.assemble.plan import Plan
from dglop.dglrun.inputs.arrays import ArraysSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.dglrun.assemble.part import Part

T = TypeVar("T")
PEOPLE, PAPERS = ("person", "knows", "person"), ("paper", "cites", "paper")
WROTE, READ = ("person", "wrote", "paper"), ("person", "read", "paper")


def arrays(ntypes: dict[str, int], edges: dict[Any, Any], data: dict[Any, Any]) -> ArraysSource:
    """A source; `edges` by type, two rows each, `data` by (type, name)."""
    ends = {etype: tuple(np.asarray(each, np.int64).reshape(2, -1)) for etype, each in edges.items()}
    return ArraysSource("graph", ntypes, ends, data)


def people(nodes: int = 50, edges: int = 300, lonely: int = 5) -> ArraysSource:
    """Homogeneous, directed, with parallel edges and loops; the last nodes have no edges."""
    random = np.random.default_rng(1)
    ends = random.integers(0, max(1, nodes - lonely), (2, edges))
    return arrays(
        {"person": nodes},
        {PEOPLE: ends},
        {
            ("person", "feat"): random.random((nodes, 3)).astype(np.float32),
            ("person", "train_mask"): random.random(nodes) < 0.5,
            (PEOPLE, "weight"): random.random(edges),
            (PEOPLE, "seen"): random.random(edges) < 0.5,
        },
    )


def library() -> ArraysSource:
    """Heterogeneous: a type with three nodes, one without edges of its own, one edge type without edges."""
    random = np.random.default_rng(2)
    return arrays(
        {"person": 22, "paper": 3, "shelf": 4},
        {
            PEOPLE: random.integers(0, 20, (2, 40)),
            WROTE: [random.integers(0, 20, 60), random.integers(0, 3, 60)],
            PAPERS: random.integers(0, 3, (2, 9)),
            READ: np.empty((2, 0)),
        },
        {
            ("person", "feat"): random.random((22, 2, 2)),
            ("paper", "mask"): random.random(3) < 0.5,
            (WROTE, "weight"): random.random((60, 1)),
            (READ, "stars"): np.empty((0, 2), np.int32),
        },
    )


def relations() -> ArraysSource:
    """One node type with two edge types, of which one has a single edge."""
    random = np.random.default_rng(3)
    edges = {PEOPLE: random.integers(0, 20, (2, 60)), ("person", "met", "person"): [[1], [2]]}
    return arrays({"person": 20}, edges, {})


GRAPHS = {
    "homogeneous": people,
    "heterogeneous": library,
    "relations": relations,
    "one edge": lambda: arrays({"person": 4}, {PEOPLE: [[0], [1]]}, {}),
    "no edge": lambda: arrays({"person": 6}, {PEOPLE: np.empty((2, 0))}, {}),
}


def together(size: int, work: Callable[[Mesh], T]) -> list[T]:
    """`work` in as many threads, each with its end of a mesh; the first error of any is raised."""
    connections: list[dict[int, socket.socket]] = [{} for _ in range(size)]
    for one in range(size):
        for other in range(one):
            connections[one][other], connections[other][one] = socket.socketpair()
    results: list[Any] = [None] * size
    errors: list[BaseException] = []

    def run(rank: int) -> None:
        mesh = Mesh(rank, connections[rank])
        try:
            results[rank] = work(mesh)
        except BaseException as error:  # noqa: BLE001  (raised below)
            errors.append(error)
        finally:
            mesh.close()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def built(source: ArraysSource, num_parts: int, size: int, choose: Any, **steps: int) -> list[Built]:
    """The parts, as `size` processes build them with the parts of nodes that `choose(plan)` says."""

    def work(mesh: Mesh) -> Built:
        plan = Plan(source, mesh, num_parts, edge_step=steps.get("edges", 1 << 19))
        return build(plan, choose(plan), row_bytes=steps.get("bytes", 1 << 25))

    return together(size, work)


def assert_same_graph(source: ArraysSource, made: list[Built]) -> None:
    """The union of the parts is the graph, with every node and edge where the ranges say, halo included."""
    schema, numbers = source.schema, made[0]
    ntypes, etypes = sorted(schema.ntypes), sorted(schema.etypes)
    parts = sorted((part for each in made for part in each.parts), key=lambda part: part.number)
    assert [part.number for part in parts] == list(range(numbers.nodes.num_parts))
    nodes = _originals(parts, "node", [schema.ntypes[each] for each in ntypes])
    edges = _originals(parts, "edge", [schema.etypes[each] for each in etypes])
    owner = numbers.nodes.part_of(np.arange(len(nodes)))
    for part in parts:
        _assert_part(source, part, (nodes, edges), owner)


def _originals(parts: list[Part], kind: str, counts: list[int]) -> Any:
    """(type, id in the input) of each new id; each must be there once."""
    found: list[Any] = []
    for part in parts:
        for index in range(len(counts)):
            rows = part.rows[(kind, index, ORIGINAL)]
            found += [(index, each) for each in rows.tolist()]
    assert sorted(found) == [(index, each) for index, count in enumerate(counts) for each in range(count)]
    return np.array(found, np.int64).reshape(-1, 2)


def _assert_part(source: ArraysSource, part: Part, original: tuple[Any, Any], owner: Any) -> None:
    schema, (nodes, edges) = source.schema, original
    ntypes, etypes = sorted(schema.ntypes), sorted(schema.etypes)
    ids, numbers, begin, end = part.local()
    own, inner = part.end_node - part.first_node, part.end_edge - part.first_edge
    assert ids[:own].tolist() == list(range(part.first_node, part.end_node))
    assert len(set(ids.tolist())) == len(ids)
    assert (end[:inner] < own).all(), "an inner edge ends in a stranger"
    assert (begin[inner:] < own).all(), "an outer edge begins in a stranger"
    assert (end[inner:] >= own).all(), "an outer edge is an inner one"
    concerned = 0
    for index, etype in enumerate(etypes):
        sources, targets = source.edges(etype, 0, schema.etypes[etype])
        mine = edges[numbers, 0] == index
        for place, ends, ntype in ((begin, sources, etype[0]), (end, targets, etype[2])):
            of = nodes[ids[place[mine]]]
            assert (of[:, 0] == ntypes.index(ntype)).all()
            assert of[:, 1].tolist() == ends[edges[numbers[mine], 1]].tolist()
        kept = [_kept(nodes, owner, ntypes.index(etype[side]), part.number) for side in (0, 2)]
        concerned += int((kept[0][sources] | kept[1][targets]).sum())
    assert concerned == len(numbers), "edges of own nodes are missing or too many"
    for (kind, index, name), rows in part.rows.items():
        if name != ORIGINAL:
            of_type: Any = ntypes[index] if kind == "node" else etypes[index]
            wanted = source._features[(of_type, name)][part.rows[(kind, index, ORIGINAL)]]
            assert rows.dtype == wanted.dtype
            assert rows.tolist() == wanted.tolist()


def _kept(nodes: Any, owner: Any, index: int, part: int) -> Any:
    """Which nodes of a type, by their ids in the input, are the part's own."""
    found = np.zeros(int((nodes[:, 0] == index).sum()), bool)
    found[nodes[(nodes[:, 0] == index) & (owner == part), 1]] = True
    return found
