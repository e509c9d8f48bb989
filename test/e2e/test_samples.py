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
