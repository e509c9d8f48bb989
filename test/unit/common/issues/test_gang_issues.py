# SPDX-License-Identifier: Apache-2.0
"""Issues 27 to 29 of docs/issues.md: groups that nobody watches, that come back, or that the server lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dglop.testing.toyjob import ToyJob
from test.unit.testing.gang_cases import gang_cases, groups, set_phase

if TYPE_CHECKING:
    from dglop.testing.memory import MemoryCluster

DELETE = "DELETE /apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/g"


async def test_issue_27_pods_are_made_as_soon_as_the_group_is_taken_up(memory_cluster: MemoryCluster) -> None:
    """Nobody woke up, and there never were pods: kubeflow/trainer#1574, #1729."""
    async with gang_cases(memory_cluster) as cases:
        await cases.toy()
        await cases.rest()
        await set_phase(cases, "Pending")
        await cases.rest()
        assert cases.pods() == {}
        await set_phase(cases, "Inqueue")
        await cases.rest()  # no time passes
        assert len(cases.pods()) == 2


@pytest.mark.parametrize("end", ["Succeeded", "Failed"])
async def test_issue_28_a_finished_jobs_group_is_deleted_once_and_does_not_come_back(
    memory_cluster: MemoryCluster, end: str
) -> None:
    """It was made and deleted by turns, or stayed: kubeflow/trainer#1011, #1426, #4059."""
    async with gang_cases(memory_cluster) as cases:
        await cases.toy()
        await cases.rest()
        await set_phase(cases, "Running")
        await cases.run()
        for name in list(cases.pods()):
            await cases.set_pod(name, end, exit_code=int(end == "Failed"))
        await cases.rest()
        assert cases.has(end)
        for _ in range(10):
            await cases.touch(ToyJob)
            await cases.cluster.advance(5.0)
        assert cases.wire.sent.count(DELETE) == 1
        assert cases.wire.count("POST", "/podgroups") == 1
        assert await groups(cases) == {}
        (event,) = cases.events(f"TestJob{end}")
        assert "series" not in event


async def test_issue_29_without_the_crd_there_are_few_tries_and_the_job_says_why(
    memory_cluster: MemoryCluster,
) -> None:
    """It was tried in a loop, without a word: kubeflow/trainer#1825."""
    async with gang_cases(memory_cluster, is_served=False) as cases:
        await cases.toy()
        await cases.rest()
        asked = cases.cluster.server.requests
        await cases.cluster.advance(60.0)
        tries = cases.wire.count("POST", "/podgroups")
        assert 4 <= tries < 10
        assert cases.cluster.server.requests - asked < 40
        (event,) = cases.events("FailedCreatePodGroup")
        assert "podgroups.scheduling.volcano.sh" in event["note"]
        running = cases.job().status.get("Running")
        assert (running.status, running.reason) == ("False", "FailedCreatePodGroup")
        assert cases.pods() == {}
