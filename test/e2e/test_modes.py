# SPDX-License-Identifier: Apache-2.0
"""Who partitions, and what of the parts is kept: each on real pods, to the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from test.e2e.jobs import PHASES, Jobs, condition, phase, status

if TYPE_CHECKING:
    from test.e2e.kubectl import Kubectl

_CLAIM = {"type": "PVC", "claimName": "parts"}


def _placed(placement: str, **more: Any) -> dict[str, Any]:
    return {"storage": _CLAIM, "partition": {"placement": placement, **more}}


def _launched(jobs: Jobs, **spec: Any) -> dict[str, Any]:
    job = jobs.stand_in("job", seconds=5, partition_seconds=2, **_placed("Launcher"), **spec)
    job["spec"]["dglReplicaSpecs"]["Launcher"] = {"template": jobs.template(["sleep", "1"])}
    return job


def _uid(pod: dict[str, Any] | None) -> str:
    assert pod is not None
    return str(pod["metadata"]["uid"])


def _accuracy(job: dict[str, Any]) -> float:
    metrics = {each["name"]: each["value"] for each in status(job)["trainer"]["metrics"]}
    return float(metrics["testAccuracy"])


def test_the_launchers_init_container_partitions_and_a_later_attempt_keeps_its_parts(
    jobs: Jobs, kubectl: Kubectl
) -> None:
    with kubectl.watch("dgljobs", jobs.namespace) as seen:
        jobs.submit(jobs.claim("parts"), _launched(jobs))
        before = jobs.until_phase("job", "Training")
        assert [each["metadata"]["name"] for each in kubectl.list("pods", jobs.namespace)] == [
            "job-launcher-0", "job-worker-0", "job-worker-1",
        ]  # fmt: skip
        kubectl.delete("pod", "job-worker-1", jobs.namespace, "--grace-period=1")
        jobs.until_attempt("job", 2)
        job = jobs.until_phase("job", "Completed")
        kubectl.until("the watch saw the end", lambda: "Completed" in seen.distinct("job", phase))
    again = ["Restarting", "Dispatching", "Training", "Completed"]
    assert seen.distinct("job", phase) == [*PHASES[:-1], *again]
    assert status(job)["restartCount"] == 1
    assert status(job)["partition"]["manifestHash"] == status(before)["partition"]["manifestHash"]


def test_a_partition_that_fails_in_the_launchers_pod_is_named(jobs: Jobs) -> None:
    job = _launched(jobs)
    roles = job["spec"]["dglReplicaSpecs"]
    roles["Partitioner"]["template"] = jobs.template(["python3", "-c", "raise SystemExit('no graph here')"])
    roles["Launcher"]["restartPolicy"] = "Never"
    jobs.submit(jobs.claim("parts"), job)
    failed = condition(jobs.until_phase("job", "Failed"), "Failed")
    assert failed is not None
    assert failed["reason"] == "PartitionFailed"
    assert "job-launcher-0" in failed["message"]
    assert "no graph here" in failed["message"]


def test_worker_0_partitions_is_ended_and_trains_real_dgl_as_a_worker(jobs: Jobs, kubectl: Kubectl) -> None:
    job = jobs.digits("digits", "--epochs", "10", dataset={"name": "digits"}, **_placed("Worker"))
    del job["spec"]["dglReplicaSpecs"]["Partitioner"]
    with kubectl.watch("dgljobs", jobs.namespace) as seen, kubectl.watch("pods", jobs.namespace) as pods:
        jobs.submit(jobs.claim("parts"), job)
        ended = jobs.until_phase("digits", "Completed")
        kubectl.until("the watch saw the end", lambda: "Completed" in seen.distinct("digits", phase))
    assert seen.distinct("digits", phase) == PHASES
    assert len(pods.distinct("digits-worker-0", _uid)) == 2
    assert len(pods.distinct("digits-worker-1", _uid)) == 1
    assert (status(ended)["attempt"], status(ended).get("restartCount", 0)) == (1, 0)
    assert _accuracy(ended) > 0.9


def test_a_partition_command_of_ones_own_may_use_many_processes(jobs: Jobs, kubectl: Kubectl) -> None:
    job = jobs.stand_in("job", seconds=1, partitionMode="SMP", partition={"processes": 3}, storage=_CLAIM)
    main = job["spec"]["dglReplicaSpecs"]["Partitioner"]["template"]["spec"]["containers"][0]
    main["command"] = [
        "sh",
        "-c",
        'echo "processes: $DGLJOB_PARTITION_PROCESSES"; exec "$@"',
        "-",
        *main["command"],
    ]
    jobs.submit(jobs.claim("parts"), job)
    ended = jobs.until_phase("job", "Completed")
    assert status(ended)["partition"]["mode"] == "SMP"
    assert "processes: 3" in kubectl.out("logs", "-n", jobs.namespace, "job-partitioner-0", "-c", "dgl")


def test_parts_that_are_not_to_be_retained_are_made_again_by_the_next_attempt(
    jobs: Jobs, kubectl: Kubectl
) -> None:
    jobs.submit(
        jobs.claim("parts"),
        jobs.stand_in("job", seconds=4, storage=_CLAIM, partition={"retainOnRestart": False}),
    )
    before = jobs.until_phase("job", "Training")
    kubectl.delete("pod", "job-worker-1", jobs.namespace, "--grace-period=1")
    jobs.until_attempt("job", 2)
    after = jobs.until_phase("job", "Completed")
    hashes = [status(each)["partition"]["manifestHash"] for each in (before, after)]
    assert hashes[0] != hashes[1]
    assert (status(after)["restartCount"], status(after)["partition"]["attempt"]) == (1, 2)


def test_a_folder_of_the_nodes_is_refused_unless_the_operator_lets_jobs_have_one(jobs: Jobs) -> None:
    jobs.submit(jobs.stand_in("job", storage={"type": "HostPath", "hostPath": "/srv/parts"}))
    failed = condition(jobs.until_phase("job", "Failed"), "Failed")
    assert failed is not None
    assert failed["reason"] == "InvalidSpec"
    assert "--allow-host-path" in failed["message"]
