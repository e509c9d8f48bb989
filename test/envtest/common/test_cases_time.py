# SPDX-License-Identifier: Apache-2.0
"""The acceptance cases in which time passes: each by its name, on whichever server."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from dglop.runtime.api import Resource
from dglop.runtime.api.times import format_time
from dglop.testing.toyjob import ToyJob

if TYPE_CHECKING:
    from test.envtest.common.clocked import ClockedCases

QUOTA = Resource("", "v1", "ResourceQuota", "resourcequotas")


async def succeeded(timed: ClockedCases, **policy: Any) -> None:
    """A TestJob that has succeeded just now."""
    await timed.toy(workers=1, **policy)
    await timed.run()
    await timed.set_pod("g-worker-0", "Succeeded", exit_code=0)
    await timed.until(lambda: timed.has("Succeeded"))
    await timed.rest()


async def test_a5_a_ttl_of_100_s_keeps_the_job_for_99_s_and_deletes_it_once_by_101_s(
    timed: ClockedCases,
) -> None:
    await succeeded(timed, ttl_seconds_after_finished=100)
    await timed.advance(99.0)
    assert timed.job() is not None
    await timed.advance(2.0)
    await timed.until(lambda: timed.job() is None)
    await timed.advance(600.0)
    (delete,) = [each for each in timed.wire.calls if str(each).startswith("DELETE")]
    assert delete.path.endswith("/testjobs/g")
    assert b'"propagationPolicy":"Background"' in (delete.body or b"").replace(b": ", b":")


async def test_a8_a_deadline_of_30_s_ends_a_job_that_nothing_happens_to_and_success_comes_too_late(
    timed: ClockedCases,
) -> None:
    await timed.toy(active_deadline_seconds=30, clean_pod_policy="Running")
    await timed.run()
    await timed.hold("g-worker-0")
    await timed.advance(29.0)
    assert not timed.has("Failed")
    await timed.advance(2.0)
    await timed.until(lambda: timed.has("Failed"))
    failed = timed.job().status.get("Failed")
    assert failed.reason == "DeadlineExceeded"
    assert "deadline" in failed.message
    await timed.until(lambda: set(timed.pods()) == {"g-worker-0"})
    await timed.until(lambda: timed.pods()["g-worker-0"].is_terminating)
    before = timed.job().status.conditions
    await timed.set_pod("g-worker-0", "Succeeded", exit_code=0)
    await timed.advance(60.0)
    assert timed.job().status.conditions == before
    await timed.free("g-worker-0")


async def test_a10_a_completion_time_in_the_future_defers_the_deletion_and_warns_in_the_log(
    timed: ClockedCases,
) -> None:
    await timed.toy(workers=1, ttl_seconds_after_finished=60, suspend=True)
    await timed.until(lambda: timed.has("Suspended"))
    await timed.rest()
    later = format_time(timed.clock.now() + timedelta(hours=1))
    ended = {"type": "Succeeded", "status": "True", "reason": "TestJobSucceeded", "lastTransitionTime": later}
    status = {"completionTime": later, "conditions": [ended | {"message": ""}]}
    await timed.client.patch(ToyJob, "g", timed.namespace, {"status": status}, subresource="status")
    await timed.advance(3600.0 + 58.0)
    assert timed.job() is not None
    assert timed.wire.count("DELETE", "/testjobs/g") == 0
    said = f"completionTime {later} lies in the future: clocks differ, or it was edited"
    warned = {(each["msg"], each["namespace"], each["name"]) for each in timed.said.warnings()}
    assert warned == {(said, timed.namespace, "g")}
    await timed.advance(3.0)
    await timed.until(lambda: timed.job() is None)


async def quota(timed: ClockedCases, pods: int) -> None:
    place = {"name": "few", "namespace": timed.namespace}
    limits = {"hard": {"pods": str(pods)}}
    made = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": place, "spec": limits}
    await timed.client.create(made)
    status: dict[str, Any] = {"status": {**limits, "used": {"pods": "0"}}}
    await timed.client.patch(QUOTA, "few", timed.namespace, status, subresource="status")


async def test_c11_a_quota_that_refuses_a_worker_for_ten_minutes_is_asked_twelve_times_and_told_once(
    timed: ClockedCases,
) -> None:
    await quota(timed, 2)
    await timed.dgl()
    await timed.played_until(lambda: "g-worker-0" in timed.pods())
    others = {name: pod.uid for name, pod in timed.pods().items()}
    made = timed.wire.count("POST", "/pods")
    await timed.advance(600.0)
    assert 1 <= timed.wire.count("POST", "/pods") - made <= 12
    assert {name: pod.uid for name, pod in timed.pods().items()} == others
    running = timed.dgljob().status.get("Running")
    assert (running.status, running.reason) == ("False", "FailedCreatePod")
    await timed.until(lambda: timed.events("FailedCreatePod"))
    (event,) = timed.events("FailedCreatePod")
    assert "exceeded quota" in event["note"]
    await timed.client.delete(QUOTA, "few", timed.namespace)
    await timed.train()
    timed.kubelet.done.add("g")
    await timed.played_until(lambda: timed.has("Succeeded"))
