# SPDX-License-Identifier: Apache-2.0
"""A Python program with a custom resource of its own, on the same runtime, against the same cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hack.stack import Stack
    from test.e2e.kubectl import Kubectl

_ROOT = Path(__file__).resolve().parents[2]
_EXAMPLE = _ROOT / "examples" / "greeting.py"


def test_a_program_of_thirty_lines_runs_an_operator(stack: Stack, kubectl: Kubectl, namespace: str) -> None:
    assert len(_EXAMPLE.read_text().splitlines()) <= 40
    environment = {**os.environ, "KUBECONFIG": str(stack.kubeconfig)}
    program = subprocess.Popen(
        [sys.executable, str(_EXAMPLE), "--install-crds", "--metrics-bind=0", "--health-bind=0"],
        env=environment,
    )
    try:
        kubectl.until(
            "the CRD is served",
            lambda: kubectl.run("get", "greetings.example.dev", "-A", check=False).returncode == 0,
        )
        greeting = {
            "apiVersion": "example.dev/v1",
            "kind": "Greeting",
            "metadata": {"name": "hello", "namespace": namespace},
            "spec": {"text": "good day"},
        }
        kubectl.apply(greeting)

        def said() -> str | None:
            page = kubectl.get("configmap", "hello", namespace)
            return page["data"]["text"] if page else None

        assert kubectl.until("the page is published", said) == "good day"
        kubectl.apply({**greeting, "spec": {"text": "good night"}})
        kubectl.until("the page follows", lambda: said() == "good night")
        kubectl.delete("configmap", "hello", namespace)
        kubectl.until("a deleted page comes back", said)
        row = kubectl.out("get", "greetings.example.dev", "hello", "-n", namespace).splitlines()[1]
        assert "True" in row
        kubectl.delete("greetings.example.dev", "hello", namespace)
        kubectl.until("the page goes with its owner", lambda: said() is None)
    finally:
        program.terminate()
        code = program.wait(timeout=60)
        kubectl.run("delete", "crd", "greetings.example.dev", "--ignore-not-found")
    assert code == 0
