# SPDX-License-Identifier: Apache-2.0
"""Suspension, deletion and company: what a job does when people change their minds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from test.e2e.jobs import PHASES, Jobs, condition, fetched, phase, status

if TYPE_CHECKING:
    from test.e2e.kubectl import Kubectl

_KINDS = ("pods", "services", "secrets", "configmaps", "persistentvolumeclaims", "networkpolicies")
_OWNED = ",".join((*_KINDS, "roles", "rolebindings", "serviceaccounts"))
_NOWHERE = {"example.dev/no-such": "node"}


def _on_claim(name: str) -> dict[str, Any]:
    return {"storage": {"type": "PVC", "claimName": name}}


def _active(job: dict[str, Any] | None) -> int:
    assert job is not None
    return sum(each.get("active", 0) for each in status(job)["replicaStatuses"].values())


def _suspend_and_resume(jobs: Jobs, kubectl: Kubectl, name: str) -> tuple[str, dict[str, Any]]:
    before = jobs.until_phase(name, "Training")
    jobs.suspend(name, on=True)
    suspended = jobs.until_phase(name, "Suspended")
    kubectl.until("no pod is left", lambda: not kubectl.list("pods", jobs.namespace))
    assert condition(suspended, "Suspended")["status"] == "True"  # type: ignore[index]
    # Counts are written at most once a second, so they may come a little after the last pod went.
    kubectl.until("no pod is counted", lambda: _active(jobs.get(name)) == 0)
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


def _held_at(jobs: Jobs, moment: str) -> dict[str, Any]:
    """A job that does not leave the phase `moment` by itself, with every kind of object that one can own."""
    ends = moment in ("Completed", "Failed")
    job = jobs.stand_in("job", seconds=1 if ends else 600, network={"policy": "JobOnly"})
    roles = job["spec"]["dglReplicaSpecs"]
    partitioner, worker = (roles[role]["template"]["spec"] for role in ("Partitioner", "Worker"))
    match moment:
        case "Pending":
            partitioner["nodeSelector"] = _NOWHERE
        case "Partitioning":
            job = jobs.stand_in("job", partition_seconds=600, network={"policy": "JobOnly"})
        case "Dispatching":
            slow = {"name": "slow", "image": jobs.image, "command": ["sleep", "infinity"]}
            worker |= {"initContainers": [slow], "terminationGracePeriodSeconds": 1}
        case "Suspended":
            job["spec"]["runPolicy"] = {"suspend": True}
        case "Failed":
            worker["containers"][0]["command"] = ["python3", "-c", "raise SystemExit(1)"]
        case "Restarting":
            # This one does not hear SIGTERM: the old pods stay for a while, and new ones must wait.
            deaf = {"name": "deaf", "image": jobs.image, "command": ["sleep", "infinity"]}
            worker["containers"].append(deaf)
            worker["terminationGracePeriodSeconds"] = 8
    return job


def _bring_to(jobs: Jobs, moment: str) -> None:
    jobs.submit(_held_at(jobs, moment))
    if moment == "Restarting":
        jobs.until_phase("job", "Training")
        jobs.kubectl.delete("pod", "job-worker-1", jobs.namespace, "--wait=false")
    jobs.until_phase("job", moment)


def _take_names_of_workers(jobs: Jobs) -> None:
    """Pods of others that have the Workers' names: the job's own cannot be made."""
    for index in range(2):
        spec = {**jobs.template(["true"])["spec"], "nodeSelector": _NOWHERE}
        metadata = {"name": f"job-worker-{index}", "namespace": jobs.namespace}
        jobs.submit({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


@pytest.mark.parametrize("moment", [*PHASES, "Failed", "Restarting", "Suspended"])
def test_deletion_leaves_no_object_behind(jobs: Jobs, kubectl: Kubectl, moment: str) -> None:
    def owned() -> set[str]:
        return set(kubectl.out("get", _OWNED, "-n", jobs.namespace, "-o", "name").split())

    if moment == "Partitioned":
        _take_names_of_workers(jobs)
    before = owned()
    _bring_to(jobs, moment)
    kinds = {each.split("/")[0].split(".")[0] for each in owned() - before}
    assert kinds >= ({"service", "secret", "networkpolicy"} if moment != "Suspended" else set())
    job = jobs.get("job")
    assert job is not None
    assert phase(job) == moment
    kubectl.delete("dgljob", "job", jobs.namespace)
    kubectl.until("all objects of the job are gone", lambda: owned() <= before)


def test_two_jobs_at_once_keep_apart(jobs: Jobs, kubectl: Kubectl) -> None:
    names = ("one", "two")
    jobs.submit(*(jobs.stand_in(name, seconds=600) for name in names))

    def both_train() -> bool:
        return all(phase(jobs.get(name) or {}) == "Training" for name in names)

    kubectl.until("both train at the same time", both_train)
    for name in names:
        jobs.enough(name)
    ended = {name: status(jobs.until_phase(name, "Completed")) for name in names}
    manifests = {name: each["partition"]["manifestHash"] for name, each in ended.items()}
    assert manifests["one"] != manifests["two"]
    for name in names:
        workers = [jobs.pod(f"{name}-worker-{index}") for index in range(2)]
        assert [fetched(pod)["manifest"] for pod in workers if pod] == [manifests[name]] * 2
        assert ended[name]["attempt"] == 1


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
