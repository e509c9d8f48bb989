# SPDX-License-Identifier: Apache-2.0
"""Suspension, deletion and company: what a job does when people change their minds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from test.e2e.jobs import Jobs, condition, phase, status

if TYPE_CHECKING:
    from test.e2e.kubectl import Kubectl

_OWNED = "pods,services,secrets,configmaps,persistentvolumeclaims,roles,rolebindings,serviceaccounts"


def _suspend(jobs: Jobs, name: str, *, on: bool) -> None:
    patch = json.dumps({"spec": {"runPolicy": {"suspend": on}}})
    jobs.kubectl.run("patch", "dgljob", name, "-n", jobs.namespace, "--type=merge", "-p", patch)


def _claim(jobs: Jobs, name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": jobs.namespace},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "64Mi"}}},
    }


def _on_claim(name: str) -> dict[str, Any]:
    return {"storage": {"type": "PVC", "claimName": name}}


def _suspend_and_resume(jobs: Jobs, kubectl: Kubectl, name: str) -> tuple[str, dict[str, Any]]:
    before = jobs.until_phase(name, "Training")
    _suspend(jobs, name, on=True)
    suspended = jobs.until_phase(name, "Suspended")
    kubectl.until("no pod is left", lambda: not kubectl.list("pods", jobs.namespace))
    assert condition(suspended, "Suspended")["status"] == "True"  # type: ignore[index]
    idle = jobs.get(name)
    assert idle is not None
    assert all(each.get("active", 0) == 0 for each in status(idle).get("replicaStatuses", {}).values())
    _suspend(jobs, name, on=False)
    after = jobs.until_phase(name, "Completed")
    assert condition(after, "Suspended")["status"] == "False"  # type: ignore[index]
    assert status(after).get("restartCount", 0) == 0
    return status(before)["partition"]["manifestHash"], after


def test_a_job_on_emptydir_partitions_again_after_suspension(jobs: Jobs, kubectl: Kubectl) -> None:
    jobs.submit(jobs.stand_in("job", seconds=6))
    before, after = _suspend_and_resume(jobs, kubectl, "job")
    assert status(after)["partition"]["manifestHash"] != before
    events = kubectl.out(
        "get", "events.events.k8s.io", "-n", jobs.namespace, "-o", "jsonpath={.items[*].reason}"
    )
    assert "PartsLost" in events.split()


def test_a_job_on_a_claim_keeps_its_parts_over_suspension(jobs: Jobs, kubectl: Kubectl) -> None:
    jobs.submit(_claim(jobs, "parts"), jobs.stand_in("job", seconds=6, **_on_claim("parts")))
    before, after = _suspend_and_resume(jobs, kubectl, "job")
    assert status(after)["partition"]["manifestHash"] == before


def test_a_job_made_suspended_makes_nothing_until_it_is_resumed(jobs: Jobs, kubectl: Kubectl) -> None:
    jobs.submit(jobs.stand_in("job", seconds=1, runPolicy={"suspend": True}))
    job = jobs.until_phase("job", "Suspended")
    assert "startTime" not in status(job)
    assert not kubectl.list("pods", jobs.namespace)
    assert not kubectl.list("services", jobs.namespace)
    _suspend(jobs, "job", on=False)
    assert status(jobs.until_phase("job", "Completed"))["startTime"]


@pytest.mark.parametrize(
    "moment", ["Pending", "Partitioning", "Partitioned", "Dispatching", "Training", "Suspended", "Completed"]
)
def test_deletion_leaves_no_object_behind(jobs: Jobs, kubectl: Kubectl, moment: str) -> None:
    before = set(kubectl.out("get", _OWNED, "-n", jobs.namespace, "-o", "name").split())
    policy = {"suspend": True} if moment == "Suspended" else {}
    jobs.submit(jobs.stand_in("job", seconds=3, runPolicy=policy))
    jobs.until_phase("job", moment, *([] if moment == "Suspended" else _later(moment)))
    kubectl.delete("dgljob", "job", jobs.namespace)

    def clean() -> bool:
        return set(kubectl.out("get", _OWNED, "-n", jobs.namespace, "-o", "name").split()) <= before

    kubectl.until("all objects of the job are gone", clean)


def _later(moment: str) -> list[str]:
    """Short phases may be over before a poll sees them; deletion then happens in the one after."""
    order = ["Pending", "Partitioning", "Partitioned", "Dispatching", "Training", "Completed"]
    return order[order.index(moment) + 1 :]


def test_two_jobs_at_once_keep_apart(jobs: Jobs, kubectl: Kubectl) -> None:
    jobs.submit(jobs.stand_in("one", seconds=3), jobs.stand_in("two", seconds=3))
    one, two = jobs.until_phase("one", "Completed"), jobs.until_phase("two", "Completed")
    assert status(one)["partition"]["manifestHash"] != status(two)["partition"]["manifestHash"]
    assert status(one)["attempt"] == status(two)["attempt"] == 1


def test_a_finished_job_is_removed_after_its_time_to_live(jobs: Jobs, kubectl: Kubectl) -> None:
    jobs.submit(jobs.stand_in("job", seconds=1, runPolicy={"ttlSecondsAfterFinished": 5}))
    jobs.until_phase("job", "Completed")
    kubectl.until("the job is gone", lambda: jobs.get("job") is None)


def test_a_deadline_ends_a_job_that_nothing_else_wakes(jobs: Jobs, kubectl: Kubectl) -> None:
    jobs.submit(jobs.stand_in("job", seconds=600, runPolicy={"activeDeadlineSeconds": 20}))
    job = jobs.until_phase("job", "Failed")
    assert "deadline" in condition(job, "Failed")["message"]  # type: ignore[index]
    assert phase(job) == "Failed"
    kubectl.until(
        "no pod runs",
        lambda: (
            not [
                each for each in kubectl.list("pods", jobs.namespace) if each["status"]["phase"] == "Running"
            ]
        ),
    )
