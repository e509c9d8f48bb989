# SPDX-License-Identifier: Apache-2.0
"""Training jobs in the queues of a real Kueue, on real pods, with the operator's component for it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from dglop.runtime.client import Client, ClientConfig
from hack import stack as hack_stack
from hack.kueue import kueue_running
from hack.overlay import overlay_with
from test.e2e.jobs import Jobs, condition, status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from hack.stack import Stack
    from test.e2e.kubectl import Kubectl

# Kueue runs beside the cluster, whose API server must find it on the same machine.
pytestmark = pytest.mark.needs_local

_API = "kueue.x-k8s.io/v1beta2"
_LABELS = "app.kubernetes.io/name=kueue"
_KINDS = (
    "mutatingwebhookconfigurations",
    "validatingwebhookconfigurations",
    "crd",
    "clusterrolebindings",
    "clusterroles",
)
_OURS = ("kueue-role", "kueue-cluster-role"), ("kueue-rolebinding", "kueue-cluster-rolebinding")


@asynccontextmanager
async def _kueue(stack: Stack, folder: Path) -> AsyncIterator[None]:
    async with await Client.connect(ClientConfig(kubeconfig=str(stack.kubeconfig))) as client:
        kinds = ["DGLJob.v1alpha1.kubeflow.org"]
        async with kueue_running(client, stack.kubeconfig, folder, kinds=kinds):
            yield


@pytest.fixture(scope="module")
def queueing(stack: Stack, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kueue runs, and the operator queues; afterwards both are as before."""
    folder = tmp_path_factory.mktemp("kueue")
    with asyncio.Runner() as runner:
        running = _kueue(stack, folder)
        runner.run(running.__aenter__())
        try:
            hack_stack.install(stack, str(overlay_with(folder, "kueue")))
            hack_stack.standing(stack)  # and none leads any more that knows no queues
            yield
        finally:
            try:
                _take_away(stack, kubectl)
            finally:
                runner.run(running.__aexit__(None, None, None))


def _take_away(stack: Stack, kubectl: Kubectl) -> None:
    """The operator as it was, and nothing of Kueue; it runs still, since it converts what is deleted."""
    hack_stack.install(stack)
    for kind, names in zip(("clusterrole", "clusterrolebinding"), _OURS, strict=True):
        for name in names:
            kubectl.run("delete", kind, f"dglop-{name}", "--ignore-not-found")
    for kind in _KINDS:
        kubectl.run("delete", kind, "-l", _LABELS)
    kubectl.run("delete", "rolebindings", "-n", "kube-system", "-l", _LABELS)
    kubectl.run("delete", "namespace", "kueue-system", "--wait=false")


@dataclass(frozen=True, slots=True)
class Queued:
    """Jobs of one namespace that wait in its queue, which has room for one of them."""

    jobs: Jobs
    kubectl: Kubectl

    def submit(self, name: str, *, seconds: int, priority: str = "") -> None:
        job = self.jobs.stand_in(name, seconds, storage={"type": "PVC", "claimName": name})
        labels = {"kueue.x-k8s.io/queue-name": "q"}
        job["metadata"]["labels"] = {
            **labels,
            **({"kueue.x-k8s.io/priority-class": priority} if priority else {}),
        }
        for spec in job["spec"]["dglReplicaSpecs"].values():
            container = spec["template"]["spec"]["containers"][0]
            container["resources"] = {"requests": {"cpu": "100m", "memory": "32Mi"}}
        self.jobs.submit(self.jobs.claim(name), job)  # a claim for each: two jobs' parts are two sets

    def until_suspended(self, name: str) -> None:
        def is_so() -> bool:
            job = self.jobs.get(name) or {}
            held = condition(job, "Suspended") or {}
            pods = self.kubectl.list("pods", self.jobs.namespace, f"training.kubeflow.org/job-name={name}")
            stated = job.get("spec", {}).get("runPolicy", {}).get("suspend")
            return held.get("status") == "True" and stated is True and not pods

        self.kubectl.until(f"dgljob {name} is suspended and has no pods", is_so)


@pytest.fixture
def queued(queueing: None, kubectl: Kubectl, jobs: Jobs, namespace: str) -> Iterator[Queued]:
    """A queue of 300m for jobs of three pods with 100m each, on nodes that the cluster has."""
    covered = ["cpu", "memory"]
    quota = [{"name": "cpu", "nominalQuota": "300m"}, {"name": "memory", "nominalQuota": "1Gi"}]
    group = {"coveredResources": covered, "flavors": [{"name": namespace, "resources": quota}]}
    spec = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "preemption": {"withinClusterQueue": "LowerPriority"},
        "resourceGroups": [group],
    }
    wanted: list[dict[str, Any]] = [
        _object("ResourceFlavor", namespace, spec={"nodeLabels": {"kubernetes.io/os": "linux"}}),
        _object("ClusterQueue", namespace, spec=spec),
        _object("LocalQueue", "q", namespace, spec={"clusterQueue": namespace}),
        _object("WorkloadPriorityClass", f"{namespace}-high", value=1000),
    ]
    kubectl.apply(*wanted)
    yield Queued(jobs, kubectl)
    kubectl.run("delete", "dgljobs", "--all", "-n", namespace, "--wait")
    for each in reversed(wanted):
        kubectl.delete(f"{each['kind']}.kueue.x-k8s.io", each["metadata"]["name"], namespace, "--wait")


def _object(kind: str, name: str, namespace: str = "", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": _API, "kind": kind, "metadata": metadata, **fields}


def test_the_second_job_trains_when_the_first_one_is_done(queued: Queued, jobs: Jobs) -> None:
    queued.submit("one", seconds=600)
    jobs.until_phase("one", "Training")
    queued.submit("two", seconds=1)
    queued.until_suspended("two")
    pod = jobs.pod("one-worker-0")
    assert pod is not None
    assert pod["spec"]["nodeSelector"] == {"kubernetes.io/os": "linux"}
    jobs.enough("one")
    jobs.until_phase("one", "Completed")
    jobs.until_phase("two", "Completed")


def test_a_job_that_is_deleted_gives_its_quota_back(queued: Queued, kubectl: Kubectl, jobs: Jobs) -> None:
    queued.submit("one", seconds=600)
    jobs.until_phase("one", "Training")
    queued.submit("two", seconds=1)
    queued.until_suspended("two")
    kubectl.delete("dgljob", "one", jobs.namespace)
    jobs.until_phase("two", "Completed")


def test_a_job_makes_room_for_a_more_important_one_and_trains_afterwards(queued: Queued, jobs: Jobs) -> None:
    queued.submit("low", seconds=600)
    jobs.until_phase("low", "Partitioning", "Partitioned", "Dispatching", "Training")
    queued.submit("high", seconds=1, priority=f"{jobs.namespace}-high")
    queued.until_suspended("low")
    jobs.until_phase("high", "Completed")
    jobs.until_phase("low", "Training")
    jobs.enough("low")
    job = jobs.until_phase("low", "Completed")
    assert status(job).get("restartCount", 0) == 0
