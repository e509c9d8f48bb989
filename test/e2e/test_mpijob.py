# SPDX-License-Identifier: Apache-2.0
"""MPIJobs that really run mpirun, of Debian's Open MPI, over the ssh of two pods."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from test.e2e.jobs import condition, status

if TYPE_CHECKING:
    from test.e2e.kinds import KindJobs
    from test.e2e.kubectl import Kubectl

pytestmark = pytest.mark.usefixtures("all_kinds")


def _ready_at(pod: dict[str, Any]) -> str:
    found = next(each for each in pod["status"]["conditions"] if each["type"] == "Ready")
    return str(found["lastTransitionTime"])


def test_mpirun_computes_pi_on_two_pods_and_prints_it(kind_jobs: KindJobs, kubectl: Kubectl) -> None:
    kind_jobs.submit(kind_jobs.sample("mpijob.yaml"))
    job = kind_jobs.until_succeeded("mpijob", "pi")
    said = kind_jobs.until_logged("pi-launcher-0", "pi is")
    assert "pi is 3.141592654, computed by 2 processes on pi-worker-0, pi-worker-1" in said
    assert status(job)["state"] == "Succeeded"
    assert status(job).get("restartCount", 0) == 0, "the Launcher has waited for its hosts"

    def only_the_launcher() -> bool:
        return [each["metadata"]["name"] for each in kubectl.list("pods", kind_jobs.namespace)] == [
            "pi-launcher-0"
        ]

    kubectl.until("the Workers, which never end by themselves, are deleted", only_the_launcher)


def test_a_launcher_that_waits_is_made_after_the_workers_are_ready_and_may_work_too(
    kind_jobs: KindJobs, kubectl: Kubectl
) -> None:
    job = kind_jobs.sample("mpijob.yaml", "waits")
    job["spec"] |= {"launcherCreationPolicy": "WaitForWorkersReady", "runLauncherAsWorker": True}
    job["spec"]["runPolicy"]["cleanPodPolicy"] = "None"
    launcher = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
    launcher["command"] = ["mpirun", "--allow-run-as-root", "python3", "/opt/mpi/examples/pi.py"]
    kind_jobs.submit(job)
    kind_jobs.until_succeeded("mpijob", "waits")
    said = kind_jobs.until_logged("waits-launcher-0", "pi is")
    assert re.search(r"by 3 processes on waits-launcher-0, waits-worker-0, waits-worker-1", said)
    pods = {each["metadata"]["name"]: each for each in kubectl.list("pods", kind_jobs.namespace)}
    made = pods["waits-launcher-0"]["metadata"]["creationTimestamp"]
    assert all(_ready_at(pods[f"waits-worker-{index}"]) <= made for index in range(2))


def test_a_job_of_another_kind_has_the_name_first_and_the_mpijob_goes_on_when_that_is_gone(
    kind_jobs: KindJobs, kubectl: Kubectl
) -> None:
    first = kind_jobs.sample("pytorchjob.yaml", "twin")
    first["spec"]["runPolicy"]["cleanPodPolicy"] = "None"
    kind_jobs.submit(first)
    kind_jobs.until_succeeded("pytorchjob", "twin")
    before = {each["metadata"]["uid"] for each in kubectl.list("pods,services", kind_jobs.namespace)}
    kind_jobs.submit(kind_jobs.sample("mpijob.yaml", "twin"))

    def is_blocked(job: dict[str, Any]) -> bool:
        running = condition(job, "Running")
        return running is not None and running["reason"] == "ErrResourceExists"

    kind_jobs.until("mpijob", "twin", "says that its name is taken", is_blocked)
    after = {each["metadata"]["uid"] for each in kubectl.list("pods,services", kind_jobs.namespace)}
    assert after == before, "something of the first job was touched"
    kubectl.delete("pytorchjob", "twin", kind_jobs.namespace)
    kind_jobs.until_succeeded("mpijob", "twin")
