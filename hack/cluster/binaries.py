# SPDX-License-Identifier: Apache-2.0
"""Programs built from Go modules, kept by version: an unchanged module is built once."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hack.cluster.commands import output, stream
from hack.cluster.errors import ClusterError
from hack.cluster.golang import Go, find_go
from hack.cluster.paths import SOURCES, Paths, paths_from
from hack.cluster.progress import Progress, Whole
from hack.cluster.report import choose_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from hack.cluster.report import Step

__all__ = (
    "TOOLS",
    "Tool",
    "binary",
    "built",
    "ensure",
    "fingerprint",
    "home",
    "kubectl",
    "missing",
    "module_version",
)

STRIP = "-s -w"
COMPONENT = "k8s.io/component-base/version"
PARTS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy")


@dataclass(frozen=True)
class Tool:
    """One program: the folder of its go.mod under go/, the module that tells its version, its package."""

    name: str
    folder: str
    module: str
    package: str
    minutes: float  # cold on two cores, for what is said before the start
    parts: tuple[str, ...] = ()  # further names of a program that does what its name says

    @property
    def source(self) -> Path:
        return SOURCES / "go" / self.folder

    @property
    def version(self) -> str:
        if not self.module:
            return "v1"  # a program of our own: its fingerprint tells the rest
        return module_version((self.source / "go.mod").read_text(), self.module)

    @property
    def ldflags(self) -> str:
        if self.module != "k8s.io/kubernetes":
            return STRIP
        major, minor = self.version.lstrip("v").split(".")[:2]  # without these the version reads v0.0.0
        said = {"gitVersion": self.version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
        return " ".join([STRIP, *(f"-X {COMPONENT}.{key}={value}" for key, value in said.items())])


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("etcd", "etcd", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3", 0.5),
        Tool("kubernetes", "kubernetes", "k8s.io/kubernetes", ".", 8, PARTS),
        Tool("kubectl", "kubernetes", "k8s.io/kubernetes", "k8s.io/kubernetes/cmd/kubectl", 0.5),
        Tool("coredns", "dns", "github.com/coredns/coredns", "./coredns", 1),
        Tool("kwok", "dns", "sigs.k8s.io/kwok", "sigs.k8s.io/kwok/cmd/kwok", 1),
        Tool("pause", "pause", "", ".", 0.1),
        Tool("kind", "kind", "sigs.k8s.io/kind", "sigs.k8s.io/kind", 0.5),
        Tool("kueue", "kueue", "sigs.k8s.io/kueue", "sigs.k8s.io/kueue/cmd/kueue", 7),
    )
}


def module_version(go_mod: str, module: str) -> str:
    """The version that a go.mod requires of `module`; ClusterError where it requires none."""
    found = re.search(rf"^(?:require\s+|\s+){re.escape(module)}\s+(v\S+)", go_mod, re.MULTILINE)
    if found is None:
        raise ClusterError(f"go.mod requires no {module}: add it with `go get {module}`")
    return found.group(1)


def fingerprint(files: Mapping[str, bytes], *settings: str) -> str:
    """Eight hex digits that change with any file's name or content and with any setting."""
    digest = hashlib.sha256()
    for item in (
        *(part for name in sorted(files) for part in (name.encode(), files[name])),
        *(setting.encode() for setting in settings),
    ):
        digest.update(len(item).to_bytes(8, "big") + item)
    return digest.hexdigest()[:8]


def home(tool: Tool, paths: Paths) -> Path:
    """The folder of this very build of the tool: its name tells version and inputs."""
    sources = [tool.source / "go.mod", tool.source / "go.sum"]
    if tool.package.startswith("."):
        sources += sorted((tool.source / tool.package).glob("*.go"))
    files = {path.name: path.read_bytes() for path in sources if path.exists()}
    return paths.bin / f"{tool.name}-{tool.version}-{fingerprint(files, tool.package, tool.ldflags)}"


def built(tool: Tool, paths: Paths) -> bool:
    """Whether this version is in the cache."""
    return (home(tool, paths) / tool.name).is_file()


def missing(names: tuple[str, ...], paths: Paths) -> list[Tool]:
    """The tools that would have to be built."""
    return [TOOLS[name] for name in names if not built(TOOLS[name], paths)]


def ensure(names: tuple[str, ...], paths: Paths, note: Callable[[str], None]) -> None:
    """Build what is missing; a second process that wants the same waits for the first."""
    if not missing(names, paths):
        return
    with _locked(paths.bin):
        lacking = missing(names, paths)
        go = find_go(paths, note) if lacking else None
        whole = Whole(sum(tool.minutes for tool in lacking))
        for tool in lacking:
            if go is not None:
                _build(tool, go, paths, note, whole)
                whole.done += tool.minutes


def binary(name: str, paths: Paths | None = None, report: Step | None = None) -> Path:
    """The path of a program or of a part (`kube-apiserver`, `etcd`, `kubectl`, …), built if missing.

    `report` is the step that the building is a part of; without one it is a step of its own.
    """
    where = paths or paths_from()
    tool = next((tool for tool in TOOLS.values() if name == tool.name or name in tool.parts), None)
    if tool is None:
        raise ClusterError(f"no program is named {name!r}: there are {', '.join([*TOOLS, *PARTS])}")
    if not built(tool, where):
        with nullcontext(report) if report else choose_report().step(tool.name) as step:
            ensure((tool.name,), where, step.note)
    return home(tool, where) / name


def kubectl(paths: Paths) -> Path:
    """Kubectl at a path that people can remember, built if missing."""
    program, link = binary("kubectl", paths), paths.bin / "kubectl"
    if not link.exists() or link.resolve() != program.resolve():
        part = paths.bin / f".kubectl.{os.getpid()}"
        part.unlink(missing_ok=True)
        part.symlink_to(program.relative_to(paths.bin))  # relative: the cache may be seen at other paths
        part.rename(link)
    return link


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(tool: Tool, go: Go, paths: Paths, note: Callable[[str], None], whole: Whole) -> None:
    """Compile beside the final place and rename at the end: a build that is broken off leaves no program."""
    final = home(tool, paths)
    part = final.with_name(final.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    note(f"{tool.name} {tool.version}: fetching modules")
    progress = Progress(tool, _packages(tool, go), note, whole)
    stream(
        [str(go.program), "build", "-v", "-trimpath", "-ldflags", tool.ldflags,
         "-o", str(part / tool.name), tool.package],
        progress.line, log=paths.log, cwd=tool.source, env=go.env,
    )  # fmt: skip
    for name in tool.parts:
        (part / name).symlink_to(tool.name)
    shutil.rmtree(final, ignore_errors=True)
    part.rename(final)


def _packages(tool: Tool, go: Go) -> int:
    listed = output([str(go.program), "-C", str(tool.source), "list", "-deps", tool.package], env=go.env)
    return len(listed.splitlines())
