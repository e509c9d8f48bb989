# SPDX-License-Identifier: Apache-2.0
"""Suspension, deletion and company: what a job does when people change their minds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from test.e2e.jobs import PHASES, Jobs, condition, phase, status

if TYPE_CHECKING:
    from test.e2e.kubectl import Kubectl

_KINDS = ("pods", "services", "secrets", "configmaps", "persistentvolumeclaims", "networkpolicies")
_OWNED = ",".join((*_KINDS, "roles", "rolebindings", "serviceaccounts"))


def _on_claim(name: str) -> dict[str, Any]:
    return {"storage": {"type": "PVC", "claimName": name}}


def _suspend_and_resume(jobs: Jobs, kubectl: Kubectl, name: str) -> tuple[str, dict[str, Any]]:
    before = jobs.until_phase(name, "Training")
    jobs.suspend(name, on=True)
    suspended = jobs.until_phase(name, "Suspended")
    kubectl.until("no pod is left", lambda: not kubectl.list("pods", jobs.namespace))
    assert condition(suspended, "Suspended")["status"] == "True"  # type: ignore[index]
    idle = jobs.get(name)
    assert idle is not None
    assert all(each.get("active", 0) == 0 for each in status(idle).get("replicaStatuses", {}).values())
    jobs.suspend(name, on=False)
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
    jobs.submit(jobs.claim("parts"), jobs.stand_in("job", seconds=6, **_on_claim("parts")))
    before, after = _suspend_and_resume(jobs, kubectl, "job")
    assert status(after)["partition"]["manifestHash"] == before


def test_a_job_made_suspended_makes_nothing_until_it_is_resumed(jobs: Jobs, kubectl: Kubectl) -> None:
    jobs.submit(jobs.stand_in("job", seconds=1, runPolicy={"suspend": True}))
    job = jobs.until_phase("job", "Suspended")
    assert "startTime" not in status(job)
    assert not kubectl.list("pods", jobs.namespace)
    assert not kubectl.list("services", jobs.namespace)
    jobs.suspend("job", on=False)
    assert status(jobs.until_phase("job", "Completed"))["startTime"]


def _bring_to(jobs: Jobs, moment: str) -> None:
    """A job in the phase `moment`, with every kind of object that a job can own."""
    job = jobs.stand_in("job", seconds=600 if moment == "Restarting" else 3, network={"policy": "JobOnly"})
    worker = job["spec"]["dglReplicaSpecs"]["Worker"]["template"]["spec"]
    if moment == "Suspended":
        job["spec"]["runPolicy"] = {"suspend": True}
    elif moment == "Failed":
        worker["containers"][0]["command"] = ["python3", "-c", "raise SystemExit(1)"]
    elif moment == "Restarting":
        # This one does not hear SIGTERM: the old pods stay for a while, and new ones must wait.
        worker["containers"].append({"name": "deaf", "image": jobs.image, "command": ["sleep", "infinity"]})
        worker["terminationGracePeriodSeconds"] = 8
    jobs.submit(job)
    if moment == "Restarting":
        jobs.until_phase("job", "Training")
        jobs.kubectl.delete("pod", "job-worker-1", jobs.namespace, "--wait=false")
    jobs.until_phase("job", moment, *_later(moment))


def _later(moment: str) -> list[str]:
    """Short phases may be over before a poll sees them; deletion then happens in the one after."""
    return PHASES[PHASES.index(moment) + 1 :] if moment in PHASES else []


@pytest.mark.parametrize("moment", [*PHASES, "Failed", "Restarting", "Suspended"])
def test_deletion_leaves_no_object_behind(jobs: Jobs, kubectl: Kubectl, moment: str) -> None:
    def owned() -> set[str]:
        return set(kubectl.out("get", _OWNED, "-n", jobs.namespace, "-o", "name").split())

    before = owned()
    _bring_to(jobs, moment)
    if moment not in ("Pending", "Suspended"):
        kinds = {each.split("/")[0].split(".")[0] for each in owned() - before}
        assert {"service", "secret", "networkpolicy"} <= kinds
    kubectl.delete("dgljob", "job", jobs.namespace)
    kubectl.until("all objects of the job are gone", lambda: owned() <= before)


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
