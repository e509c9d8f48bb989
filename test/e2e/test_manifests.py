# SPDX-License-Identifier: Apache-2.0
"""Manifests as people write them: unquoted numbers, only a Launcher, and twenty ways to be wrong."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

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
    # More than any node has, so that it stays Pending on a cluster with GPUs too.
    container["resources"] = {"limits": {"nvidia.com/gpu": 1001}}
    container["env"] = [{"name": "COUNT", "value": 1}]
    jobs.submit(job)
    pod = jobs.until_pod("gpu-launcher-0", "exists", lambda _: True)
    assert pod["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "1001"}

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
# What is wrong, and words that the answer must have in it.
_MALFORMED = {
    "no-spec": (_drop("spec"), "spec: Required value"),
    "no-replica-specs": (_drop("spec", "dglReplicaSpecs"), "spec.dglReplicaSpecs: Required value"),
    "unknown-replica-type": (
        _change("spec", "dglReplicaSpecs", "Boss", value={"replicas": 1}),
        "may have only Launcher",
    ),
    "unknown-mode": (
        _change("spec", "partitionMode", value="Magic"),
        'spec.partitionMode: Unsupported value: "Magic"',
    ),
    "unknown-launch-mode": (
        _change("spec", "launchMode", value="Telepathy"),
        'spec.launchMode: Unsupported value: "Telepathy"',
    ),
    "mode-not-built-yet": (
        _change("spec", "launchMode", value="MPI"),
        "launchMode MPI is not built yet; use Direct",
    ),
    "no-worker": (_drop(*_WORKER), "dglReplicaSpecs.Worker with at least one replica is needed"),
    "zero-workers": (
        _change(*_WORKER, "replicas", value=0),
        "dglReplicaSpecs.Worker with at least one replica is needed",
    ),
    "negative-workers": (_change(*_WORKER, "replicas", value=-1), "Worker.replicas: Invalid value: -1"),
    "workers-in-words": (_change(*_WORKER, "replicas", value="two"), "Worker.replicas: Invalid value"),
    "parts-differ-from-workers": (
        _change("spec", "numPartitions", value=3),
        "numPartitions must match dglReplicaSpecs.Worker.replicas",
    ),
    "two-partitioners": (
        _change("spec", "dglReplicaSpecs", "Partitioner", "replicas", value=2),
        "dglReplicaSpecs.Partitioner has one replica",
    ),
    "no-containers": (
        _change(*_WORKER, "template", "spec", "containers", value=[]),
        "Worker.template.spec.containers is empty",
    ),
    "no-template": (_drop(*_WORKER, "template"), "Worker.template.spec must be an object with containers"),
    "no-command": (_drop(*_CONTAINER, "command"), "container 'dgl' must state command"),
    "no-image": (_drop(*_CONTAINER, "image"), "container 'dgl' states no image"),
    "bad-quantity": (
        _change(*_CONTAINER, "resources", value={"limits": {"memory": "lots"}}),
        "Worker.template: resources.limits.memory: ",
    ),
    "bad-clean-policy": (
        _change("spec", "runPolicy", value={"cleanPodPolicy": "Maybe"}),
        'runPolicy.cleanPodPolicy: Unsupported value: "Maybe"',
    ),
    "negative-deadline": (
        _change("spec", "runPolicy", value={"activeDeadlineSeconds": -5}),
        "runPolicy.activeDeadlineSeconds: Invalid value: -5",
    ),
    "foreign-manager": (
        _change("spec", "runPolicy", value={"managedBy": "somebody/else"}),
        "managedBy may be kubeflow.org/dgljob-controller or",
    ),
    "too-many-servers": (
        _change("spec", "numServers", value=40),
        "numServers is larger than network.portCount",
    ),
    "bad-restart-policy": (
        _change(*_WORKER, "restartPolicy", value="Sometimes"),
        'Worker.restartPolicy: Unsupported value: "Sometimes"',
    ),
    "name-too-long": (_change("metadata", "name", value="a" * 50), "longer than 49 characters"),
    "name-with-capitals": (_change("metadata", "name", value="Digits"), "lower case"),
    "claim-without-name": (
        _change("spec", "storage", value={"type": "PVC"}),
        "exactly one of claimName and claimTemplate",
    ),
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


def test_malformed_manifests_are_answered_clearly_and_a_healthy_job_trains_and_finishes_beside_them(
    jobs: Jobs,
) -> None:
    jobs.submit(jobs.stand_in("healthy", seconds=600))
    jobs.until_phase("healthy", "Training")
    unclear = {}
    for number, (fault, (spoil, words)) in enumerate(_MALFORMED.items()):
        # The answer repeats the job's name, which therefore must not say what is wrong.
        job = copy.deepcopy(jobs.stand_in(f"bad-{number:02d}"))
        spoil(job)
        answer = _answer(jobs, job)
        if words not in answer:
            unclear[fault] = answer
    assert not unclear
    assert len(_MALFORMED) >= 20
    assert phase(jobs.get("healthy") or {}) == "Training"
    jobs.enough("healthy")
    ended = jobs.until_phase("healthy", "Completed")
    assert status(ended)["attempt"] == 1
