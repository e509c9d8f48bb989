# SPDX-License-Identifier: Apache-2.0
"""Which part is a trainer's home, who answers for which part, and which samplers serve which trainers.

Nobody is told any of this: each process works it out alike, from the same few numbers.
"""

from __future__ import annotations

from typing import List

__all__ = ("even_offsets", "home_of", "owners_of", "parts_of", "samplers_of", "trainers_of")


def home_of(rank: int, trainers: int, parts: int) -> int:
    """The part that a trainer calls home: its share of the seeds lies there as far as may be.

    Ranks of one home follow each other, and no home is left out before one that is taken: DGL counts on both.
    """
    return rank * parts // trainers if trainers >= parts else rank


def parts_of(rank: int, trainers: int, parts: int) -> List[int]:
    """The parts that a trainer answers for: its home, and what nobody calls home; together all of them."""
    if trainers >= parts:
        return [home_of(rank, trainers, parts)]
    return [part for part in range(parts) if part % trainers == rank]


def owners_of(part: int, trainers: int, parts: int) -> List[int]:
    """The trainers that answer for a part, never none."""
    return [rank for rank in range(trainers) if part in parts_of(rank, trainers, parts)]


def samplers_of(rank: int, trainers: int, samplers: int) -> List[int]:
    """The samplers that serve a trainer: an equal share of them, or one that it shares with other trainers."""
    if samplers == 0:
        return []
    if samplers < trainers:
        return [rank % samplers]
    return [number for number in range(samplers) if number % trainers == rank]


def trainers_of(sampler: int, trainers: int, samplers: int) -> List[int]:
    """The trainers that a sampler serves, never none."""
    return [rank for rank in range(trainers) if sampler in samplers_of(rank, trainers, samplers)]


def even_offsets(count: int, shares: int) -> List[int]:
    """Where `count` things are cut into shares that differ by one at most: `shares` + 1 offsets."""
    least, more = divmod(count, shares)
    return [share * least + min(share, more) for share in range(shares + 1)]
