# SPDX-License-Identifier: Apache-2.0
"""The example of a cluster-scoped operator, under exactly the rights that `dglop manifests` prints for it."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from test.e2e.kubectl import Kubectl

_EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "project"
_SHARED = "shared"
_KIND = "projects.example.dev"


def _printed(home: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "dglop", "manifests", "project:manager", "--home", home]
    done = subprocess.run(command, cwd=_EXAMPLE, capture_output=True, text=True, check=True)
    return list(yaml.safe_load_all(done.stdout))


@contextmanager
def _installed(kubectl: Kubectl, home: str) -> Iterator[None]:
    """What is printed is applied, and afterwards away; so is the namespace of the shared Secrets."""
    documents = _printed(home)
    kubectl.run("delete", "namespace", _SHARED, "--ignore-not-found", "--wait")
    kubectl.run("create", "namespace", _SHARED)
    kubectl.apply(*documents)
    try:
        kubectl.run("wait", "--for=condition=Established", f"crd/{_KIND}", "--timeout=60s")
        yield
    finally:
        # The namespace of the operator itself is the test's own.
        kept = [each for each in documents if each["kind"] != "Namespace"]
        text = "\n---\n".join(json.dumps(each) for each in kept)
        kubectl.run("delete", "--ignore-not-found", "-f", "-", stdin=text)
        kubectl.run("delete", "namespace", _SHARED, "--wait=false")


@contextmanager
def _running(kubectl: Kubectl, home: str, folder: Path) -> Iterator[Path]:
    """The program, as its service account; its log. It ends as it is told."""
    config = json.loads(kubectl.out("config", "view", "--minify", "--flatten", "--raw", "-o", "json"))
    token = kubectl.out("create", "token", "project", "-n", home).strip()
    config["users"] = [{"name": each["name"], "user": {"token": token}} for each in config["users"]]
    kubeconfig, log = folder / "kubeconfig", folder / "log"
    kubeconfig.write_text(json.dumps(config))
    flags = [f"--kubeconfig={kubeconfig}", "--metrics-bind=0", "--health-bind=0", "--log-format=json"]
    with log.open("w") as output:
        program = subprocess.Popen(
            [sys.executable, "project.py", *flags], cwd=_EXAMPLE, stdout=output, stderr=output
        )
    try:
        yield log
    finally:
        program.terminate()
        code = program.wait(timeout=60)
        sys.stdout.write(log.read_text())
    assert code == 0


def _project(name: str, **spec: Any) -> dict[str, Any]:
    quota, members = {"cpu": 2, "pods": 3}, [{"name": "jane"}]
    return {
        "apiVersion": "example.dev/v1",
        "kind": "Project",
        "metadata": {"name": name},
        "spec": {"quota": quota, "members": members, "isolated": True, **spec},
    }


def _reasons(kubectl: Kubectl, name: str) -> list[str]:
    """What was told of an object in no namespace."""
    found = kubectl.list("events.events.k8s.io", "default")
    mine = [each for each in found if each["regarding"].get("name") == name]
    return [each["reason"] for each in mine if each["regarding"].get("kind") == "Project"]


def _may(kubectl: Kubectl, who: str, what: str, namespace: str) -> bool:
    done = kubectl.run("auth", "can-i", *what.split(), "-n", namespace, f"--as={who}", check=False)
    return done.stdout.strip() == "yes"


@pytest.fixture
def log(kubectl: Kubectl, namespace: str, tmp_path: Path) -> Iterator[Path]:
    """The log of the operator, which runs in the test's namespace's name."""
    with _installed(kubectl, namespace), _running(kubectl, namespace, tmp_path) as found:
        yield found


def test_a_project_lives_and_ends_under_the_rights_that_are_printed_for_its_operator(
    kubectl: Kubectl, namespace: str, log: Path
) -> None:
    name = f"{namespace}-team"
    secret = {"apiVersion": "v1", "kind": "Secret", "stringData": {"key": "value"}}
    labels = {"example.dev/share": "projects"}
    kubectl.apply({**secret, "metadata": {"name": "pull", "namespace": _SHARED, "labels": labels}})
    kubectl.apply(_project(name))

    def is_active() -> dict[str, Any] | None:
        seen = kubectl.get(_KIND, name, namespace)
        status = (seen or {}).get("status", {})
        return seen if status.get("phase") == "Active" and status.get("secrets") == 1 else None

    made = kubectl.until("the project is active", is_active)
    assert kubectl.get("secret", "pull", name) is not None
    assert kubectl.get("networkpolicy", "project", name) is not None
    quota = kubectl.get("resourcequota", "project", name)
    assert quota is not None
    assert quota["spec"]["hard"] == {"cpu": "2", "memory": "8Gi", "pods": "3"}
    assert _may(kubectl, "jane", "create pods", name)
    assert not _may(kubectl, "jane", "create pods", _SHARED)

    operator = f"system:serviceaccount:{namespace}:project"
    assert _may(kubectl, operator, "create configmaps", _SHARED)
    assert not _may(kubectl, operator, "create configmaps", namespace)
    assert not _may(kubectl, operator, "list configmaps", _SHARED)

    kubectl.apply(_project(name, lifetime="1s"))
    kubectl.until("the project is gone", lambda: kubectl.get(_KIND, name, namespace) is None)
    assert kubectl.get("namespace", name, namespace) is None
    ledger = kubectl.get("configmap", "project-ledger", _SHARED)
    assert ledger is not None
    assert f"{name}.{made['metadata']['uid']}" in ledger["data"]
    kubectl.until("its end was told", lambda: {"Active", "Expired"} <= set(_reasons(kubectl, name)))
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    assert [line for line in lines if line["level"] == "error"] == []
