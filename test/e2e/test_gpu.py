# SPDX-License-Identifier: Apache-2.0
"""A job that asks for a GPU, on a cluster that has one to give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from test.e2e.jobs import Jobs

pytestmark = pytest.mark.needs_gpu

# A pod of a machine with several gets any one of them, under the machine's own number.
_LOOK = "import glob, sys; found = glob.glob('/dev/nvidia[0-9]*'); print(found); sys.exit(not found)"


def test_a_job_that_asks_for_a_gpu_sees_one(jobs: Jobs) -> None:
    job = jobs.skip("device", ["python3", "-c", _LOOK])
    pod = job["spec"]["dglReplicaSpecs"]["Launcher"]["template"]["spec"]
    pod["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": 1}}
    pod["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    jobs.submit(job)
    jobs.until_phase("device", "Completed")
