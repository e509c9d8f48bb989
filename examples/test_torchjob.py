# SPDX-License-Identifier: Apache-2.0
"""A test of torchjob.py: pytest -p dglop.testing.plugin examples/test_torchjob.py"""

from datetime import timedelta

from kubernetes.aio.client import V1Pod

from dglop import Manager
from dglop.common import CleanPodPolicy, JobReconciler, ReplicaSpec, RunPolicy
from dglop.testing import TestCluster, pod_template
from examples.torchjob import TorchJob, TorchJobKind, TorchJobSpec


async def test_finished_job_keeps_only_its_completed_pods(cluster: TestCluster, manager: Manager) -> None:
    """cleanPodPolicy Running removes what still runs and leaves what succeeded."""
    manager.controller(TorchJob, JobReconciler(TorchJobKind()))
    spec = TorchJobSpec(
        master=ReplicaSpec(template=pod_template()),
        worker=ReplicaSpec(replicas=2, template=pod_template()),
        run_policy=RunPolicy(clean_pod_policy=CleanPodPolicy.RUNNING),
    )
    await cluster.client.create(TorchJob(name="mnist", spec=spec))
    await cluster.settle()

    await cluster.set_pod_phase("Succeeded", labels={"training.kubeflow.org/replica-type": "master"})
    await cluster.advance(timedelta(seconds=1))

    job = await cluster.client.get(TorchJob, "mnist")
    pods = await cluster.client.list(V1Pod)
    assert job.status.is_true("Succeeded")
    assert [pod.metadata.name for pod in pods if pod.metadata] == ["mnist-master-0"]
    assert "Normal TorchJobSucceeded" in cluster.events[-1]
