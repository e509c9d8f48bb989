# SPDX-License-Identifier: Apache-2.0
"""The parts of a graph: lost with their Partitioner, made again, spoilt on a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from test.e2e.jobs import Jobs, condition, fetched, status

if TYPE_CHECKING:
    from test.e2e.kubectl import Kubectl


def test_a_partitioner_lost_in_training_counts_nowhere_and_its_parts_never_mix_with_new_ones(
    jobs: Jobs, kubectl: Kubectl
) -> None:
    jobs.submit(jobs.stand_in("job", seconds=15))
    before = jobs.until_phase("job", "Training")
    partitioner = jobs.pod("job-partitioner-0")
    kubectl.delete("pod", "job-partitioner-0", jobs.namespace, "--grace-period=1")
    assert partitioner is not None
    training = jobs.until_phase("job", "Training")
    assert status(training)["attempt"] == 1
    kubectl.delete("pod", "job-worker-1", jobs.namespace, "--grace-period=1")
    jobs.until_attempt("job", 2)
    job = jobs.until_phase("job", "Completed")
    assert status(job)["restartCount"] == 1
    made_again = status(job)["partition"]["manifestHash"]
    assert made_again != status(before)["partition"]["manifestHash"]
    workers = kubectl.list("pods", jobs.namespace, "training.kubeflow.org/replica-type=worker")
    assert [fetched(pod)["manifest"] for pod in workers] == [made_again] * 2


def test_a_spoilt_part_is_refused_by_name(jobs: Jobs, kubectl: Kubectl) -> None:
    jobs.submit(
        jobs.claim("parts"), jobs.stand_in("job", seconds=30, storage={"type": "PVC", "claimName": "parts"})
    )
    jobs.until_phase("job", "Training")
    jobs.suspend("job", on=True)
    jobs.until_phase("job", "Suspended")
    spoil = ["sh", "-c", "printf spoilt | dd of=/dgl_workspace/output/part1/part_graph.dgl bs=1 conv=notrunc"]
    jobs.submit(jobs.skip("spoil", spoil, output={"claimName": "parts"}))
    jobs.until_phase("spoil", "Completed")
    jobs.suspend("job", on=False)
    job = jobs.until_phase("job", "Failed")
    failed = condition(job, "Failed")
    assert failed is not None
    assert "part1/part_graph.dgl" in failed["message"]
    assert status(job)["lastFailure"]["podName"] == "job-worker-1"
