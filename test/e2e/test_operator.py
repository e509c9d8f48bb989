# SPDX-License-Identifier: Apache-2.0
"""The shipped Deployment: killed, doubled, upgraded and confined, while jobs run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from hack import stack as hack_stack
from hack.stack import DEPLOYMENT, NAMESPACE
from test.e2e.jobs import Jobs, phase, status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hack.stack import Stack
    from test.e2e.kubectl import Kubectl, Watch

_SELECTOR = "control-plane=controller-manager"
_LEASES = "leases.coordination.k8s.io"

_KILL = """
import os, pathlib, signal
killed = 0
for each in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        words = each.joinpath("cmdline").read_bytes().split(b"\\0")
    except OSError:
        continue
    if b"operator" in words and any(word.endswith(b"dglop") for word in words):
        os.kill(int(each.name), signal.SIGKILL)
        killed += 1
assert killed, "no operator process found"
print("killed", killed)
"""


@pytest.fixture(scope="module")
def executioner(stack: Stack, kubectl: Kubectl) -> Iterator[str]:
    """A pod that sees the node's processes: the only honest way to SIGKILL a container's first process."""
    name, namespace = "executioner", "e2e-executioner"
    kubectl.run("create", "namespace", namespace)
    kubectl.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                "hostPID": True,
                "terminationGracePeriodSeconds": 0,
                "containers": [
                    {
                        "name": "main",
                        "image": stack.dgl_image,
                        "imagePullPolicy": "IfNotPresent",
                        "command": ["sleep", "infinity"],
                        "securityContext": {"privileged": True, "runAsUser": 0},
                    }
                ],
            },
        }
    )
    kubectl.run("wait", "--for=condition=Ready", f"pod/{name}", "-n", namespace, "--timeout=120s")
    yield namespace
    kubectl.run("delete", "namespace", namespace, "--wait=false")


def _restarts(kubectl: Kubectl) -> int:
    pods = kubectl.list("pods", NAMESPACE, _SELECTOR)
    return sum(each["restartCount"] for pod in pods for each in pod["status"].get("containerStatuses", []))


def _ready(kubectl: Kubectl, wanted: int = 1) -> None:
    def probe() -> bool:
        deployment = kubectl.get("deployment", DEPLOYMENT, NAMESPACE)
        return deployment is not None and deployment["status"].get("readyReplicas", 0) == wanted

    kubectl.until(f"{wanted} operators ready", probe)


def _sigkill(kubectl: Kubectl, executioner: str) -> None:
    before = _restarts(kubectl)
    kubectl.exec("executioner", executioner, "python3", "-c", _KILL)
    kubectl.until("the operator's container was restarted", lambda: _restarts(kubectl) > before)


def _assert_no_pod_twice(pods: Watch) -> None:
    twice = {name: uids for name, uids in pods.uids().items() if len(uids) > 1}
    assert not twice


@pytest.mark.parametrize("moment", ["Partitioning", "Dispatching", "Training"])
def test_a_killed_operator_goes_on_where_it_was_and_makes_no_pod_twice(
    jobs: Jobs, kubectl: Kubectl, executioner: str, moment: str
) -> None:
    _ready(kubectl)
    with kubectl.watch("pods", jobs.namespace) as pods:
        jobs.submit(jobs.digits("digits", "--epochs", "4", "--epoch-seconds", "2"))
        jobs.until_phase("digits", moment)
        _sigkill(kubectl, executioner)
        job = jobs.until_phase("digits", "Completed")
        _assert_no_pod_twice(pods)
    assert status(job)["attempt"] == 1
    assert status(job).get("restartCount", 0) == 0


def _holder(kubectl: Kubectl) -> str:
    leases = kubectl.list(_LEASES, NAMESPACE)
    assert len(leases) == 1, [each["metadata"]["name"] for each in leases]
    return leases[0]["spec"].get("holderIdentity", "")


def test_of_two_operators_one_leads_and_failover_loses_and_doubles_nothing(
    jobs: Jobs, kubectl: Kubectl
) -> None:
    kubectl.run("scale", f"deployment/{DEPLOYMENT}", "-n", NAMESPACE, "--replicas=2")
    try:
        _ready(kubectl, 2)
        with kubectl.watch("pods", jobs.namespace) as pods:
            jobs.submit(jobs.stand_in("first", seconds=12), jobs.stand_in("second", seconds=12))
            jobs.until_phase("first", "Training")
            leader = _holder(kubectl)
            names = [pod["metadata"]["name"] for pod in kubectl.list("pods", NAMESPACE, _SELECTOR)]
            leading = next(name for name in names if leader.startswith(name))
            kubectl.run("delete", "pod", leading, "-n", NAMESPACE, "--grace-period=0", "--force")
            kubectl.until("another operator leads", lambda: _holder(kubectl) not in {"", leader})
            jobs.until_phase("first", "Completed")
            jobs.until_phase("second", "Completed")
            _assert_no_pod_twice(pods)
    finally:
        kubectl.run("scale", f"deployment/{DEPLOYMENT}", "-n", NAMESPACE, "--replicas=1")
        _ready(kubectl)


def test_an_upgraded_operator_restarts_nothing_that_trains(jobs: Jobs, kubectl: Kubectl) -> None:
    with kubectl.watch("pods", jobs.namespace) as pods:
        jobs.submit(jobs.stand_in("job", seconds=25))
        jobs.until_phase("job", "Training")
        # What an upgrade does: another template, another pod, a new delivery image in the arguments.
        deployment = kubectl.get("deployment", DEPLOYMENT, NAMESPACE)
        assert deployment is not None
        arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        newer = [each if not each.startswith("--delivery-image") else each + "-next" for each in arguments]
        assert newer != arguments
        _set_arguments(kubectl, newer)
        try:
            kubectl.run("rollout", "status", f"deployment/{DEPLOYMENT}", "-n", NAMESPACE, "--timeout=120s")
            job = jobs.until_phase("job", "Completed")
            _assert_no_pod_twice(pods)
        finally:
            _set_arguments(kubectl, arguments)
            kubectl.run("rollout", "status", f"deployment/{DEPLOYMENT}", "-n", NAMESPACE, "--timeout=120s")
    assert status(job)["attempt"] == 1


def _set_arguments(kubectl: Kubectl, arguments: list[str]) -> None:
    patch = [{"op": "replace", "path": "/spec/template/spec/containers/0/args", "value": arguments}]
    kubectl.run("patch", f"deployment/{DEPLOYMENT}", "-n", NAMESPACE, "--type=json", "-p", json.dumps(patch))


def test_the_operator_holds_no_right_beyond_the_shipped_rbac(stack: Stack, kubectl: Kubectl) -> None:
    subject = f"system:serviceaccount:{NAMESPACE}:dglop-controller-manager"

    def may(*words: str) -> bool:
        return kubectl.run("auth", "can-i", *words, f"--as={subject}", check=False).stdout.strip() == "yes"

    assert may("create", "pods", "-n", "default")
    assert may("patch", "dgljobs.kubeflow.org", "--subresource=status", "-n", "default")
    assert not may("create", "pods", "--subresource=exec", "-n", "default")
    assert not may("get", "pods", "--subresource=log", "-n", "default")
    assert not may("list", "secrets", "-n", "default")
    assert not may("create", "clusterroles")
    pods = kubectl.list("pods", NAMESPACE, _SELECTOR)
    security = pods[0]["spec"]["containers"][0]["securityContext"]
    assert security["readOnlyRootFilesystem"] is True
    assert security["allowPrivilegeEscalation"] is False
    assert pods[0]["spec"]["serviceAccountName"] == "dglop-controller-manager"
    bindings = json.loads(kubectl.out("get", "clusterrolebindings", "-o", "json"))["items"]
    ours = [
        each["metadata"]["name"]
        for each in bindings
        if any(who.get("namespace") == NAMESPACE for who in each.get("subjects", []))
    ]
    rendered = {
        each["metadata"]["name"] for each in hack_stack.render(stack) if each["kind"] == "ClusterRoleBinding"
    }
    assert set(ours) <= rendered


def test_a_sidecar_that_never_ends_does_not_keep_a_finished_job_running(jobs: Jobs, kubectl: Kubectl) -> None:
    job = jobs.stand_in("job", seconds=1)
    worker: dict[str, Any] = job["spec"]["dglReplicaSpecs"]["Worker"]["template"]
    worker["spec"]["containers"].append(
        {"name": "mesh", "image": jobs.image, "command": ["sleep", "infinity"]}
    )
    jobs.submit(job)
    ended = jobs.until_phase("job", "Completed")
    assert phase(ended) == "Completed"

    def gone() -> bool:
        pods = kubectl.list("pods", jobs.namespace)
        return not [each for each in pods if each["status"]["phase"] in {"Running", "Pending"}]

    kubectl.until("nothing of the job runs any more", gone)
