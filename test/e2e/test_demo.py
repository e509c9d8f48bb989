# SPDX-License-Identifier: Apache-2.0
"""The README's first command, run as a user runs it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from hack import demo
from hack.stack import DEPLOYMENT, NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from test.e2e.kubectl import Kubectl

_ROOT = Path(__file__).resolve().parents[2]
_SAMPLE = _ROOT / "config" / "samples" / "graphsage.yaml"
_PLACE = "dglop-demo"


def _standing(kubectl: Kubectl) -> set[tuple[str, str]]:
    """Kind and uid of what a demo finds and has to leave: nodes, the operator with its pods, the claim."""
    pods = kubectl.list("pods", NAMESPACE, "control-plane=controller-manager")
    found = [
        *kubectl.list("nodes", NAMESPACE),
        kubectl.get("deployment", DEPLOYMENT, NAMESPACE),
        *(pod for pod in pods if "deletionTimestamp" not in pod["metadata"]),
        kubectl.get("persistentvolumeclaim", "digits-model", _PLACE),
    ]
    return {(each["kind"], each["metadata"]["uid"]) for each in found if each}


def test_the_demo_trains_to_the_end_and_says_what_came_of_it(stack: object) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hack.demo"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for stage in ("cluster", "images", "operator", "partition", "fetch", "train"):
        assert re.search(rf"✓ {stage}", done.stdout), done.stdout
    accuracy = re.search(r"test accuracy (0\.\d+)", done.stdout)
    assert accuracy is not None, done.stdout
    assert float(accuracy[1]) > 0.9
    assert "model.pt" in done.stdout
    assert "next:" in done.stdout


@pytest.fixture
def hopeless(kubectl: Kubectl, tmp_path: Path) -> Iterator[Path]:
    """The sample, but for a Partitioner that cannot do its work; its claim is there from an earlier demo."""
    documents = list(yaml.safe_load_all(_SAMPLE.read_text()))
    claim, job = documents
    kubectl.apply(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _PLACE}},
        {**claim, "metadata": {**claim["metadata"], "namespace": _PLACE}},
    )
    job["spec"]["runPolicy"] = {"backoffLimit": 0}
    roles = job["spec"]["dglReplicaSpecs"]
    roles["Partitioner"]["template"]["spec"]["containers"][0]["command"] = [
        "python3",
        "-c",
        "raise SystemExit('there is no such graph')",
    ]
    path = tmp_path / "sample.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    yield path
    kubectl.delete("dgljob", "digits", _PLACE)


def test_a_second_demo_uses_what_is_there_and_ends_with_1_when_its_job_fails(
    hopeless: Path, kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _standing(kubectl)
    assert {kind for kind, _ in before} == {"Node", "Deployment", "Pod", "PersistentVolumeClaim"}
    monkeypatch.setattr(demo, "_SAMPLE", hopeless)
    assert demo.main() == 1
    said = capsys.readouterr().out
    assert "there is no such graph" in said
    assert "logs digits-partitioner-0" in said
    assert "✓ partition" not in said
    assert "Trained" not in said
    assert _standing(kubectl) == before
