# SPDX-License-Identifier: Apache-2.0
"""A cluster in containers of a Docker engine, made by kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hack.cluster.binaries import ensure, home, TOOLS
from hack.cluster.commands import output, stream
from hack.cluster.errors import ClusterError
from hack.cluster.image import names_in
from hack.cluster.paths import SOURCES
from hack.cluster.status import Status

if TYPE_CHECKING:
    from hack.cluster.paths import Paths
    from hack.cluster.report import Report

__all__ = ("CLUSTER", "Kind", "arguments")

CLUSTER = "dglop"
NEEDED = ("kind", "kubectl")


def arguments(command: str, kubeconfig: Path, archive: Path | None = None) -> list[str]:
    """What kind is called with."""
    name = ["--name", CLUSTER]
    made = {
        "up": [
            "create", "cluster", *name, "--config", str(SOURCES / "kind.yaml"),
            "--kubeconfig", str(kubeconfig), "--wait", "180s",
        ],
        "down": ["delete", "cluster", *name, "--kubeconfig", str(kubeconfig)],
        "kubeconfig": ["export", "kubeconfig", *name, "--kubeconfig", str(kubeconfig)],
        "list": ["get", "clusters"],
        "load": ["load", "image-archive", str(archive), *name],
        "logs": ["export", "logs", *name, str(kubeconfig.parent / "kind-logs")],
    }  # fmt: skip
    return made[command]


class Kind:
    """The provider for a machine with a Docker engine."""

    name = "kind"

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def up(self, report: Report) -> None:
        with report.step("kubernetes") as step:
            ensure(NEEDED, self._paths, step.note)
            step.note(f"kind {TOOLS['kind'].version}")
        with report.step("cluster") as step:
            if CLUSTER in self._kind("list").split():
                self._kind("kubeconfig")
                step.note("running already")
            else:
                argv = [str(self._program("kind")), *arguments("up", self._paths.kubeconfig)]
                stream(argv, step.note, log=self._paths.log)
                step.note("node ready")
            self._add()

    def down(self) -> None:
        self._kind("down")

    def status(self) -> Status:
        if CLUSTER not in self._kind("list").split():
            return Status(running=False, text="no cluster: `up` makes one")
        return Status(running=True, text=f"running\n{self._kubectl('get', 'nodes')}")

    def kubeconfig(self) -> Path:
        if not self._paths.kubeconfig.exists():
            raise ClusterError("there is no kubeconfig yet: bring the cluster up first")
        return self._paths.kubeconfig

    def load(self, archive: Path) -> list[str]:
        if not archive.is_file():
            raise ClusterError(f"there is no image archive {archive}: build it first")
        self._kind("load", archive)
        return names_in(archive)

    def logs(self) -> str:
        self._kind("logs")
        return f"the logs lie in {self._paths.cache / 'kind-logs'}"

    def _program(self, name: str) -> Path:
        return home(TOOLS[name], self._paths) / name

    def _kind(self, command: str, archive: Path | None = None) -> str:
        return output([str(self._program("kind")), *arguments(command, self._paths.kubeconfig, archive)])
