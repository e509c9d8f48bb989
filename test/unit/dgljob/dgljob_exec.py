# SPDX-License-Identifier: Apache-2.0
"""Jobs with launchMode Exec, and their lives."""

from __future__ import annotations

from typing import Any

from dglop.dgljob import DGLJobKind, KindOptions, Tokens
from dglop.dgljob.exec.right import ExecRight
from test.unit.dgljob.dgljob_world import World, make_job, template

__all__ = ("ExecWorld", "exec_job", "exec_kind")

WORKER = {"name": "dgl", "image": "dgl:test"}


def exec_kind() -> DGLJobKind:
    """The kind of an operator that may give the right to exec, and takes reports."""
    return DGLJobKind(
        KindOptions(
            Tokens(b"k" * 32), "operator:test", "http://operator:8082", exec_right=ExecRight(is_held=True)
        )
    )


def exec_job(workers: int = 2, *, worker: dict[str, Any] | None = None, **spec: Any) -> Any:
    specs = {
        "Launcher": {"template": template(command=["sh", "run.sh"])},
        "Worker": {"replicas": workers, "template": {"spec": {"containers": [worker or dict(WORKER)]}}},
    }
    return make_job(specs=spec.pop("specs", specs), **{"launchMode": "Exec", **spec})


class ExecWorld(World):
    """A world whose pods have addresses."""

    def __init__(self, job: Any) -> None:
        super().__init__(job, exec_kind())

    def run(self, name: str, *, ready: bool = False, fetched: bool = True) -> None:
        super().run(name, ready=ready, fetched=fetched)
        number = 100 * ("launcher" in name) + int(name.rsplit("-", 1)[1])
        self.pods[name]["status"]["podIP"] = f"10.0.0.{number}"

    def start_workers(self) -> None:
        for name in [each for each in self.pods if "-worker-" in each]:
            self.run(name, ready=True)
        self.settle()

    def train(self) -> None:
        """The life until the Launcher trains."""
        self.partition()
        self.start_workers()
        self.run("g-launcher-0", ready=True)
        self.settle()

    def init_done(self, name: str, container: str) -> None:
        """One of the pod's init containers ends well; the next ones still run."""
        status = self.pods[name]["status"]
        done = {"terminated": {"exitCode": 0}}
        states = {each["name"]: each for each in status.get("initContainerStatuses", [])}
        states[container] = {"name": container, "state": done}
        status["initContainerStatuses"] = list(states.values())
