# SPDX-License-Identifier: Apache-2.0
"""What a job's life costs the API server: as the page says, and nothing where nothing changes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dglop.testing.memory import MemoryCluster
from test.unit.common.calls.kinds import LIVES
from test.unit.common.calls.operator import NAMESPACE, Operator
from test.unit.common.calls.requests import by_resource
from test.wire import Wire

if TYPE_CHECKING:
    from test.unit.testing.conftest import MemoryCases

PAGE = Path(__file__).resolve().parents[4] / "docs" / "requests.md"
ROW = re.compile(r"^\| ((?:create|patch|delete|get) \S+) \| (\d+) \| (\d+) \|", re.MULTILINE)


def table() -> dict[str, dict[str, int]]:
    """What the page says, by kind; what it says is 0 is left out."""
    rows = ROW.findall(PAGE.read_text())
    toy = {call: int(count) for call, count, _ in rows if int(count)}
    return {"TestJob": toy, "DGLJob": {call: int(count) for call, _, count in rows if int(count)}}


@pytest.mark.parametrize("kind", LIVES)
async def test_a_jobs_life_costs_the_requests_that_the_page_says(kind: str) -> None:
    wire = Wire()
    async with MemoryCluster() as cluster:
        outcome = await LIVES[kind](cluster, is_plain=True).live(wire)
    assert outcome.end["conditions"]["Succeeded"][0] == "True"
    assert wire.refused == []
    assert dict(by_resource(wire.sent)) == table()[kind]


@pytest.mark.parametrize("workers", [2, 10, 30])
@pytest.mark.parametrize("together", [False, True])
async def test_pods_that_run_cost_the_same_however_many_and_those_that_end_one_by_one_a_write_each(
    cases: MemoryCases, workers: int, together: bool
) -> None:
    writes = []
    await cases.toy(workers=workers)
    await cases.until(lambda: len(cases.pods()) == workers)
    for phase, code in (("Running", None), ("Succeeded", 0)):
        before = cases.wire.count("PATCH", "/status")
        watchers = [each for each in cases.cluster.server.watchers if each.storage == "pods"]
        for each in watchers if together else ():
            each.hold()
        for index in range(workers):
            await cases.set_pod(f"g-worker-{index}", phase, exit_code=code)
            await cases.cluster.advance(0.0 if together else 0.05)
        for each in watchers if together else ():
            each.release()
        await cases.cluster.advance(5.0)
        writes.append(cases.wire.count("PATCH", "/status") - before)
    assert cases.has("Succeeded")
    assert writes[0] <= 3
    assert writes[1] == (1 if together else workers)


@pytest.mark.parametrize("kind", LIVES)
async def test_nothing_is_sent_where_nothing_changes(kind: str) -> None:
    async with MemoryCluster() as cluster:
        life = LIVES[kind](cluster, is_plain=True)
        await cluster.install(life.resource)
        life.operator = operator = Operator(cluster, life.resource, life.kind, Wire())
        await operator.start()
        (_, submit), (is_running, _), *_ = life.steps()
        await submit()
        while not is_running(life.job()):
            await life.turn(1.0)
        await cluster.advance(60.0)
        for _ in range(3):
            sent = list(operator.wire.sent)
            await operator.resync()
            note = {"metadata": {"annotations": {"example.dev/touched": str(len(sent))}}}
            await cluster.client.patch(life.resource, "g", NAMESPACE, note)
            await cluster.advance(3600.0)
            assert operator.wire.sent == sent
        await operator.stop()
        operator.wire = Wire()
        await operator.start()
        await cluster.advance(3600.0)
        writes = [each for each in operator.wire.sent if not each.startswith("GET")]
        assert writes == []
        await operator.stop()
