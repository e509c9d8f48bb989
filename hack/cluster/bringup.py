# SPDX-License-Identifier: Apache-2.0
"""Start, repair and stop the processes of the local cluster, in order."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from hack.cluster import pki
from hack.cluster.binaries import TOOLS, home, kubectl
from hack.cluster.commands import output
from hack.cluster.config import config_files
from hack.cluster.containerd import Containerd
from hack.cluster.errors import ClusterError
from hack.cluster.health import answers
from hack.cluster.host import prepare_host, release_host
from hack.cluster.image import PAUSE_IMAGE, archive
from hack.cluster.packages import cni_folder
from hack.cluster.parts import CONTROL_PLANE, NODE_PARTS, Part, parts
from hack.cluster.paths import SOURCES
from hack.cluster.preflight import check_networks, check_ports
from hack.cluster.process import Daemons, wait_for
from hack.cluster.settings import FAKE_NODE, NODE, PORTS_OF, written
from hack.cluster.status import Ended

if TYPE_CHECKING:
    from collections.abc import Callable

    from hack.cluster.paths import Paths
    from hack.cluster.settings import Settings

__all__ = ("Bringup", "ready_nodes")

ORDER = (*CONTROL_PLANE, *NODE_PARTS)
RESOLV = Path("/etc/resolv.conf")
KEPT = frozenset({"pki"})  # so that a kubeconfig in somebody's hands stays good


def ready_nodes(listed: str) -> set[str]:
    """The names of the ready nodes in what `kubectl get nodes -o json` prints."""
    return {
        node["metadata"]["name"]
        for node in json.loads(listed)["items"]
        for condition in node.get("status", {}).get("conditions", [])
        if condition["type"] == "Ready" and condition["status"] == "True"
    }


class Bringup:
    """The running cluster and its leftovers, under one folder."""

    def __init__(self, paths: Paths, settings: Settings, containerd: str) -> None:
        self._paths = paths
        self.settings = settings
        self._daemons = Daemons(paths.pids, paths.logs)
        self._parts = parts(paths, settings, self.program, containerd)
        self.containerd = Containerd(paths.containerd_socket, paths.cache / "loaded.json")

    def alive(self) -> tuple[list[str], list[str]]:
        """The parts that run and those that do not."""
        running = [name for name in ORDER if self._daemons.alive(name)]
        return running, [name for name in ORDER if name not in running]

    def up(self, note: Callable[[str], None]) -> None:
        """Start what does not run; where nothing runs, `clear` is to be called before."""
        running, dead = self.alive()
        if dead:
            held = frozenset(port for name in running for port in PORTS_OF.get(name, ()))
            check_ports(self.settings.ports, held)
            check_networks(self.settings)
            if not running:  # those that run have read the old ones
                pki.ensure_pki(self._paths.pki, self.settings, pki.now_utc())
            self._write_files()
            self._paths.settings.write_text(written(self.settings))
        prepare_host(self.settings)
        if dead:
            self._start_all(note)
        note("waiting for the nodes")
        wait_for(f"the nodes {NODE} and {FAKE_NODE} to be ready, see the logs", self._nodes_ready, 90)
        wait_for("the default service account, see the logs", self._service_account, 60)
        note(f"nodes {NODE} and {FAKE_NODE} ready" if dead else self._already())

    def down(self) -> Ended:
        """Stop every part in reverse order, and remove pods, mounts, rules, bridge and state."""
        processes, containers = len(self.alive()[0]), 0
        was_there = any(path.name not in KEPT for path in self._paths.cluster.glob("*"))
        for name in ("kubelet", "provisioner", "kwok", "coredns", "kube-proxy"):
            self._daemons.stop(name)
        if self._daemons.alive("containerd") and self.containerd.ready():
            containers = self.containerd.clear()
        for name in ("containerd", *reversed(CONTROL_PLANE)):
            self._daemons.stop(name)
        self.clear()
        self._paths.kubeconfig.unlink(missing_ok=True)
        return Ended(processes, containers, was_there)

    def nodes(self) -> str:
        """The nodes as kubectl shows them."""
        return self.kubectl("get", "nodes")

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Run kubectl as the cluster's administrator."""
        program = str(self.program("kubectl"))
        return output([program, "--kubeconfig", str(self._paths.kubeconfig), *arguments], stdin=stdin)

    def logs(self) -> str:
        """The last lines of every part."""
        return "\n".join(f"{name}\n{self._daemons.tail(name)}" for name in ORDER)

    def program(self, name: str) -> Path:
        """The file of a built program or of a part of one."""
        tool = next(tool for tool in TOOLS.values() if name == tool.name or name in tool.parts)
        return home(tool, self._paths) / name

    def clear(self) -> None:
        """Remove what is left of a cluster that does not run: processes of pods, mounts, rules, state."""
        release_host(self._paths, self.settings)
        for path in self._paths.cluster.glob("*"):
            if path.name not in KEPT:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _write_files(self) -> None:
        paths = self._paths
        plugins = cni_folder()
        if plugins is None:
            raise ClusterError("the CNI plugins are not installed: `up` installs them")
        resolv = RESOLV.read_text(errors="replace") if RESOLV.exists() else ""
        for name, text in config_files(paths, self.settings, plugins, resolv).items():
            target = paths.config / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        for client in pki.CLIENTS:
            target = paths.kubeconfig if client == "admin" else paths.config / f"{client}.kubeconfig"
            files = [(paths.pki / name).read_bytes() for name in ("ca.crt", f"{client}.crt", f"{client}.key")]
            target.touch(mode=0o600)
            target.write_text(pki.kubeconfig(self.settings.server, *files))
        for folder in (paths.etcd, paths.volumes, paths.containerd_state, paths.kubelet):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        kubectl(paths)

    def _start_all(self, note: Callable[[str], None]) -> None:
        is_running = self._daemons.alive("containerd") is not None
        for name in ("etcd", "kube-apiserver", "containerd"):
            self._start(name)
        note("starting containerd")
        self._prepare_containerd(is_running=is_running)
        note("starting the API server")
        self._ready("kube-apiserver")
        for name in ("addons.yaml", "fake-node.yaml"):
            self.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(SOURCES / name))
        rest = [name for name in ORDER if not self._daemons.alive(name)]
        for name in rest:
            self._start(name)
        for name in rest:
            note(f"starting {name}")
            self._ready(name)

    def _start(self, name: str) -> None:
        self._daemons.start(name, self._parts[name].argv, dict(self._parts[name].env))

    def _ready(self, name: str) -> None:
        part: Part = self._parts[name]
        self._daemons.ready(name, lambda: not part.health or answers(part.health))

    def _prepare_containerd(self, *, is_running: bool) -> None:
        """Have it run without containers of an earlier cluster, and with the pause image.

        One that was running keeps its containers: a kubelet that alone was killed takes them over again.
        """
        self._daemons.ready("containerd", self.containerd.ready)
        if not is_running and self._daemons.alive("kubelet") is None and self.containerd.clear():
            self._daemons.stop("containerd")  # it read at its start what has just been removed
            self._start("containerd")
            self._daemons.ready("containerd", self.containerd.ready)
        if PAUSE_IMAGE not in self.containerd.images():
            packed = self._paths.cluster / "pause.tar"
            archive(self.program("pause").read_bytes(), packed)
            self.containerd.load(packed)

    def _already(self) -> str:
        started = {daemon.name: tuple(daemon.argv) for daemon in self._daemons.known()}
        same = all(started.get(name) == part.argv for name, part in self._parts.items())
        return "running already" if same else "running already, by older settings (down, up)"

    def _nodes_ready(self) -> bool:
        try:
            return {NODE, FAKE_NODE} <= ready_nodes(self.kubectl("get", "nodes", "-o", "json"))
        except ClusterError:
            return False  # an API server that has just been started again

    def _service_account(self) -> bool:
        return "default" in self.kubectl("get", "serviceaccounts", "-n", "default", "-o", "name")
