# SPDX-License-Identifier: Apache-2.0
"""launchMode Exec under the operator as it is shipped, which may run commands in nobody's pods."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from test.e2e.jobs import condition

if TYPE_CHECKING:
    from test.e2e.jobs import Jobs
    from test.e2e.kubectl import Kubectl

_SAMPLE = Path(__file__).parents[2] / "config" / "samples" / "exec.yaml"


def test_a_job_is_refused_in_a_sentence_that_names_what_to_add(jobs: Jobs, kubectl: Kubectl) -> None:
    job = yaml.safe_load(_SAMPLE.read_text())
    job["metadata"]["namespace"] = jobs.namespace
    jobs.submit(job)
    failed = condition(jobs.until_phase("digits-exec", "Failed"), "Failed")
    assert failed is not None
    assert failed["reason"] == "InvalidSpec"
    assert "launchMode Exec needs the right to pods/exec" in failed["message"]
    assert "config/components/exec" in failed["message"]
    assert kubectl.list("pods", jobs.namespace) == []
    assert kubectl.list("roles", jobs.namespace) == [], "a right was given all the same"
