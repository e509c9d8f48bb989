# SPDX-License-Identifier: Apache-2.0
"""Graphs that users bring: every format, partitioned by the real DGL, compared, and trained on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from test.e2e.jobs import Jobs, status

if TYPE_CHECKING:
    from test.e2e.kubectl import Kubectl

_PROGRAMS = Path(__file__).parent / "programs"

# Servers wait until the trainer of worker-0 has compared all parts, which lie on a claim, with the dataset.
_VERIFY = """
import os, pathlib, subprocess, sys, time
end = pathlib.Path("/tmp/compared")
if os.environ["DGL_ROLE"] == "server":
    while not end.exists():
        time.sleep(0.1)
    sys.exit(0)
code = 0
if os.environ["DGLJOB_REPLICA_INDEX"] == "0":
    code = subprocess.call([sys.executable, "-m", "dglrun", "verify-parts", *sys.argv[1:]])
end.touch()
sys.exit(code)
"""


def _program(name: str, *arguments: str) -> list[str]:
    return ["python3", "-c", (_PROGRAMS / f"{name}.py").read_text(), *arguments]


def _said(jobs: Jobs, pod: str) -> Any:
    """The last line that the main container of a pod has printed."""
    return json.loads(jobs.kubectl.out("logs", pod, "-n", jobs.namespace, "-c", "dgl").splitlines()[-1])


def _partitioned_by(jobs: Jobs, *command: str) -> dict[str, Any]:
    """A job whose Partitioner runs a program of ours; its Workers only end."""
    job = jobs.stand_in("job", seconds=1, storage={"type": "PVC", "claimName": "parts"})
    job["spec"]["dglReplicaSpecs"]["Partitioner"]["template"] = jobs.template(list(command))
    return job


def test_parts_of_every_format_equal_the_graph_and_the_same_graph_as_dgl_saved_it(jobs: Jobs) -> None:
    """Of one type and several, directed, with parallel edges, loops, isolated nodes; in one part to four."""
    jobs.submit(jobs.claim("parts"), _partitioned_by(jobs, *_program("input_matrix", "compare")))
    jobs.until_phase("job", "Training", "Completed")
    problems = _said(jobs, "job-partitioner-0")
    assert len(problems) == 4 * (2 + 3 + 2 * 3 * 2)
    assert {case: each for case, each in problems.items() if each} == {}


def test_whatever_is_wrong_with_parts_is_noticed(jobs: Jobs) -> None:
    jobs.submit(jobs.claim("parts"), _partitioned_by(jobs, *_program("damage_parts")))
    jobs.until_phase("job", "Training", "Completed")
    problems = _said(jobs, "job-partitioner-0")
    assert problems.pop("") == [], "parts that are right were refused"
    assert len(problems) > 30
    assert [damage for damage, each in problems.items() if not each] == []


def _with_data(jobs: Jobs, job: dict[str, Any], **dataset: Any) -> dict[str, Any]:
    """The job reads its graph from the claim `data`; nobody writes its Partitioner."""
    del job["spec"]["dglReplicaSpecs"]["Partitioner"]
    job["spec"]["dataset"] = dataset
    pod = job["spec"]["dglReplicaSpecs"]["Worker"]["template"]["spec"]
    pod["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}}]
    pod["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data", "readOnly": True}]
    return job


def test_text_on_a_claim_is_trained_on_and_parquet_in_chunks_becomes_parts_that_equal_it(
    jobs: Jobs, kubectl: Kubectl
) -> None:
    write = _program("input_matrix", "write", "/dgl_workspace/output")
    jobs.submit(
        jobs.claim("data"), jobs.claim("parts"), jobs.skip("write", write, output={"claimName": "data"})
    )
    jobs.until_phase("write", "Completed")

    town = _with_data(jobs, jobs.digits("town", "--epochs", "5"), url="file:///data/town", format="csv")
    jobs.submit(town)
    metrics = status(jobs.until_phase("town", "Completed"))["trainer"]["metrics"]
    assert float({each["name"]: each["value"] for each in metrics}["testAccuracy"]) > 0.9
    kubectl.delete("dgljob", "town", jobs.namespace)

    shop = jobs.stand_in("shop", storage={"type": "PVC", "claimName": "parts"})
    verify = ["python3", "-c", _VERIFY, "DGLJOB_DATASET_URL=file:///data/shop"]
    shop["spec"]["dglReplicaSpecs"]["Worker"]["template"] = jobs.template(verify)
    jobs.submit(_with_data(jobs, shop, url="file:///data/shop"))
    jobs.until_phase("shop", "Completed")
    words = next(
        json.loads(line[line.index("{") :])
        for line in kubectl.out("logs", "shop-worker-0", "-n", jobs.namespace, "-c", "dgl").splitlines()
        if '"equal"' in line
    )
    assert words["equal"] is True
    assert words["features"] == 16
    assert words["parts"] == 2
