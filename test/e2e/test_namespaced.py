# SPDX-License-Identifier: Apache-2.0
"""The operator for one namespace, as it is shipped, with a Role there and nothing beyond."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from hack import stack as hack_stack
from hack.stack import DEPLOYMENT, NAMESPACE
from test.e2e.jobs import Jobs, condition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hack.stack import Stack
    from test.e2e.kubectl import Kubectl

_SHIPPED_FOR = "dglop-jobs"


def _scale(kubectl: Kubectl, namespace: str, replicas: int) -> None:
    """Return once as many operators are ready, and no other is left."""
    kubectl.run("scale", f"deployment/{DEPLOYMENT}", "-n", namespace, f"--replicas={replicas}")

    def is_so() -> bool:
        deployment = kubectl.get("deployment", DEPLOYMENT, namespace)
        ready = deployment["status"].get("readyReplicas", 0) if deployment else 0
        pods = kubectl.list("pods", namespace, "control-plane=controller-manager")
        return ready == len(pods) == replicas

    kubectl.until(f"{replicas} operators in {namespace}", is_so)


@contextmanager
def _without_the_other_operator(kubectl: Kubectl) -> Iterator[None]:
    """The operator for the whole cluster is away, and afterwards back."""
    deployment = kubectl.get("deployment", DEPLOYMENT, NAMESPACE)
    assert deployment is not None
    _scale(kubectl, NAMESPACE, 0)
    try:
        yield
    finally:
        _scale(kubectl, NAMESPACE, deployment["spec"]["replicas"] or 1)


@contextmanager
def _operator_in(kubectl: Kubectl, stack: Stack, namespace: str) -> Iterator[list[dict[str, Any]]]:
    """What `kubectl apply -k config/namespaced` installs, in this namespace; its documents."""
    shipped = hack_stack.render(stack, "config/namespaced")
    documents = [json.loads(json.dumps(each).replace(_SHIPPED_FOR, namespace)) for each in shipped]
    kubectl.apply(*documents)
    try:
        _scale(kubectl, namespace, 1)
        yield documents
    finally:
        _scale(kubectl, namespace, 0)


@pytest.fixture
def elsewhere(kubectl: Kubectl, jobs: Jobs) -> Iterator[Jobs]:
    """Jobs of another namespace."""
    other = f"{jobs.namespace}-other"
    kubectl.run("delete", "namespace", other, "--ignore-not-found", "--wait")
    kubectl.run("create", "namespace", other)
    yield replace(jobs, namespace=other)
    kubectl.run("delete", "namespace", other, "--wait=false")


def test_an_operator_for_one_namespace_runs_its_jobs_and_touches_no_others(
    jobs: Jobs, elsewhere: Jobs, kubectl: Kubectl, stack: Stack
) -> None:
    with _without_the_other_operator(kubectl):
        with _operator_in(kubectl, stack, jobs.namespace) as documents:
            assert not [each["kind"] for each in documents if each["kind"].startswith("Cluster")]
            elsewhere.submit(elsewhere.skip("job", ["true"]))
            before = elsewhere.get("job")
            jobs.submit(jobs.stand_in("job", seconds=1))
            job = jobs.until_phase("job", "Completed")
            succeeded = condition(job, "Succeeded")
            assert succeeded is not None
            assert succeeded["status"] == "True"
        assert before is not None
        assert elsewhere.get("job") == before, "a job of another namespace was touched"
        assert kubectl.list("pods,services,secrets", elsewhere.namespace) == []
    # The operator for all namespaces is what it was waiting for.
    elsewhere.until_phase("job", "Completed")
