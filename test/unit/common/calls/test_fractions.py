# SPDX-License-Identifier: Apache-2.0
"""Lives whose events come at odd fractions of a second: a wait of nearly nothing is a wait all the same."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from test.unit.testing.conftest import MemoryCases

NAMES = [f"g{number}" for number in range(6)]


class Odd:
    """Time that passes by odd fractions of a second."""

    def __init__(self, cases: MemoryCases, seed: int) -> None:
        self.cases = cases
        self._chance = random.Random(seed)

    async def submit(self, **policy: Any) -> None:
        for name in NAMES:
            await self.cases.toy(name, **policy)
            await self.cases.rest()
            for index in (0, 1):
                await self.cases.bind(f"{name}-worker-{index}")
            await self.passes()

    async def passes(self) -> None:
        await self.cases.cluster.advance(self._chance.random() / 7)

    async def tell(self, index: int, phase: str, **state: Any) -> None:
        for name in NAMES:
            await self.cases.set_pod(f"{name}-worker-{index}", phase, **state)
            await self.passes()


@pytest.mark.parametrize("seed", range(3))
async def test_a_wait_of_less_than_a_microsecond_does_not_take_the_ttl_with_it(
    cases: MemoryCases, seed: int
) -> None:
    odd = Odd(cases, seed)
    await odd.submit(clean_pod_policy="Running", ttl_seconds_after_finished=100)
    await odd.tell(0, "Running")
    await odd.tell(1, "Running")
    await odd.tell(0, "Failed", exit_code=1)
    for name in NAMES:
        await cases.remove_pod(f"{name}-worker-1")
        await odd.passes()
    await cases.cluster.advance(90.0)
    assert all(cases.has("Failed", name=name) for name in NAMES)
    await cases.cluster.advance(30.0)
    assert [name for name in NAMES if cases.job(name)] == []


@pytest.mark.parametrize("seed", range(3))
async def test_nor_a_deadline(cases: MemoryCases, seed: int) -> None:
    odd = Odd(cases, seed)
    await odd.submit(active_deadline_seconds=100)
    await odd.tell(0, "Running")
    await odd.tell(1, "Running")
    await odd.tell(0, "Pending")  # counts, and nothing else
    await cases.cluster.advance(101.0)
    assert [name for name in NAMES if not cases.has("Failed", name=name)] == []
