# SPDX-License-Identifier: Apache-2.0
"""training-operator, built from its Go module; a version is built once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hack.bench.gobuild import GoProgram
from hack.cluster.binaries import module_version
from hack.cluster.commands import output
from hack.cluster.golang import find_go
from hack.cluster.paths import paths_from

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("MODULE", "PeerBuild", "peer_build", "peer_version")

MODULE = "github.com/kubeflow/training-operator"
_PACKAGE = f"{MODULE}/cmd/training-operator.v1"
_SOURCE = Path(__file__).resolve().parent / "go" / "training-operator"
_NAME = "training-operator"


@dataclass(frozen=True, slots=True)
class PeerBuild:
    """Its own program, the one without limits, the version, and its manifests in the module cache."""

    program: Path
    lifted: Path
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
    program = GoProgram(_NAME, peer_version(), _SOURCE, _PACKAGE).built(note)
    lifted = GoProgram(f"{_NAME}-lifted", peer_version(), _SOURCE, ".").built(note)
    go = find_go(paths, note)
    # The version is the one that go.mod requires, so this reads the cache, or fills it after a clean.
    told = json.loads(
        output([str(go.program), "-C", str(_SOURCE), "mod", "download", "-json", MODULE], env=go.env)
    )
    return PeerBuild(program, lifted, peer_version(), Path(told["Dir"]) / "manifests" / "base")
