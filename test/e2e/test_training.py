# SPDX-License-Identifier: Apache-2.0
"""Real graph training on a real cluster, and what happens to it when something dies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from dglop.dglrun import contract
from test.e2e.jobs import PHASES, Jobs, condition, phase, status

if TYPE_CHECKING:
    from test.e2e.executioner import Executioner
    from test.e2e.kubectl import Kubectl, Watch

# Long enough for a test to act in the middle of training, short enough for a shared machine.
_SLOW = ("--epochs", "6", "--epoch-seconds", "3")


def _training_progressed(jobs: Jobs, name: str, attempt: int = 1) -> dict[str, Any]:
    """Wait until trainers of the given attempt have really begun."""

    def probe() -> dict[str, Any] | None:
        job = jobs.get(name)
        assert job is not None
        assert phase(job) != "Failed", status(job)
        begun = phase(job) == "Training" and status(job).get("attempt") == attempt
        return job if begun else None

    return jobs.kubectl.until(f"{name} trains in attempt {attempt}", probe)


def _manifest(job: dict[str, Any]) -> str:
    return str(status(job)["partition"]["manifestHash"])


def test_digits_are_learned_and_every_phase_is_seen_once_in_order(jobs: Jobs, kubectl: Kubectl) -> None:
    with kubectl.watch("dgljobs", jobs.namespace) as seen:
        jobs.submit(jobs.digits("digits", "--epochs", "10"))
        job = jobs.until_phase("digits", "Completed")
        kubectl.until("the watch saw the end", lambda: "Completed" in seen.distinct("digits", phase))
    assert seen.distinct("digits", phase) == PHASES
    assert status(job)["startTime"]
    assert status(job)["completionTime"]
    assert condition(job, "Succeeded")["status"] == "True"  # type: ignore[index]
    progress = seen.distinct("digits", lambda each: status(each).get("trainer", {}).get("progressPercentage"))
    assert progress == sorted(progress)
    assert progress[0] < 100 == progress[-1], "how far it is was not told while it trained"
    metrics = {each["name"]: each["value"] for each in status(job)["trainer"]["metrics"]}
    assert float(metrics["testAccuracy"]) > 0.9
    row = {"NAME": "digits", "STATE": "Completed", "WORKERS": "2/2", "PARTS": "2/2", "RESTARTS": "0"}
    assert _row(jobs).items() >= (row | {"PROGRESS": "100%"}).items()
    events = kubectl.out("get", "events", "-n", jobs.namespace)
    assert "Unhealthy" not in events, "a probe failed at a normal start or end"


def _row(jobs: Jobs) -> dict[str, str]:
    """What `kubectl get dgljobs` prints of the namespace's only job, by column."""
    header, row = jobs.kubectl.out("get", "dgljobs", "-n", jobs.namespace).splitlines()
    columns = ["NAME", "STATE", "WORKERS", "PARTS", "RESTARTS", "PROGRESS", "REASON", "AGE"]
    assert header.split() == columns
    return {column: (row[header.index(column) :].split() or [""])[0] for column in header.split()}


def _last_words(pods: Watch, name: str) -> list[tuple[int, str]]:
    """How the main containers of the pods of this name ended, in order: exit code and message."""

    def ended(pod: dict[str, Any]) -> tuple[str, int, str] | None:
        states = {each["name"]: each["state"] for each in pod["status"].get("containerStatuses", [])}
        end = states.get("dgl", {}).get("terminated")
        return (pod["metadata"]["uid"], end["exitCode"], end.get("message", "")) if end else None

    return [(code, words) for _, code, words in pods.distinct(name, ended)]


def _lose_a_worker(jobs: Jobs, executioner: Executioner, harm: str) -> None:
    if harm == "delete":
        jobs.kubectl.delete("pod", "digits-worker-1", jobs.namespace, "--wait=false")
    elif harm == "kill":
        # The supervisor itself, so that nobody is left in the pod to say what happened.
        place = {"DGLJOB_POD_NAME": "digits-worker-1", "DGLJOB_NAMESPACE": jobs.namespace}
        executioner.kill("dglrun.pyz", "worker", **place)
    else:
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": "digits-worker-1", "namespace": jobs.namespace},
        }
        path = f"/api/v1/namespaces/{jobs.namespace}/pods/digits-worker-1/eviction"
        jobs.kubectl.run("create", "--raw", path, "-f", "-", stdin=json.dumps(body))


@pytest.mark.parametrize("harm", ["delete", "kill", "evict"])
def test_a_worker_lost_in_training_restarts_the_gang_on_the_same_parts(
    jobs: Jobs, kubectl: Kubectl, executioner: Executioner, harm: str
) -> None:
    with kubectl.watch("pods", jobs.namespace) as pods:
        jobs.submit(jobs.digits("digits", *_SLOW))
        before = _training_progressed(jobs, "digits")
        _lose_a_worker(jobs, executioner, harm)
        job = jobs.until_phase("digits", "Completed")
    assert status(job)["attempt"] == 2
    assert _manifest(job) == _manifest(before), "partitioned again"
    restarts, disruptions = status(job).get("restartCount", 0), status(job).get("disruptionCount", 0)
    assert (restarts, disruptions) == ((0, 1) if harm == "evict" else (1, 0))
    assert status(job)["lastFailure"]["podName"] == "digits-worker-1"
    assert _row(jobs)["RESTARTS"] == str(restarts)
    code, words = _last_words(pods, "digits-worker-0")[0]
    assert code == contract.EXIT_PEER, "the trainer that lost its peer was taken for the failure"
    if harm == "kill":
        # Where a pod is deleted the other may be told to stop before it notices.
        peer = {"cause": "peer", "pod": "digits-worker-1", "reason": "PeerLost"}
        assert json.loads(words).items() >= peer.items()


def test_a_trainer_that_exits_1_fails_the_job_and_is_named(jobs: Jobs) -> None:
    jobs.submit(
        jobs.digits("digits", "--epochs", "4", "--fail-at-epoch", "1", "--fail-rank", "1", "--fail-code", "1")
    )
    job = jobs.until_phase("digits", "Failed")
    failed = condition(job, "Failed")
    assert failed is not None
    assert "digits-worker-1" in failed["message"]
    assert "trainer-0" in failed["message"]
    assert "exited with code 1" in failed["message"]
    assert "as it was told to" in failed["message"], "the trainer's last words"
    assert status(job)["lastFailure"]["podName"] == "digits-worker-1"
    assert status(job)["lastFailure"]["exitCode"] == 1
    assert status(job)["completionTime"]


def test_a_killed_server_restarts_the_gang_and_nothing_hangs(jobs: Jobs, kubectl: Kubectl) -> None:
    jobs.submit(jobs.digits("digits", *_SLOW))
    _training_progressed(jobs, "digits")
    kill = (
        "import os, signal, pathlib\n"
        "for each in pathlib.Path('/proc').glob('[0-9]*'):\n"
        "    try:\n"
        "        if b'DGL_ROLE=server' in each.joinpath('environ').read_bytes().split(b'\\0'):\n"
        "            os.kill(int(each.name), signal.SIGKILL)\n"
        "    except OSError:\n"
        "        continue\n"
    )
    kubectl.exec("digits-worker-0", jobs.namespace, "python3", "-c", kill, container="dgl")
    jobs.until_attempt("digits", 2, seconds=90)
    job = jobs.until_phase("digits", "Completed")
    assert status(job)["attempt"] == 2
    assert status(job)["restartCount"] == 1


def test_the_model_is_saved_to_the_claim_that_the_job_names(jobs: Jobs) -> None:
    jobs.submit(jobs.claim("model"), jobs.digits("digits", "--epochs", "3", output={"claimName": "model"}))
    jobs.until_phase("digits", "Completed")
    look = jobs.skip(
        "look", ["sh", "-c", "test -s /dgl_workspace/output/model.pt"], output={"claimName": "model"}
    )
    jobs.submit(look)
    jobs.until_phase("look", "Completed")


def _wide(jobs: Jobs, name: str, **spec: Any) -> dict[str, Any]:
    """Several servers, trainers and samplers in each Worker, and nobody's own partition program."""
    job = jobs.digits(name, "--epochs", "2", numServers=2, slotsPerWorker=2, **spec)
    del job["spec"]["dglReplicaSpecs"]["Partitioner"]
    return job


def test_a_synthetic_graph_needs_no_partition_program_and_its_parts_serve_a_second_job(jobs: Jobs) -> None:
    storage = {"type": "PVC", "claimName": "parts"}
    job = _wide(jobs, "synthetic", dataset={"name": "synthetic"}, storage=storage)
    worker = job["spec"]["dglReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    worker["env"] = [{"name": "DGLJOB_DATASET_NODES", "value": "5000"}]
    jobs.submit(jobs.claim("parts"), job)
    partition = status(jobs.until_phase("synthetic", "Completed", seconds=600))["partition"]
    assert partition["state"] == "Succeeded"
    assert "5000 nodes" in partition["message"]
    again = _wide(jobs, "again", partitionMode="Skip", storage={**storage, "existing": True})
    jobs.submit(again)
    ended = jobs.until_phase("again", "Completed", seconds=600)
    assert status(ended)["partition"]["state"] == "Skipped"
    metrics = {each["name"]: each["value"] for each in status(ended)["trainer"]["metrics"]}
    assert metrics["epoch"] == "2/2"
    assert jobs.pod("again-partitioner-0") is None
