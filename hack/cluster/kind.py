# SPDX-License-Identifier: Apache-2.0
"""A cluster in containers of a Docker engine, made by kind, with the same fake node as the local one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hack.cluster import preflight
from hack.cluster.binaries import TOOLS, ensure, home, kubectl, missing
from hack.cluster.commands import output, stream
from hack.cluster.errors import ClusterError
from hack.cluster.health import answers
from hack.cluster.image import dev_name, name_in
from hack.cluster.local import announcement
from hack.cluster.parts import kwok
from hack.cluster.paths import SOURCES
from hack.cluster.process import Daemons
from hack.cluster.status import NONE, Status

if TYPE_CHECKING:
    from pathlib import Path

    from hack.cluster.paths import Paths
    from hack.cluster.report import Report
    from hack.cluster.settings import Settings

__all__ = ("Kind", "arguments")

NEEDED = ("kind", "kubectl", "kwok")
BUILD_SPACE = 8 * 2**30
TAG = ("ctr", "--namespace", "k8s.io", "images", "tag", "--force")


def arguments(command: str, cluster: str, kubeconfig: Path, archive: Path | None = None) -> list[str]:
    """What kind is called with."""
    name, file = ["--name", cluster], ["--kubeconfig", str(kubeconfig)]
    made = {
        "up": ["create", "cluster", *name, "--config", str(SOURCES / "kind.yaml"), *file, "--wait", "180s"],
        "down": ["delete", "cluster", *name, *file],
        "kubeconfig": ["export", "kubeconfig", *name, *file],
        "list": ["get", "clusters"],
        "load": ["load", "image-archive", str(archive), *name],
        "logs": ["export", "logs", *name, str(kubeconfig.parent / "kind-logs")],
    }
    return made[command]


class Kind:
    """The provider for a machine with a Docker engine."""

    name = "kind"

    def __init__(self, paths: Paths, settings: Settings) -> None:
        self._paths = paths
        self._cluster = settings.name
        self._daemons = Daemons(paths.cache / "kind", paths.cache / "kind")
        self._kwok = kwok(paths.kubeconfig, settings, self._program)

    def up(self, report: Report) -> None:
        lacking = missing(NEEDED, self._paths)
        if lacking:
            preflight.check_disk(self._paths.cache, BUILD_SPACE)
            minutes = 5  # kubectl alone, without the parts it shares packages with
            report.say(announcement([], lacking, minutes, BUILD_SPACE))
        with report.step("kubernetes") as step:
            ensure(NEEDED, self._paths, step.note)
            step.note(f"kind {TOOLS['kind'].version}")
        with report.step("cluster") as step:
            if self._cluster in self._kind("list").split():
                self._kind("kubeconfig")
                step.note("running already")
            else:
                argv = [str(self._program("kind")), *arguments("up", self._cluster, self._paths.kubeconfig)]
                stream(argv, step.note, log=self._paths.log)
                step.note("node ready")
            self._have_fake_node()

    def down(self, report: Report) -> None:
        with report.step("cluster") as step:
            self._daemons.stop("kwok")
            known = [] if missing(("kind",), self._paths) else self._kind("list").split()
            if self._cluster in known:
                self._kind("down")
            step.note(f"ended: {self._cluster}, by kind" if self._cluster in known else NONE)

    def status(self) -> Status:
        if missing(NEEDED, self._paths) or self._cluster not in self._kind("list").split():
            return Status(running=False, text="no cluster: `up` makes one")
        return Status(running=True, text=f"running\n{self._kubectl('get', 'nodes')}")

    def kubeconfig(self) -> Path:
        if not self._paths.kubeconfig.exists():
            raise ClusterError("there is no kubeconfig yet: bring the cluster up first")
        return self._paths.kubeconfig

    def kubectl(self) -> Path:
        return kubectl(self._paths)

    def load(self, archive: Path) -> str:
        name = name_in(archive)
        self._kind("load", archive)
        output(["docker", "exec", f"{self._cluster}-control-plane", *TAG, name, dev_name(name)])
        return name

    def logs(self) -> str:
        self._kind("logs")
        return f"the logs lie in {self._paths.cache / 'kind-logs'}"

    def _have_fake_node(self) -> None:
        self._kubectl("apply", "--server-side", "--force-conflicts", "-f", str(SOURCES / "fake-node.yaml"))
        self._daemons.start("kwok", self._kwok.argv)
        self._daemons.ready("kwok", lambda: answers(self._kwok.health))

    def _program(self, name: str) -> Path:
        return home(TOOLS[name], self._paths) / name

    def _kubectl(self, *arguments: str) -> str:
        return output(
            [str(self._program("kubectl")), "--kubeconfig", str(self._paths.kubeconfig), *arguments]
        )

    def _kind(self, command: str, archive: Path | None = None) -> str:
        argv = arguments(command, self._cluster, self._paths.kubeconfig, archive)
        return output([str(self._program("kind")), *argv])
