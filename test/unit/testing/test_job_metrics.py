# SPDX-License-Identifier: Apache-2.0
"""What is counted of jobs and their children, in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dglop.common.constants import POD, SERVICE

if TYPE_CHECKING:
    from test.unit.testing.conftest import MemoryCases

JOBS = {
    f"training_operator_jobs_{word}_total"
    for word in ("created", "deleted", "successful", "failed", "restarted")
}
CHILDREN = {
    "created_pods_total",
    "deleted_pods_total",
    "failed_pods_total",
    "succeeded_service_creation_total",
    "failed_service_creation_total",
    "created_pod_groups_total",
    "deleted_pod_groups_total",
}


def _counted(cases: MemoryCases, name: str, framework: str = "TestJob") -> float | None:
    labels = {"job_namespace": "default", "framework": framework}
    return cases.manager.metrics.registry.get_sample_value(name, labels)


async def test_every_counter_is_there_and_zero_before_anything_is_counted(cases: MemoryCases) -> None:
    assert {_counted(cases, name) for name in JOBS | CHILDREN} == {None}, "no job was seen in the namespace"
    await cases.toy()
    await cases.run()
    begun = {"training_operator_jobs_created_total": 1, "created_pods_total": 2}
    begun["succeeded_service_creation_total"] = 2
    assert {name: _counted(cases, name) for name in JOBS | CHILDREN} == {
        **dict.fromkeys(JOBS | CHILDREN, 0),
        **begun,
    }


async def test_a_pod_that_fails_is_counted_once_and_one_that_is_told_to_end_is_not(
    cases: MemoryCases,
) -> None:
    await cases.toy()
    await cases.dgl("other")
    await cases.run()
    await cases.set_pod("g-worker-1", "Failed", exit_code=137)
    await cases.cluster.advance(10.0)
    assert _counted(cases, "failed_pods_total") == 1
    assert _counted(cases, "failed_pods_total", "DGLJob") == 0, "it is no pod of a DGLJob"
    assert _counted(cases, "deleted_pods_total") == 1
    await cases.client.patch(
        POD, "g-worker-0", "default", {"metadata": {"finalizers": ["example.dev/ending"]}}
    )
    await cases.client.delete(POD, "g-worker-0", "default")
    await cases.set_pod("g-worker-0", "Failed", exit_code=143)
    await cases.cluster.advance(10.0)
    assert _counted(cases, "failed_pods_total") == 1


async def test_another_operator_does_not_count_what_had_failed_before_it_came(cases: MemoryCases) -> None:
    await cases.toy(restart="Never")
    await cases.run()
    await cases.set_pod("g-worker-1", "Failed", exit_code=1)
    await cases.cluster.advance(1.0)
    assert _counted(cases, "failed_pods_total") == 1
    await cases.restart()
    assert _counted(cases, "failed_pods_total") == 0


@pytest.mark.parametrize(
    ("kind", "counter"),
    [(POD, "failed_pod_creations_total"), (SERVICE, "failed_service_creation_total")],
)
async def test_a_child_that_the_server_does_not_take_is_counted_as_what_it_is(
    cases: MemoryCases, kind: object, counter: str
) -> None:
    cases.cluster.server.faults.add(403, "POST", kind)
    await cases.toy(workers=1)
    await cases.cluster.advance(10.0)
    counted = {
        name: _counted(cases, name)
        for name in ("failed_pod_creations_total", "failed_service_creation_total")
    }
    assert counted == {**dict.fromkeys(counted, 0), counter: 1}
    assert _counted(cases, "created_pods_total") == 1
