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
    from hack.stack import Stack
    from test.e2e.executioner import Executioner
    from test.e2e.kubectl import Kubectl, Watch

_SELECTOR = "control-plane=controller-manager"
_LEASES = "leases.coordination.k8s.io"
_ACCOUNT = "dglop-controller-manager"
_BOOTSTRAPPED = "kubernetes.io/bootstrapping"
_SLOW_SECONDS = 8


def _restarts(kubectl: Kubectl) -> int:
    pods = kubectl.list("pods", NAMESPACE, _SELECTOR)
    return sum(each["restartCount"] for pod in pods for each in pod["status"].get("containerStatuses", []))


def _ready(kubectl: Kubectl, wanted: int = 1) -> None:
    def probe() -> bool:
        deployment = kubectl.get("deployment", DEPLOYMENT, NAMESPACE)
        return deployment is not None and deployment["status"].get("readyReplicas", 0) == wanted

    kubectl.until(f"{wanted} operators ready", probe)


def _names(kubectl: Kubectl) -> list[str]:
    pods = kubectl.list("pods", NAMESPACE, _SELECTOR)
    return [pod["metadata"]["name"] for pod in pods if "deletionTimestamp" not in pod["metadata"]]


def _sigkill(executioner: Executioner, pod: str) -> None:
    executioner.kill("dglop", "operator", HOSTNAME=pod)


def _assert_no_pod_twice(pods: Watch) -> None:
    twice = {name: uids for name, uids in pods.uids().items() if len(uids) > 1}
    assert not twice


def _slow_at(jobs: Jobs, moment: str) -> dict[str, Any]:
    """A job that is long enough in the phase `moment` for the operator to die there."""
    if moment == "Training":
        return jobs.digits("job", "--epochs", "4", "--epoch-seconds", "2")
    if moment == "Partitioning":
        return jobs.stand_in("job", partition_seconds=_SLOW_SECONDS)
    job = jobs.stand_in("job")
    slow = {"name": "slow", "image": jobs.image, "command": ["sleep", str(_SLOW_SECONDS)]}
    job["spec"]["dglReplicaSpecs"]["Worker"]["template"]["spec"]["initContainers"] = [slow]
    return job


@pytest.mark.parametrize("moment", ["Partitioning", "Dispatching", "Training"])
def test_a_killed_operator_goes_on_where_it_was_and_makes_no_pod_twice(
    jobs: Jobs, kubectl: Kubectl, executioner: Executioner, moment: str
) -> None:
    _ready(kubectl)
    (operator,) = _names(kubectl)
    before = _restarts(kubectl)
    with kubectl.watch("pods", jobs.namespace) as pods:
        jobs.submit(_slow_at(jobs, moment))
        jobs.until_phase("job", moment)
        _sigkill(executioner, operator)
        interrupted = jobs.get("job")
        assert interrupted is not None
        assert phase(interrupted) == moment
        kubectl.until("the operator's container was restarted", lambda: _restarts(kubectl) > before)
        job = jobs.until_phase("job", "Completed")
        _assert_no_pod_twice(pods)
    assert status(job)["attempt"] == 1
    assert status(job).get("restartCount", 0) == 0


def _holder(kubectl: Kubectl) -> str:
    leases = kubectl.list(_LEASES, NAMESPACE)
    assert len(leases) == 1, [each["metadata"]["name"] for each in leases]
    return str(leases[0]["spec"].get("holderIdentity", ""))


def _told(jobs: Jobs, kubectl: Kubectl) -> list[tuple[str, str, int]]:
    """Job, reason and number of every event about a job."""
    events = kubectl.list("events.events.k8s.io", jobs.namespace)
    return [
        (each["regarding"]["name"], each["reason"], (each.get("series") or {}).get("count", 1))
        for each in events
        if each["regarding"]["kind"] == "DGLJob"
    ]


def test_of_two_operators_one_leads_and_failover_loses_and_doubles_nothing(
    jobs: Jobs, kubectl: Kubectl, executioner: Executioner
) -> None:
    milestones = {"DGLJobCreated", "Partitioned", "DGLJobSucceeded"}
    kubectl.run("scale", f"deployment/{DEPLOYMENT}", "-n", NAMESPACE, "--replicas=2")
    try:
        _ready(kubectl, 2)
        with kubectl.watch("pods", jobs.namespace) as pods:
            names = ("first", "second")
            jobs.submit(*(jobs.stand_in(name, seconds=20) for name in names))
            for name in names:
                jobs.until_phase(name, "Training")
            leader = _holder(kubectl)
            # Its pod stays and its lease is not given back: the other one must wait until that is over.
            _sigkill(executioner, next(name for name in _names(kubectl) if leader.startswith(name)))
            kubectl.until("another operator leads", lambda: _holder(kubectl) not in {"", leader})
            for name in names:
                jobs.until_phase(name, "Completed")
            _assert_no_pod_twice(pods)
        wanted = {(name, reason) for name in names for reason in milestones}
        kubectl.until(
            "the events are there", lambda: wanted <= {told[:2] for told in _told(jobs, kubectl)}, seconds=60
        )
        told = sorted(each for each in _told(jobs, kubectl) if each[1] in milestones)
        assert told == sorted((*each, 1) for each in wanted)
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


def _rights(documents: list[dict[str, Any]]) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """What the operator's account may do, by itself or by its groups: where, by which role → its rules.

    What Kubernetes itself grants to everybody, such as to read the API's description, is left out.
    """
    rules = {_identity(each): each.get("rules") for each in documents if each["kind"].endswith("Role")}
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for binding in documents:
        subjects = (binding.get("subjects") or []) if binding["kind"].endswith("RoleBinding") else []
        if _BOOTSTRAPPED in binding["metadata"].get("labels", {}) or not any(map(_is_operator, subjects)):
            continue
        role, place = binding["roleRef"], binding["metadata"].get("namespace", "")
        at = place if role["kind"] == "Role" else ""
        found[binding["kind"], place, role["kind"], role["name"]] = (
            rules[role["kind"], at, role["name"]] or []
        )
    return found


def _is_operator(subject: dict[str, Any]) -> bool:
    if subject["kind"] == "ServiceAccount":
        return (subject.get("namespace"), subject["name"]) == (NAMESPACE, _ACCOUNT)
    return (subject["kind"], subject["name"]) in {
        ("User", f"system:serviceaccount:{NAMESPACE}:{_ACCOUNT}"),
        ("Group", f"system:serviceaccounts:{NAMESPACE}"),
        ("Group", "system:serviceaccounts"),
        ("Group", "system:authenticated"),
    }


def _identity(document: dict[str, Any]) -> tuple[str, str, str]:
    metadata = document["metadata"]
    return document["kind"], metadata.get("namespace", ""), metadata["name"]


def test_the_operator_holds_exactly_the_rights_of_the_shipped_rbac(stack: Stack, kubectl: Kubectl) -> None:
    kinds = "roles,rolebindings,clusterroles,clusterrolebindings"
    live = json.loads(kubectl.out("get", kinds, "--all-namespaces", "-o", "json"))["items"]
    rights = _rights(live)
    assert rights == _rights(hack_stack.render(stack))
    assert {binding for binding, *_ in rights} == {"RoleBinding", "ClusterRoleBinding"}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("Group", "system:authenticated"),
        ("Group", "system:serviceaccounts"),
        ("Group", f"system:serviceaccounts:{NAMESPACE}"),
        ("User", f"system:serviceaccount:{NAMESPACE}:{_ACCOUNT}"),
    ],
)
def test_rights_by_another_name_count_as_the_operators_and_those_of_kubernetes_itself_do_not(
    kind: str, name: str
) -> None:
    role = {"kind": "ClusterRole", "metadata": {"name": "all"}, "rules": [{"verbs": ["*"]}]}
    binding: dict[str, Any] = {
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "any"},
        "subjects": [{"kind": kind, "name": name}],
        "roleRef": {"kind": "ClusterRole", "name": "all"},
    }
    assert list(_rights([role, binding]).values()) == [role["rules"]]
    binding["metadata"]["labels"] = {_BOOTSTRAPPED: "rbac-defaults"}
    assert _rights([role, binding]) == {}


def test_what_the_operator_may_not_do_is_refused_to_it(kubectl: Kubectl) -> None:
    subject = f"system:serviceaccount:{NAMESPACE}:{_ACCOUNT}"

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
    assert pods[0]["spec"]["serviceAccountName"] == _ACCOUNT


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
