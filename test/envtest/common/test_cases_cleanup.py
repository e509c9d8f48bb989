# SPDX-License-Identifier: Apache-2.0
"""The acceptance cases of cleaning, without those that wait: each by its name, on whichever server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.testing.toyjob import ToyJob

if TYPE_CHECKING:
    from test.envtest.common.case_world import Cases


async def mixed(cases: Cases, policy: str) -> None:
    """A job that fails while its pods are Running, Pending, Failed and Succeeded."""
    await cases.toy(workers=4, clean_pod_policy=policy)
    await cases.until(lambda: len(cases.pods()) == 4)
    await cases.set_pod("g-worker-0")
    await cases.set_pod("g-worker-3", "Succeeded", exit_code=0)
    await cases.set_pod("g-worker-2", "Failed", exit_code=1)
    await cases.until(lambda: cases.has("Failed"))
    await cases.rest()


async def test_a1_under_none_a_succeeded_jobs_pods_and_services_all_stay(cases: Cases) -> None:
    await cases.toy(workers=3, clean_pod_policy="None")
    await cases.run()
    for index in range(3):
        await cases.set_pod(f"g-worker-{index}", "Succeeded", exit_code=0)
    await cases.until(lambda: cases.has("Succeeded"))
    await cases.until(lambda: cases.count() == {"succeeded": 3})
    await cases.touch(ToyJob)
    assert cases.job().status.completion_time is not None
    assert [each for each in cases.wire.sent if each.startswith("DELETE")] == []
    assert len(cases.pods()) == len(cases.services()) == 3


async def test_a2_under_running_the_running_and_pending_pods_go_with_their_services(cases: Cases) -> None:
    await mixed(cases, "Running")
    await cases.until(lambda: set(cases.pods()) == {"g-worker-2", "g-worker-3"})
    assert cases.services() == {"g-worker-2", "g-worker-3"}
    assert cases.wire.count("DELETE", "/pods/g-worker-0") == 1
    assert cases.wire.count("DELETE", "/pods/g-worker-1") == 1
    assert sum("DELETE" in each and "/pods/" in each for each in cases.wire.sent) == 2


async def test_a3_under_all_every_pod_goes_and_a_second_look_deletes_nothing_more(cases: Cases) -> None:
    await mixed(cases, "All")
    await cases.until(lambda: not cases.pods() and not cases.services())
    deletes = [each for each in cases.wire.sent if each.startswith("DELETE")]
    assert sum("/pods/" in each for each in deletes) == 4
    await cases.touch(ToyJob)
    assert [each for each in cases.wire.sent if each.startswith("DELETE")] == deletes


async def test_a7_with_a_ttl_of_0_the_job_goes_once_its_success_was_seen(cases: Cases) -> None:
    job = await cases.toy(workers=1, ttl_seconds_after_finished=0)
    await cases.run()
    await cases.set_pod("g-worker-0", "Succeeded", exit_code=0)
    await cases.until(lambda: cases.job() is None)
    last = cases.history[-1]
    assert (last.uid, last.status.is_true("Succeeded")) == (job.uid, True)
    assert sum(each.status.is_true("Succeeded") for each in cases.history) == 1
    assert cases.wire.count("DELETE", "/testjobs/g") == 1
