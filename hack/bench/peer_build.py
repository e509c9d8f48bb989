# SPDX-License-Identifier: Apache-2.0
"""training-operator, built from its Go module; a version is built once."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hack.cluster.binaries import fingerprint, module_version
from hack.cluster.commands import output, stream
from hack.cluster.golang import find_go
from hack.cluster.paths import paths_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from hack.cluster.golang import Go
    from hack.cluster.paths import Paths

__all__ = ("MODULE", "PeerBuild", "peer_build", "peer_version")

MODULE = "github.com/kubeflow/training-operator"
_PACKAGE = f"{MODULE}/cmd/training-operator.v1"
_SOURCE = Path(__file__).resolve().parent / "go" / "training-operator"
_LDFLAGS = "-s -w"
_NAME = "training-operator"


@dataclass(frozen=True, slots=True)
class PeerBuild:
    """The program, its version, and the folder of its manifests in the module cache."""

    program: Path
    version: str
    manifests: Path


def peer_version() -> str:
    return module_version((_SOURCE / "go.mod").read_text(), MODULE)


def peer_build(note: Callable[[str], None]) -> PeerBuild:
    """
    The peer, built if this version is not in the cache (some minutes on two cores).

    Raises:
        ClusterError: no Go can be had, or the build failed.
    """
    paths = paths_from()
    go = find_go(paths, note)
    program = _home(paths) / _NAME
    if not program.is_file():
        note(f"building {_NAME} {peer_version()}: some minutes, once")
        _build(go, paths, note)
    # The version is the one that go.mod requires, so this reads the cache, or fills it after a clean.
    told = json.loads(
        output([str(go.program), "-C", str(_SOURCE), "mod", "download", "-json", MODULE], env=go.env)
    )
    return PeerBuild(program, peer_version(), Path(told["Dir"]) / "manifests" / "base")


def _home(paths: Paths) -> Path:
    files = {name: (_SOURCE / name).read_bytes() for name in ("go.mod", "go.sum")}
    return paths.bin / f"{_NAME}-{peer_version()}-{fingerprint(files, _PACKAGE, _LDFLAGS)}"


def _build(go: Go, paths: Paths, note: Callable[[str], None]) -> None:
    """Compile beside the final place and rename at the end: a build that is broken off leaves no program."""
    final = _home(paths)
    part = final.with_name(f"{final.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    argv = [
        str(go.program),
        "build",
        "-v",
        "-trimpath",
        "-ldflags",
        _LDFLAGS,
        "-o",
        str(part / _NAME),
        _PACKAGE,
    ]
    stream(argv, lambda row: note(f"{_NAME}: {row}"), log=paths.log, cwd=_SOURCE, env=go.env)
    shutil.rmtree(final, ignore_errors=True)
    part.rename(final)
