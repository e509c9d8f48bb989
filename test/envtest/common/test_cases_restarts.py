# SPDX-License-Identifier: Apache-2.0
"""The acceptance cases of restarts and exit codes: each by its name, on whichever server."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dglop.common.constants import DEFAULT_CONTAINER_ANNOTATION, POD
from dglop.testing.builders import container_status, pod_template

if TYPE_CHECKING:
    from test.envtest.common.case_world import Cases

CODES = (0, 1, 126, 127, 128, 130, 137, 139, 143, 255)


async def statuses(cases: Cases, name: str, phase: str, *listed: dict[str, Any]) -> None:
    body = {"status": {"phase": phase, "containerStatuses": list(listed)}}
    await cases.client.patch(POD, name, cases.namespace, body, subresource="status")


async def test_b1_exit_code_1_ends_the_job_at_once_and_nothing_is_made_anew(cases: Cases) -> None:
    await cases.dgl()
    await cases.train()
    made = cases.wire.count("POST", "/pods")
    await cases.fail("g-worker-1", 1)
    await cases.until(lambda: cases.has("Failed"))
    await cases.rest()
    status = cases.dgljob().status
    assert "exited with code 1" in status.get("Failed").message
    assert status.completion_time is not None
    assert (status.last_failure.pod_name, status.last_failure.exit_code) == ("g-worker-1", 1)
    assert cases.wire.count("POST", "/pods") == made


async def test_b2_exit_code_137_makes_the_replica_anew_and_counts_it(cases: Cases) -> None:
    await cases.toy()
    await cases.run()
    old = cases.pods()
    await cases.set_pod("g-worker-1", "Failed", exit_code=137)
    await cases.until(lambda: cases.has("Restarting"))
    assert cases.has("Running", "False")
    assert cases.job().status.restart_count == 1
    await cases.until(lambda: (pod := cases.pods().get("g-worker-1")) and pod.uid != old["g-worker-1"].uid)
    new = cases.pods()
    assert new["g-worker-0"].uid == old["g-worker-0"].uid
    assert new["g-worker-1"].index == 1
    await cases.set_pod("g-worker-1")
    await cases.until(lambda: cases.has("Running"))
    assert cases.has("Restarting", "False")
    assert cases.job().status.restart_count == 1


async def test_b2_exit_code_137_of_one_worker_restarts_all_of_a_dgljob_and_counts_once(cases: Cases) -> None:
    await cases.dgl()
    await cases.train()
    old = {name: pod.uid for name, pod in cases.pods().items()}
    await cases.fail("g-worker-1", 137)
    await cases.until(lambda: cases.has("Restarting"))
    assert cases.has("Running", "False")
    await cases.train()
    await cases.until(lambda: cases.has("Running"))
    new = {name: pod.uid for name, pod in cases.pods().items()}
    assert set(new) == set(old)
    assert {name for name in new if new[name] == old[name]} == {"g-partitioner-0"}
    assert cases.has("Restarting", "False")
    status = cases.dgljob().status
    assert (status.restart_count, status.attempt) == (1, 2)


async def test_b4_an_eviction_before_anything_ran_is_a_disruption_and_no_restart(cases: Cases) -> None:
    await cases.dgl(restart="OnFailure")
    await cases.train()
    old = cases.pods()["g-worker-1"].uid
    status = {"phase": "Failed", "reason": "Evicted", "message": "low on memory", "containerStatuses": None}
    await cases.client.patch(POD, "g-worker-1", cases.namespace, {"status": status}, subresource="status")
    await cases.until(lambda: (pod := cases.pods().get("g-worker-1")) and pod.uid != old)
    found = cases.dgljob().status
    assert (found.disruption_count, found.restart_count) == (1, 0)
    assert (found.last_failure.reason, found.last_failure.exit_code) == ("Evicted", None)


async def test_b6_codes_to_127_are_final_and_from_128_on_tried_again(cases: Cases) -> None:
    for code in CODES:
        await cases.toy(f"c{code}", workers=1)
    for code in CODES:
        await cases.run_all(1, f"c{code}")
        phase = "Failed" if code else "Succeeded"
        await cases.set_pod(f"c{code}-worker-0", phase, exit_code=code)
    wanted = {code: "Succeeded" if code == 0 else "Failed" if code < 128 else "Restarting" for code in CODES}
    for code, condition in wanted.items():
        await cases.until(partial(cases.has, condition, name=f"c{code}"))
    await cases.rest()
    restarts = {code: cases.job(f"c{code}").status.restart_count for code in CODES}
    assert restarts == {code: int(code >= 128) for code in CODES}
    ended = ("Succeeded", "Failed")
    fates = {code: {each for each in ended if cases.has(each, name=f"c{code}")} for code in CODES}
    assert fates == {code: {word} & set(ended) for code, word in wanted.items()}


async def test_b7_the_main_container_decides_whatever_a_sidecar_did(cases: Cases) -> None:
    template = pod_template("side", "main")
    template["metadata"] = {"annotations": {DEFAULT_CONTAINER_ANNOTATION: "main"}}
    await cases.toy(workers=1, template=template)
    await cases.until(lambda: len(cases.pods()) == 1)
    await statuses(
        cases, "g-worker-0", "Running", container_status("side", ready=True), container_status(ready=True)
    )
    await cases.until(lambda: cases.has("Running"))
    side, main = container_status("side", exit_code=1), container_status("main", exit_code=137)
    await statuses(cases, "g-worker-0", "Failed", side, main)
    await cases.until(lambda: cases.has("Restarting"))
    status = cases.job().status
    assert (status.restart_count, status.last_failure.exit_code, status.last_failure.signal) == (1, 137, 9)
    assert not cases.has("Failed")
