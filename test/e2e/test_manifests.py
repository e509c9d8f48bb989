# SPDX-License-Identifier: Apache-2.0
"""Manifests as people write them: unquoted numbers, only a Launcher, and twenty ways to be wrong."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from test.e2e.jobs import Jobs, condition, phase, status

if TYPE_CHECKING:
    from collections.abc import Callable

    from test.e2e.kubectl import Kubectl


def test_a_launcher_alone_completes(jobs: Jobs, kubectl: Kubectl) -> None:
    jobs.submit(jobs.skip("alone", ["python3", "-c", "print('done')"]))
    job = jobs.until_phase("alone", "Completed")
    assert condition(job, "Succeeded")["status"] == "True"  # type: ignore[index]
    assert status(job)["completionTime"]
    assert not kubectl.list("roles", jobs.namespace)


def test_an_unquoted_gpu_count_is_accepted_and_reaches_the_pod(jobs: Jobs, kubectl: Kubectl) -> None:
    job = jobs.skip("gpu", ["true"])
    container = job["spec"]["dglReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
    container["resources"] = {"limits": {"nvidia.com/gpu": 1}}
    container["env"] = [{"name": "COUNT", "value": 1}]
    jobs.submit(job)
    pod = jobs.until_pod("gpu-launcher-0", "exists", lambda _: True)
    assert pod["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "1"}

    def reason() -> str | None:
        seen = jobs.get("gpu")
        texts = [json.dumps(each) for each in status(seen or {}).get("conditions", [])]
        return next((text for text in texts if "nvidia.com/gpu" in text), None)

    assert "Unschedulable" in kubectl.until("the job says why it does not run", reason)


def _change(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(job: dict[str, Any]) -> None:
        place = job
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def _drop(*path: Any) -> Callable[[dict[str, Any]], None]:
    def change(job: dict[str, Any]) -> None:
        place = job
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]

    return change


_WORKER = ("spec", "dglReplicaSpecs", "Worker")
_CONTAINER = (*_WORKER, "template", "spec", "containers", 0)
# What is wrong, and a word that the answer must have in it.
_MALFORMED = {
    "no-spec": (_drop("spec"), "spec"),
    "no-replica-specs": (_drop("spec", "dglReplicaSpecs"), "dglReplicaSpecs"),
    "unknown-replica-type": (
        _change("spec", "dglReplicaSpecs", "Boss", value={"replicas": 1}),
        "may have only Launcher",
    ),
    "unknown-mode": (_change("spec", "partitionMode", value="Magic"), "partitionMode"),
    "unknown-launch-mode": (_change("spec", "launchMode", value="Telepathy"), "launchMode"),
    "mode-not-built-yet": (_change("spec", "launchMode", value="MPI"), "MPI"),
    "no-worker": (_drop(*_WORKER), "Worker"),
    "zero-workers": (_change(*_WORKER, "replicas", value=0), "Worker"),
    "negative-workers": (_change(*_WORKER, "replicas", value=-1), "replicas"),
    "workers-in-words": (_change(*_WORKER, "replicas", value="two"), "replicas"),
    "parts-differ-from-workers": (_change("spec", "numPartitions", value=3), "numPartitions"),
    "two-partitioners": (
        _change("spec", "dglReplicaSpecs", "Partitioner", "replicas", value=2),
        "Partitioner",
    ),
    "no-containers": (_change(*_WORKER, "template", "spec", "containers", value=[]), "container"),
    "no-template": (_drop(*_WORKER, "template"), "template"),
    "no-command": (_drop(*_CONTAINER, "command"), "command"),
    "no-image": (_drop(*_CONTAINER, "image"), "image"),
    "bad-quantity": (_change(*_CONTAINER, "resources", value={"limits": {"memory": "lots"}}), "lots"),
    "bad-clean-policy": (_change("spec", "runPolicy", value={"cleanPodPolicy": "Maybe"}), "cleanPodPolicy"),
    "negative-deadline": (
        _change("spec", "runPolicy", value={"activeDeadlineSeconds": -5}),
        "activeDeadlineSeconds",
    ),
    "foreign-manager": (_change("spec", "runPolicy", value={"managedBy": "somebody/else"}), "managedBy"),
    "too-many-servers": (_change("spec", "numServers", value=40), "numServers"),
    "bad-restart-policy": (_change(*_WORKER, "restartPolicy", value="Sometimes"), "restartPolicy"),
    "name-too-long": (_change("metadata", "name", value="a" * 50), "49"),
    "name-with-capitals": (_change("metadata", "name", value="Digits"), "name"),
    "claim-without-name": (_change("spec", "storage", value={"type": "PVC"}), "claim"),
}


def _answer(jobs: Jobs, job: dict[str, Any]) -> str:
    """The API server's refusal, or the message of the Failed condition."""
    done = jobs.kubectl.run("apply", "-f", "-", stdin=json.dumps(job), check=False)
    if done.returncode != 0:
        return done.stderr
    name = job["metadata"]["name"]

    def failed() -> dict[str, Any] | None:
        seen = jobs.get(name)
        return seen if seen is not None and phase(seen) == "Failed" else None

    ended = jobs.kubectl.until(f"{name} is Failed", failed, seconds=60)
    assert status(ended)["completionTime"]
    reason = condition(ended, "Failed")
    assert reason is not None
    assert reason["reason"] == "InvalidSpec"
    return str(reason["message"])


@pytest.fixture
def healthy(jobs: Jobs) -> str:
    jobs.submit(jobs.stand_in("healthy", seconds=3))
    return "healthy"


def test_malformed_manifests_are_answered_clearly_and_a_healthy_job_finishes_beside_them(
    jobs: Jobs, healthy: str
) -> None:
    unclear = {}
    for name, (spoil, word) in _MALFORMED.items():
        job = copy.deepcopy(jobs.stand_in(name))
        spoil(job)
        answer = _answer(jobs, job)
        if word not in answer:
            unclear[name] = answer
    assert not unclear
    assert len(_MALFORMED) >= 20
    jobs.until_phase(healthy, "Completed")
