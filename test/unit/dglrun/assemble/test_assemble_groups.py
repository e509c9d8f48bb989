# SPDX-License-Identifier: Apache-2.0
"""Which nodes are to be spread evenly over the parts: by type, by a mask, by the value of a feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dglop.dglrun.assemble.choose import Method, choose_parts
from dglop.dglrun.assemble.groups import balance_groups
from dglop.dglrun.assemble.plan import Plan
from dglop.dglrun.ending import Refusal
from test.unit.dglrun.assemble.assemble_graphs import PEOPLE, arrays, library, people, together

LABELS = np.array([30, 10, 20, 10] * 15)


def labelled() -> Any:
    """A circle of sixty nodes with labels that are no small numbers, and features that cannot be balanced."""
    start = np.arange(60)
    ends = np.stack([start, (start + 1) % 60])
    data = {
        ("person", "label"): LABELS,
        ("person", "age"): start / 2,
        ("person", "number"): np.arange(60) * 3,
    }
    return arrays({"person": 60, "paper": 7}, {PEOPLE: ends}, {**data, ("person", "wide"): ends.T})


def groups(source: Any, name: str | None, size: int) -> list[int]:
    found = together(size, lambda mesh: balance_groups(Plan(source, mesh, 4), name))
    return [int(each) for share in found for each in share]


@pytest.mark.parametrize("size", [1, 2, 4])
def test_nodes_are_alike_by_type_and_by_the_training_mask_unless_told_otherwise(size: int) -> None:
    mask = people().node_data("person", "train_mask", 0, 50)
    assert groups(people(), None, size) == mask.astype(int).tolist()
    assert groups(library(), None, size) == [0] * 3 + [1] * 22 + [2] * 4
    assert set(groups(people(), "none", size)) == {0}


@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_feature_that_is_named_makes_a_group_of_each_of_its_values(size: int) -> None:
    found = groups(labelled(), "label", size)
    assert found == [0] * 7 + [{10: 1, 20: 2, 30: 3}[each] for each in LABELS.tolist()]


@pytest.mark.parametrize("size", [1, 2])
def test_every_part_then_has_as_many_of_each_value(size: int) -> None:
    def work(mesh: Any) -> Any:
        plan = Plan(labelled(), mesh, 3)
        return choose_parts(plan, Method("parallel"), balance_groups(plan, "label"))

    parts = np.concatenate(together(size, work))[7:]
    for label in (10, 20, 30):
        counts = np.bincount(parts[label == LABELS], minlength=3)
        assert counts.max() - counts.min() <= 2


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("colour", "colour: no node has that feature; there are age, label, number, wide"),
        ("age", "at most 64 values; it has shape .* and type float64"),
        ("wide", "it has shape .*2,.* and type int64"),
    ],
)
def test_a_feature_that_is_not_there_or_is_no_small_number_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(Refusal, match=sentence):
        groups(labelled(), name, 2)


def test_a_feature_with_too_many_values_in_all_shares_together_is_refused() -> None:
    source = arrays({"person": 80}, {PEOPLE: [[0], [1]]}, {("person", "number"): np.arange(80)})
    with pytest.raises(Refusal, match="it has more than 64 values"):
        groups(source, "number", 2)
