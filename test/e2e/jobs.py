# SPDX-License-Identifier: Apache-2.0
"""Jobs that the end-to-end tests submit, and what they read of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from test.e2e.kubectl import Kubectl

__all__ = ("PHASES", "Jobs", "condition", "fetched", "phase", "status")

PHASES = ["Pending", "Partitioning", "Partitioned", "Dispatching", "Training", "Completed"]

# A program that behaves like DGL's: servers wait until their trainers are done, trainers take a while.
# Started by dglrun once for each role, so it shows every path of the supervisor in a fraction of the time.
_STAND_IN = """
import os, pathlib, sys, time
role = os.environ["DGL_ROLE"]
attempt = os.environ["DGLJOB_ATTEMPT"]
index = os.environ["DGLJOB_REPLICA_INDEX"]
end = pathlib.Path("/tmp/trainer-done")
print(role, "attempt", attempt, "worker", index, open(os.environ["DGL_IP_CONFIG"]).read().split(), flush=True)
if role == "server":
    while not end.exists():
        time.sleep(0.1)
    sys.exit(0)
for second in range(int(sys.argv[1]) * 10):
    time.sleep(0.1)
    if os.path.exists("/tmp/enough"):
        break
end.touch()
"""

_STAND_IN_PARTS = """
import json, os, pathlib, sys, time
for tenth in range(int(sys.argv[1]) * 10):
    time.sleep(0.1)
folder, count = pathlib.Path(os.environ["DGLJOB_PARTS_DIR"]), int(os.environ["DGLJOB_NUM_PARTS"])
folder.mkdir(parents=True, exist_ok=True)
conf = {"graph_name": "g", "num_parts": count, "num_nodes": 10, "num_edges": 20, "part_method": "random"}
for part in range(count):
    home = folder / f"part{part}"
    home.mkdir(exist_ok=True)
    conf[f"part-{part}"] = {}
    for what in ("node_feats", "edge_feats", "part_graph"):
        (home / f"{what}.dgl").write_bytes(os.urandom(200_000))
        conf[f"part-{part}"][what] = f"part{part}/{what}.dgl"
(folder / "g.json").write_text(json.dumps(conf))
"""


@dataclass(frozen=True, slots=True)
class Jobs:
    """Makes and reads jobs of one namespace."""

    kubectl: Kubectl
    namespace: str
    image: str

    def digits(self, name: str, *train: str, **spec: Any) -> dict[str, Any]:
        """Real training of GraphSAGE on the digits graph; ``train`` are arguments of its program."""
        return self._job(
            name,
            parts=["python3", "/opt/dgl/examples/graphsage/partition.py", "--dataset", "digits"],
            work=["python3", "/opt/dgl/examples/graphsage/train.py", *train],
            **{"numSamplers": 1, **spec},
        )

    def stand_in(
        self, name: str, seconds: int = 3, partition_seconds: int = 0, **spec: Any
    ) -> dict[str, Any]:
        """A job whose programs behave like DGL's: training takes ``seconds``, partitioning its own.

        Training ends before its time when the test says that it is `enough`.
        """
        return self._job(
            name,
            parts=["python3", "-c", _STAND_IN_PARTS, str(partition_seconds)],
            work=["python3", "-c", _STAND_IN, str(seconds)],
            **spec,
        )

    def _job(self, name: str, *, parts: list[str], work: list[str], **spec: Any) -> dict[str, Any]:
        body = {
            "partitionMode": "SSP",
            "dglReplicaSpecs": {
                "Partitioner": {"template": self.template(parts)},
                "Worker": {"replicas": 2, "template": self.template(work)},
            },
            **spec,
        }
        return {
            "apiVersion": "kubeflow.org/v1alpha1",
            "kind": "DGLJob",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": body,
        }

    def template(self, command: list[str]) -> dict[str, Any]:
        return {"spec": {"containers": [{"name": "dgl", "image": self.image, "command": command}]}}

    def skip(self, name: str, command: list[str], **spec: Any) -> dict[str, Any]:
        """A job with only a Launcher."""
        job = self._job(name, parts=[], work=[], **spec)
        job["spec"]["partitionMode"] = "Skip"
        job["spec"]["dglReplicaSpecs"] = {"Launcher": {"template": self.template(command)}}
        return job

    def claim(self, name: str) -> dict[str, Any]:
        """A claim that the pods of one node share."""
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "64Mi"}}},
        }

    def submit(self, *documents: dict[str, Any]) -> None:
        self.kubectl.apply(*documents)

    def suspend(self, name: str, *, on: bool) -> None:
        patch = json.dumps({"spec": {"runPolicy": {"suspend": on}}})
        self.kubectl.run("patch", "dgljob", name, "-n", self.namespace, "--type=merge", "-p", patch)

    def enough(self, name: str) -> None:
        """End the training of a stand-in in both Workers."""
        for index in range(2):
            self.kubectl.exec(
                f"{name}-worker-{index}", self.namespace, "touch", "/tmp/enough", container="dgl"
            )

    def get(self, name: str) -> dict[str, Any] | None:
        return self.kubectl.get("dgljob", name, self.namespace)

    def pod(self, name: str) -> dict[str, Any] | None:
        return self.kubectl.get("pod", name, self.namespace)

    def until_phase(self, name: str, *wanted: str, seconds: float = 300) -> dict[str, Any]:
        """Wait for one of the phases; a job that ended otherwise fails at once, with its own words."""

        def probe() -> dict[str, Any] | None:
            job = self.get(name)
            if job is None or phase(job) in wanted:
                return job
            if phase(job) in {"Completed", "Failed"}:
                raise AssertionError(f"{name} is {phase(job)}, not {' or '.join(wanted)}: {job['status']}")
            return None

        return self.kubectl.until(f"dgljob {name} {' or '.join(wanted)}", probe, seconds)

    def until_attempt(self, name: str, wanted: int, seconds: float = 300) -> dict[str, Any]:
        def probe() -> dict[str, Any] | None:
            job = self.get(name)
            return job if job is not None and status(job).get("attempt") == wanted else None

        return self.kubectl.until(f"dgljob {name} in attempt {wanted}", probe, seconds)

    def until_pod(self, name: str, claim: str, is_so: Any) -> dict[str, Any]:
        def probe() -> dict[str, Any] | None:
            pod = self.pod(name)
            return pod if pod is not None and is_so(pod) else None

        return self.kubectl.until(f"pod {name} {claim}", probe)


def status(job: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = job.get("status", {})
    return found


def phase(job: dict[str, Any]) -> str | None:
    return status(job).get("phase")


def condition(job: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((each for each in status(job).get("conditions", []) if each["type"] == name), None)


def fetched(pod: dict[str, Any]) -> dict[str, Any]:
    """What the fetching container of a Worker said when it ended."""
    states = {each["name"]: each["state"] for each in pod["status"]["initContainerStatuses"]}
    words = next(state["terminated"]["message"] for name, state in states.items() if "fetch" in name)
    found = json.loads(words)
    assert isinstance(found, dict)
    return found
