# SPDX-License-Identifier: Apache-2.0
"""The acceptance cases in which time passes, or requests go wrong: each by its name, in memory alone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from dglop.common.constants import POD
from dglop.dgljob import DGLJob
from dglop.runtime.api import Resource
from dglop.runtime.api.times import format_time
from dglop.testing.toyjob import ToyJob

if TYPE_CHECKING:
    from test.unit.testing.conftest import MemoryCases

QUOTA = Resource("", "v1", "ResourceQuota", "resourcequotas")
STATUS = "/testjobs/g/status"


async def succeeded(cases: MemoryCases, **policy: Any) -> None:
    """A TestJob that has succeeded just now."""
    await cases.toy(workers=1, **policy)
    await cases.run()
    await cases.set_pod("g-worker-0", "Succeeded", exit_code=0)
    await cases.rest()
    assert cases.has("Succeeded")


async def test_a5_a_ttl_of_100_s_keeps_the_job_for_99_s_and_deletes_it_once_by_101_s(
    cases: MemoryCases,
) -> None:
    await succeeded(cases, ttl_seconds_after_finished=100)
    await cases.cluster.advance(99.0)
    assert cases.job() is not None
    await cases.cluster.advance(2.0)
    assert cases.job() is None
    await cases.cluster.advance(600.0)
    (delete,) = [each for each in cases.wire.calls if str(each).startswith("DELETE")]
    assert delete.path.endswith("/testjobs/g")
    assert b'"propagationPolicy":"Background"' in (delete.body or b"").replace(b": ", b":")


async def test_a8_a_deadline_of_30_s_ends_a_job_that_nothing_happens_to_and_success_comes_too_late(
    cases: MemoryCases,
) -> None:
    await cases.toy(active_deadline_seconds=30, clean_pod_policy="Running")
    await cases.run()
    await cases.hold("g-worker-0")
    await cases.cluster.advance(29.0)
    assert not cases.has("Failed")
    await cases.cluster.advance(2.0)
    failed = cases.job().status.get("Failed")
    assert (failed.status, failed.reason) == ("True", "DeadlineExceeded")
    assert "deadline" in failed.message
    assert set(cases.pods()) == {"g-worker-0"}
    assert cases.pods()["g-worker-0"].is_terminating
    before = cases.job().status.conditions
    await cases.set_pod("g-worker-0", "Succeeded", exit_code=0)
    await cases.cluster.advance(60.0)
    assert cases.job().status.conditions == before


async def test_a10_a_completion_time_in_the_future_defers_the_deletion(cases: MemoryCases) -> None:
    await cases.toy(workers=1, ttl_seconds_after_finished=60, suspend=True)
    await cases.rest()
    later = format_time(cases.cluster.clock.now() + timedelta(hours=1))
    ended = {"type": "Succeeded", "status": "True", "reason": "TestJobSucceeded", "lastTransitionTime": later}
    status = {"completionTime": later, "conditions": [ended | {"message": ""}]}
    await cases.client.patch(ToyJob, "g", cases.namespace, {"status": status}, subresource="status")
    await cases.cluster.advance(3600.0 + 59.0)
    assert cases.job() is not None
    assert cases.wire.count("DELETE", "/testjobs/g") == 0
    await cases.cluster.advance(2.0)
    assert cases.job() is None


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


async def quota(cases: MemoryCases, pods: int) -> None:
    place = {"name": "few", "namespace": cases.namespace}
    limits = {"hard": {"pods": str(pods)}}
    made = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": place, "spec": limits}
    await cases.client.create(made)
    status: dict[str, Any] = {"status": {**limits, "used": {"pods": "0"}}}
    await cases.client.patch(QUOTA, "few", cases.namespace, status, subresource="status")


async def test_c11_a_quota_that_refuses_a_worker_for_ten_minutes_is_asked_twelve_times_and_told_once(
    cases: MemoryCases,
) -> None:
    await quota(cases, 2)
    await cases.dgl()
    await cases.played_until(lambda: "g-worker-0" in cases.pods())
    others = {name: pod.uid for name, pod in cases.pods().items()}
    made = cases.wire.count("POST", "/pods")
    await cases.cluster.advance(600.0)
    assert cases.wire.count("POST", "/pods") - made <= 12
    assert {name: pod.uid for name, pod in cases.pods().items()} == others
    running = cases.dgljob().status.get("Running")
    assert (running.status, running.reason) == ("False", "FailedCreatePod")
    events = cases.events("FailedCreatePod")
    assert len(events) == 1
    assert "exceeded quota" in events[0]["note"]
    await cases.client.delete(QUOTA, "few", cases.namespace)
    await cases.train()
    cases.kubelet.done.add("g")
    await cases.played_until(lambda: cases.has("Succeeded"))


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
