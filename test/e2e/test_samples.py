# SPDX-License-Identifier: Apache-2.0
"""The shipped samples run as they are, by the names of images that they have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from test.e2e.jobs import Jobs
    from test.e2e.kubectl import Kubectl

pytestmark = pytest.mark.needs_own

SAMPLES = Path(__file__).parents[2] / "config" / "samples"


def test_a_sample_runs_on_the_projects_cluster_as_it_is(jobs: Jobs, kubectl: Kubectl) -> None:
    kubectl.run("apply", "-n", jobs.namespace, "-f", str(SAMPLES / "skip-launcher.yaml"))
    jobs.until_phase("standalone", "Completed")
    [pod] = kubectl.list("pods", jobs.namespace)
    assert "edges 5000" in kubectl.out("logs", pod["metadata"]["name"], "-n", jobs.namespace)


def test_parts_on_a_claim_are_trained_on_by_a_second_sample(jobs: Jobs, kubectl: Kubectl) -> None:
    kubectl.run("apply", "-n", jobs.namespace, "-f", str(SAMPLES / "graphsage-claim.yaml"))
    jobs.until_phase("digits-claim", "Completed")
    kubectl.run("apply", "-n", jobs.namespace, "-f", str(SAMPLES / "reuse-parts.yaml"))
    job = jobs.until_phase("digits-again", "Completed")
    figures = {each["name"]: each["value"] for each in job["status"]["trainer"]["metrics"]}
    assert float(figures["testAccuracy"]) > 0.9
    assert job["status"]["partition"]["state"] == "Skipped"


def test_the_model_can_be_copied_out_of_the_claim(jobs: Jobs, kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl.run("apply", "-n", jobs.namespace, "-f", str(SAMPLES / "graphsage.yaml"))
    jobs.until_phase("digits", "Completed")
    kubectl.run("apply", "-n", jobs.namespace, "-f", str(SAMPLES / "model-reader.yaml"))
    kubectl.run("wait", "-n", jobs.namespace, "--for=condition=Ready", "pod/model-reader", "--timeout=120s")
    model = tmp_path / "model.pt"
    kubectl.run("cp", "-n", jobs.namespace, "model-reader:/models/digits/model.pt", str(model))
    assert model.read_bytes().startswith(b"PK")  # a zip archive, as torch.save writes it
