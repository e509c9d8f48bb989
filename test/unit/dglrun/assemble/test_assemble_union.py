# SPDX-License-Identifier: Apache-2.0
"""Parts made by several processes are, taken together, the graph that was read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dglop.dglrun.assemble.choose import balance_groups
from dglop.dglrun.assemble.ids.parallel import parallel
from dglop.dglrun.assemble.ids.spread import spread
from dglop.dglrun.assemble.plan import Plan
from dglop.dglrun.ending import Refusal
from test.unit.dglrun.assemble.assemble_graphs import (
    GRAPHS,
    PEOPLE,
    MemorySource,
    assert_same_graph,
    built,
    people,
    together,
)

CHOICES = {"random": spread, "parallel": lambda plan: parallel(plan, balance_groups(plan))}
SHAPES = [(parts, size) for parts in (1, 2, 3, 4) for size in range(1, parts + 1)]


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize(("parts", "size"), SHAPES)
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_union_of_the_parts_is_the_graph(graph: str, parts: int, size: int, choice: str) -> None:
    source = GRAPHS[graph]()
    assert_same_graph(source, built(source, parts, size, CHOICES[choice]))


@pytest.mark.parametrize("graph", GRAPHS)
def test_it_is_so_also_when_edges_and_rows_come_in_many_small_pieces(graph: str) -> None:
    source = GRAPHS[graph]()
    assert_same_graph(source, built(source, 4, 3, spread, edges=7, bytes=64))


def test_a_part_may_have_no_node_at_all() -> None:
    source = people()
    made = built(source, 3, 2, lambda plan: np.full(len(plan.node_types()), 1, np.int64))
    assert_same_graph(source, made)
    assert made[0].nodes.ranges(["person"]) == {"person": [[0, 0], [0, 50], [50, 50]]}


def test_any_number_of_processes_makes_the_same_parts_of_the_same_choice() -> None:
    def contents(size: int) -> list[Any]:
        made = built(people(), 4, size, spread)
        parts = sorted((part for each in made for part in each.parts), key=lambda part: part.number)
        return [[array.tolist() for array in (*part.local(), *part.rows.values())] for part in parts]

    assert contents(1) == contents(2) == contents(3)


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        ([[0, 4], [1, 1]], "knows:person: the source of edge 1 is 4, but there are 4 nodes of type person"),
        ([[0], [-1]], "the destination of edge 0 is -1"),
    ],
)
def test_an_edge_to_a_node_that_is_not_there_is_refused(edges: Any, sentence: str) -> None:
    with pytest.raises(Refusal, match=sentence):
        built(MemorySource({"person": 4}, {PEOPLE: edges}, {}), 2, 1, spread)


def test_more_processes_than_parts_and_more_parts_than_nodes_are_refused() -> None:
    with pytest.raises(Refusal, match="3 processes make 2 parts"):
        together(3, lambda mesh: Plan(people(), mesh, 2))
    with pytest.raises(Refusal, match="the graph has 50 nodes, 51 parts need at least as many"):
        together(1, lambda mesh: Plan(people(), mesh, 51))


def test_rows_that_are_not_what_was_announced_are_refused() -> None:
    source = people()
    source._data[("person", "feat")] = np.zeros((50, 2), np.float32)
    with pytest.raises(Refusal, match="feature feat of person: rows 0 to 50 have shape"):
        built(source, 2, 1, spread)
