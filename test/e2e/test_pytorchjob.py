# SPDX-License-Identifier: Apache-2.0
"""PyTorchJobs that really train: DistributedDataParallel over gloo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from test.e2e.jobs import status
from test.e2e.kinds import is_true

if TYPE_CHECKING:
    from test.e2e.kinds import KindJobs
    from test.e2e.kubectl import Kubectl

pytestmark = pytest.mark.usefixtures("all_kinds")

_FOUND = "weights [1.0, 2.0, 3.0, 4.0], alike: True"


def _code(job: dict[str, Any], role: str) -> list[str]:
    spec = job["spec"]["pytorchReplicaSpecs"][role]["template"]["spec"]
    command: list[str] = spec["containers"][0]["command"]
    return command


def test_two_pods_train_one_model_over_gloo(kind_jobs: KindJobs, kubectl: Kubectl) -> None:
    kind_jobs.submit(kind_jobs.sample("pytorchjob.yaml"))
    job = kind_jobs.until_succeeded("pytorchjob", "ddp")
    assert status(job)["state"] == "Succeeded"
    assert status(job)["completionTime"]
    assert f"rank 0 of 2: {_FOUND}" in kind_jobs.until_logged("ddp-master-0", "rank 0")
    assert not kubectl.list("secrets,configmaps,roles", kind_jobs.namespace, "training.kubeflow.org/job-name")


def test_a_worker_that_dies_at_first_is_started_again_and_both_train_to_the_end(kind_jobs: KindJobs) -> None:
    job = kind_jobs.sample("pytorchjob.yaml", "again")
    job["spec"]["runPolicy"]["cleanPodPolicy"] = "None"
    worker = job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]
    worker["volumes"] = [{"name": "kept", "emptyDir": {}}]
    worker["containers"][0]["volumeMounts"] = [{"name": "kept", "mountPath": "/kept"}]
    # The Master waits for it meanwhile, as it does for one that comes late.
    first = "import os, pathlib\nbegun = pathlib.Path('/kept/begun')\n"
    first += "if not begun.exists():\n    begun.touch()\n    os._exit(3)\n"
    _code(job, "Worker")[2] = first + _code(job, "Worker")[2]
    kind_jobs.submit(job)
    job = kind_jobs.until_succeeded("pytorchjob", "again")
    assert status(job)["restartCount"] == 1
    assert f"rank 1 of 2: {_FOUND}" in kind_jobs.until_logged("again-worker-0", "rank 1")


def test_a_suspended_pytorchjob_has_no_pods_and_trains_once_it_is_resumed(
    kind_jobs: KindJobs, kubectl: Kubectl
) -> None:
    job = kind_jobs.sample("pytorchjob.yaml", "later")
    job["spec"]["runPolicy"]["suspend"] = True
    kind_jobs.submit(job)
    kind_jobs.until("pytorchjob", "later", "is suspended", lambda seen: is_true(seen, "Suspended"))
    assert kubectl.list("pods,services", kind_jobs.namespace) == []
    job["spec"]["runPolicy"]["suspend"] = False
    kind_jobs.submit(job)
    kind_jobs.until_succeeded("pytorchjob", "later")


def test_an_elastic_job_is_refused_before_anything_is_made(kind_jobs: KindJobs, kubectl: Kubectl) -> None:
    job = kind_jobs.sample("pytorchjob.yaml", "elastic")
    job["spec"]["elasticPolicy"] = {"minReplicas": 1, "maxReplicas": 2}
    with pytest.raises(AssertionError, match="elasticPolicy is not supported"):
        kubectl.apply(job)
