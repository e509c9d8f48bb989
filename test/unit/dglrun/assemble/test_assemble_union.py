# SPDX-License-Identifier: Apache-2.0
"""Parts made by several processes are, taken together, the graph that was read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dglop.dglrun.assemble.groups import balance_groups
from dglop.dglrun.assemble.ids.parallel import parallel
from dglop.dglrun.assemble.ids.spread import spread
from dglop.dglrun.assemble.plan import Plan
from dglop.dglrun.ending import Refusal
from test.unit.dglrun.assemble.assemble_graphs import (
    GRAPHS,
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


def test_more_processes_than_parts_and_more_parts_than_nodes_are_refused() -> None:
    with pytest.raises(Refusal, match="3 processes make 2 parts"):
        together(3, lambda mesh: Plan(people(), mesh, 2))
    with pytest.raises(Refusal, match="the graph has 50 nodes, 51 parts need at least as many"):
        together(1, lambda mesh: Plan(people(), mesh, 51))
