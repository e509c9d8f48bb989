# SPDX-License-Identifier: Apache-2.0
"""Parts made by several processes with the real DGL, compared with the graph that they were made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from test.e2e.jobs import status

if TYPE_CHECKING:
    from test.e2e.jobs import Jobs

_PROGRAM = Path(__file__).parent / "programs" / "parallel_matrix.py"


def test_parts_of_several_processes_and_of_workers_equal_the_graph_and_are_loaded_by_dgl(jobs: Jobs) -> None:
    """Of one type and several, directed, parallel edges, isolated nodes, masks, nearly empty types."""
    job = jobs.stand_in("job", seconds=1, storage={"type": "PVC", "claimName": "parts"})
    program = ["python3", "-c", _PROGRAM.read_text()]
    job["spec"]["dglReplicaSpecs"]["Partitioner"]["template"] = jobs.template(program)
    jobs.submit(jobs.claim("parts"), job)
    jobs.until_phase("job", "Training", "Completed")
    lines = jobs.kubectl.out("logs", "job-partitioner-0", "-n", jobs.namespace, "-c", "dgl").splitlines()
    problems = next(json.loads(line[line.index("{") :]) for line in reversed(lines) if line.endswith("}"))
    assert len(problems) == 3 * (5 + 2 + 1) + 1
    assert {case: each for case, each in problems.items() if each} == {}


def test_a_model_is_trained_on_parts_that_two_processes_made_by_our_own_partitioner(jobs: Jobs) -> None:
    job = jobs.digits("job", "--epochs", "10")
    settings = ["DATASET_NAME=digits", "PARTITION_PROCESSES=2", "PART_METHOD=parallel"]
    command = ["python3", "-m", "dglrun", "partition-parallel", *(f"DGLJOB_{each}" for each in settings)]
    job["spec"]["dglReplicaSpecs"]["Partitioner"]["template"] = jobs.template(command)
    jobs.submit(job)
    done = status(jobs.until_phase("job", "Completed"))
    assert done["partition"]["ready"] == "2/2"
    assert float({each["name"]: each["value"] for each in done["trainer"]["metrics"]}["testAccuracy"]) > 0.9
