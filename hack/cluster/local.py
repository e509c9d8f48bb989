# SPDX-License-Identifier: Apache-2.0
"""A whole cluster of processes on this machine: real control plane, real node, and a fake node for scale."""

from __future__ import annotations

import fcntl
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hack.cluster import preflight
from hack.cluster.binaries import TOOLS, ensure, kubectl, missing
from hack.cluster.bringup import Bringup
from hack.cluster.commands import system_path
from hack.cluster.errors import ClusterError
from hack.cluster.packages import install_packages, missing_packages
from hack.cluster.paths import short
from hack.cluster.settings import read
from hack.cluster.status import NONE, Status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hack.cluster.binaries import Tool
    from hack.cluster.paths import Paths
    from hack.cluster.report import Report, Step
    from hack.cluster.settings import Settings

__all__ = ("Local", "announcement")

NEEDED = ("etcd", "kubernetes", "kubectl", "coredns", "kwok", "pause")
GIB = 2**30
BUILD_SPACE = 13 * GIB  # modules and compiled packages 6, programs 0.5, images 3.3, and once more unpacked 3
RUN_SPACE = 2 * GIB


class Local:
    """The provider for a Linux machine where we are root."""

    name = "local"

    def __init__(self, paths: Paths, settings: Settings) -> None:
        self._paths = paths
        self._settings = settings

    def up(self, report: Report) -> None:
        preflight.this_machine()
        with self._alone():
            self._provide(report)
            with report.step("cluster") as step:
                self._start(step)

    def down(self, report: Report) -> None:
        with report.step("cluster") as step:
            if not self._paths.cluster.exists():
                step.note(NONE)
                return
            preflight.this_machine()
            step.note("ending pods and processes")
            with self._alone():
                ended = self._bringup().down()
            step.note(ended.text)
        if ended.is_something:
            report.say(f"  images and programs stay in {short(self._paths.cache)}")

    def status(self) -> Status:
        if missing(NEEDED, self._paths) or not self._paths.cluster.exists():
            return Status(running=False, text="no cluster: `up` makes one")
        bringup = self._bringup()
        alive, dead = bringup.alive()
        if dead:
            text = f"not running: {', '.join(dead)}" if alive else "no cluster runs: `up` starts it"
            return Status(running=False, text=text)
        return Status(running=True, text=f"running\n{bringup.nodes()}")

    def kubeconfig(self) -> Path:
        if not self._paths.kubeconfig.exists():
            raise ClusterError("there is no kubeconfig yet: bring the cluster up first")
        return self._paths.kubeconfig

    def kubectl(self) -> Path:
        return kubectl(self._paths)

    def load(self, archive: Path) -> str:
        if not self.status().running:
            raise ClusterError("no cluster runs that could take an image: bring it up first")
        return self._bringup().containerd.load(archive)

    def logs(self) -> str:
        return self._bringup().logs()

    def _provide(self, report: Report) -> None:
        """Have every program; say before what that will take."""
        preflight.check_length(self._paths.containerd_socket)
        packages, tools = missing_packages(), missing(NEEDED, self._paths)
        preflight.check_disk(self._paths.cache, BUILD_SPACE if tools else RUN_SPACE)
        if packages or tools:
            minutes = sum(tool.minutes for tool in tools)
            report.say(announcement(packages, tools, minutes, BUILD_SPACE))
            report.say(f"  log: {self._paths.log}")
        with report.step("tools") as step:
            install_packages(self._paths.log, step.note)
            step.note("containerd, runc, cni")
        with report.step("kubernetes") as step:
            ensure(NEEDED, self._paths, step.note)
            step.note(f"{TOOLS['kubernetes'].version}, built once, in {short(self._paths.cache)}")

    def _start(self, step: Step) -> None:
        earlier = self._bringup()
        if earlier.alive()[0]:  # it stays as it was begun, whatever the environment says now
            earlier.up(step.note)
            if earlier.settings != self._settings:
                step.note("running already, by other settings (down, up)")
            return
        step.note("clearing what an earlier cluster left")
        earlier.clear()
        self._bringup().up(step.note)

    def _bringup(self) -> Bringup:
        """By the settings of the cluster that is or was there, else by those of the environment."""
        there = self._paths.settings
        settings = (read(there.read_text()) if there.exists() else None) or self._settings
        containerd = shutil.which("containerd", path=system_path())
        if containerd is None:
            raise ClusterError("containerd is not installed: `up` installs it")
        return Bringup(self._paths, settings, containerd)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Two that bring the cluster up at once would be in each other's way: the second waits."""
        self._paths.cache.mkdir(parents=True, exist_ok=True)
        with (self._paths.cache / "cluster.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def announcement(packages: list[str], tools: list[Tool], minutes: float, space: int) -> str:
    """What will be installed and built, what that takes on two cores, and of the disk with the images."""
    rows = []
    if packages:
        rows.append(f"  to install (Debian): {' '.join(packages)}")
    if tools:
        rows.append(f"  to build, once, from Go modules: {', '.join(f'{t.name} {t.version}' for t in tools)}")
    about = max(1, round(minutes + len(packages) * 0.05))
    # A cold build was seen to take anything between the two, by what else the machine had to do.
    rows.append(f"  {about} to {2 * about} min on two cores; later starts take seconds")
    if tools:
        rows.append(f"  disk: {space // GIB} GiB with the images")
    return "\n".join(rows)
