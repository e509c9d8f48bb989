# SPDX-License-Identifier: Apache-2.0
"""A second cluster, in a network namespace of its own: killed it comes back, ended it is gone."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hack.cluster.host import cgroup_tree, hierarchies, mounts_below
from hack.cluster.paths import cache_dir
from hack.cluster.process import parse_stat, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.needs_local

NAME = "dgloptest"
OLD = "old"
CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "disk"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "waits"},
    "spec": {
        "containers": [{"name": "main", "image": "dglop.local/pause:1", "imagePullPolicy": "Never"}],
        "volumes": [
            {"name": "memory", "emptyDir": {"medium": "Memory"}},
            {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}},
        ],
    },
}


class Second:
    """The commands of a user who has a cluster in `cache`, inside a network namespace."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self._env = {**os.environ, "DGLOP_CACHE": str(cache), "DGLOP_NAME": NAME, "DGLOP_PROVIDER": "local"}

    def make(self) -> None:
        """A network namespace, and a cache that has the programs already."""
        self.cache.mkdir()
        (self.cache / "bin").symlink_to(cache_dir() / "bin")
        subprocess.run(["ip", "netns", "add", NAME], check=True)
        subprocess.run(["ip", "-n", NAME, "link", "set", "lo", "up"], check=True)

    def remove(self) -> None:
        """Leave nothing of it, also where a run was killed at any moment, or goes on as an orphan.

        What is in the network namespace belongs to it: its parts, their shims, and a command that nobody
        waits for any more. All else, such as the processes of pods, `down` knows how to find.
        """
        if NAME in _output("ip", "netns", "list").split():
            wait_for("the end of what an earlier run left", lambda: not _kill_all_in_namespace(), 30)
        else:
            subprocess.run(["ip", "netns", "add", NAME], check=True)
        self.cluster("down")
        subprocess.run(["ip", "netns", "delete", NAME], check=True)
        if self.cache.exists():
            shutil.rmtree(self.cache)

    def run(self, *argv: str, stdin: str = "") -> str:
        inside = ["nsenter", f"--net=/run/netns/{NAME}", *argv]
        ended = subprocess.run(
            inside, env=self._env, input=stdin, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def cluster(self, command: str) -> str:
        return self.run(sys.executable, "-m", "hack.cluster", command)

    def kubectl(self, *argv: str, stdin: str = "") -> str:
        kubectl = str(self.cache / "bin" / "kubectl")
        return self.run(kubectl, "--kubeconfig", str(self.cache / "kubeconfig"), *argv, stdin=stdin)

    def run_pod(self) -> None:
        for manifest in (CLAIM, POD):
            self.kubectl("apply", "-f", "-", stdin=json.dumps(manifest))
        self.kubectl("wait", "--for=condition=Ready", "pod/waits", "--timeout=60s")

    def pids(self) -> list[int]:
        return [json.loads(path.read_text())["pid"] for path in (self.cache / "cluster/pids").glob("*.json")]

    def leftovers(self) -> list[str]:
        """Mounts, cgroups, pods' network namespaces, interfaces and rules that the cluster has made."""
        return [*self.outside(), *self.links(), *self.run("nft", "list", "tables").splitlines()]

    def links(self) -> list[str]:
        links = json.loads(self.run("ip", "-json", "link"))
        return [link["ifname"] for link in links if link["ifname"] != "lo"]

    def namespaces(self) -> list[str]:
        """The network namespaces of pods: each is kept by a mount."""
        return [mount for mount in self.outside() if "/netns/" in mount]

    def of_pods(self) -> set[str]:
        """What bears the names of pods, so that no other pod has the same: mounts, cgroups and interfaces."""
        own = [
            path for path in self.outside() if re.search(r"[0-9a-f]{8}[-_]?[0-9a-f]{4}[-_]?[0-9a-f]{4}", path)
        ]
        return {*own, *(link for link in self.links() if link.startswith("veth"))}

    def mark(self) -> list[str]:
        """Put into every table of rules one more chain, by which an old table is known."""
        tables = [line.split()[1:] for line in self.run("nft", "list", "tables").splitlines()]
        for table in tables:
            self.run("nft", "add", "chain", *table, OLD)
        return [" ".join(table) for table in tables]

    def outside(self) -> list[str]:
        """Mounts, those of pods' network namespaces among them, and cgroups: what outlives our namespace."""
        mounts = mounts_below(Path("/proc/self/mountinfo").read_text(), str(self.cache))
        return [*mounts, *(str(path) for top in hierarchies() for path in cgroup_tree(top / NAME))]


def _output(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def _kill_all_in_namespace() -> int:
    """Kill what is in the network namespace; how many processes there were."""
    pids = [int(pid) for pid in _output("ip", "netns", "pids", NAME).split()]
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(pids)


def _is_gone(pid: int) -> bool:
    """Whether it is gone, or dead and not yet buried by its parent."""
    try:
        return parse_stat(Path(f"/proc/{pid}/stat").read_text())[0] in "ZX"
    except OSError:
        return True


@pytest.fixture
def second() -> Iterator[Second]:
    """Always in the same place, so that a run finds what one that was killed has left."""
    made = Second(cache_dir() / NAME)
    made.remove()
    made.make()
    try:
        yield made
    finally:
        made.cluster("down")
        made.remove()


def test_a_cluster_that_was_killed_without_warning_comes_back_clean(second: Second) -> None:
    second.cluster("up")
    second.run_pod()
    assert second.namespaces()
    old, tables = second.of_pods(), second.mark()
    assert {f"ip {NAME}", "ip kube-proxy"} <= set(tables)
    for pid in second.pids():
        os.kill(pid, signal.SIGKILL)
    assert old <= second.of_pods(), "nothing is left that `up` has to take away"
    second.cluster("up")
    assert second.kubectl("get", "pods", "-o", "name") == ""
    assert not old & second.of_pods()
    assert OLD not in second.run("nft", "list", "ruleset")
    second.run_pod()


def test_a_part_that_was_killed_comes_back_and_pods_stay(second: Second) -> None:
    second.cluster("up")
    second.run_pod()
    life = "jsonpath={.metadata.uid} {.status.containerStatuses[0].containerID}"
    before = second.kubectl("get", "pod", "waits", "-o", life)
    for name in ("kubelet", "kube-apiserver"):
        os.kill(json.loads((second.cache / f"cluster/pids/{name}.json").read_text())["pid"], signal.SIGKILL)
    second.cluster("up")
    assert second.kubectl("get", "pod", "waits", "-o", life) == before
    pids = sorted(second.pids())
    second.cluster("up")
    assert sorted(second.pids()) == pids


def test_a_cluster_that_was_ended_leaves_nothing_behind(second: Second) -> None:
    second.cluster("up")
    second.run_pod()
    assert second.namespaces()
    pids = second.pids()
    said = second.cluster("down")
    assert f"ended: {len(pids)} processes, " in said, said
    assert second.leftovers() == []
    assert "none was running" in second.cluster("down")
    assert all(map(_is_gone, pids))


def test_what_a_run_that_was_killed_leaves_is_put_in_order_by_the_next_one(second: Second) -> None:
    second.cluster("up")
    second.run_pod()
    pids = second.pids()
    assert second.namespaces()
    Second(second.cache).remove()
    assert all(map(_is_gone, pids))
    assert second.outside() == []
    assert not second.cache.exists()
    second.make()
    second.cluster("up")
