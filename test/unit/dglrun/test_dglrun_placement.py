# SPDX-License-Identifier: Apache-2.0
"""Parts, trainers and samplers find each other alike in every process, for any numbers of them."""

from __future__ import annotations

import itertools

import pytest

from dglop.dglrun.remote.placement import (
    even_offsets,
    home_of,
    owners_of,
    parts_of,
    samplers_of,
    trainers_of,
)

NUMBERS = list(itertools.product(range(1, 8), range(1, 8)))


@pytest.mark.parametrize(("trainers", "parts"), NUMBERS)
def test_every_part_has_somebody_who_answers_for_it(trainers: int, parts: int) -> None:
    answered = [part for rank in range(trainers) for part in parts_of(rank, trainers, parts)]
    assert set(answered) == set(range(parts))
    for part in range(parts):
        owners = owners_of(part, trainers, parts)
        assert owners
        assert all(part in parts_of(rank, trainers, parts) for rank in owners)


@pytest.mark.parametrize(("trainers", "parts"), NUMBERS)
def test_homes_are_as_dgl_counts_on_them(trainers: int, parts: int) -> None:
    homes = [home_of(rank, trainers, parts) for rank in range(trainers)]
    assert homes == sorted(homes), "ranks of one home follow each other"
    assert set(homes) == set(range(min(trainers, parts))), "and none is left out before one that is taken"
    counts = [homes.count(home) for home in set(homes)]
    assert max(counts) - min(counts) <= 1
    assert all(home_of(rank, trainers, parts) in parts_of(rank, trainers, parts) for rank in range(trainers))


@pytest.mark.parametrize(("trainers", "samplers"), NUMBERS)
def test_every_sampler_has_work_and_every_trainer_is_served(trainers: int, samplers: int) -> None:
    served = [samplers_of(rank, trainers, samplers) for rank in range(trainers)]
    assert all(served)
    assert {number for each in served for number in each} == set(range(samplers))
    for number in range(samplers):
        whom = trainers_of(number, trainers, samplers)
        assert whom == [rank for rank in range(trainers) if number in served[rank]]
    loads = [len(trainers_of(number, trainers, samplers)) for number in range(samplers)]
    assert max(loads) - min(loads) <= 1


def test_without_samplers_a_trainer_samples_itself() -> None:
    assert samplers_of(0, 3, 0) == []


def test_shares_differ_by_one_at_most() -> None:
    assert even_offsets(10, 4) == [0, 3, 6, 8, 10]
    assert even_offsets(1, 3) == [0, 1, 1, 1]
