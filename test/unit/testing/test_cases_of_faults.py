# SPDX-License-Identifier: Apache-2.0
"""The acceptance cases in which a cache is held up, or requests go wrong: by their names, in memory alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.constants import POD
from dglop.dgljob import DGLJob
from dglop.testing.toyjob import ToyJob

if TYPE_CHECKING:
    from test.unit.testing.conftest import MemoryCases

STATUS = "/testjobs/g/status"


async def test_c5_a_cache_that_shows_no_pod_for_three_looks_has_each_made_once(cases: MemoryCases) -> None:
    for watcher in cases.cluster.server.watchers:
        if watcher.storage == "pods":
            watcher.hold()
    await cases.toy()
    await cases.rest()
    for _ in range(3):
        await cases.touch(ToyJob)
    assert cases.pods() == {}
    assert cases.wire.count("POST", "/pods") == 2
    for watcher in cases.cluster.server.watchers:
        watcher.release()
    await cases.touch(ToyJob)
    assert len(cases.pods()) == 2
    assert cases.wire.count("POST", "/pods") == 2


async def test_c7_a_job_made_again_has_its_pods_within_ten_seconds_of_the_old_ones_end(
    cases: MemoryCases,
) -> None:
    old = await cases.dgl()
    await cases.train()
    for name in cases.pods():
        await cases.hold(name)
    await cases.client.delete(DGLJob, "g", cases.namespace)
    await cases.collect(old.uid)
    new = await cases.dgl()
    await cases.cluster.advance(20.0)
    for name in cases.pods():
        await cases.free(name)
    await cases.cluster.advance(10.0)
    pods = await cases.client.list(POD, cases.namespace)
    owners = {each["metadata"]["name"]: each["metadata"]["ownerReferences"][0]["uid"] for each in pods}
    assert owners == {"g-partitioner-0": new.uid}
    assert sum(status == 409 and call.endswith("/pods") for call, status in cases.wire.refused) <= 5


async def test_c12_a_status_that_conflicts_twice_is_written_at_the_third_try_and_counts_once(
    cases: MemoryCases,
) -> None:
    await cases.toy()
    await cases.run()
    order = cases.cluster.server.faults.add(409, "PATCH", ToyJob, name="g", subresource="status", times=2)
    await cases.set_pod("g-worker-1", "Failed", exit_code=137)
    await cases.cluster.advance(10.0)
    assert order.hits == 2
    assert [status for call, status in cases.wire.refused if call.endswith(STATUS)] == [409, 409]
    assert cases.job().status.restart_count == 1
    assert cases.wire.count("POST", "/pods") == 3
    metrics, labels = cases.manager.metrics.registry, {"job_namespace": "default", "framework": "TestJob"}
    assert metrics.get_sample_value("training_operator_jobs_restarted_total", labels) == 1
