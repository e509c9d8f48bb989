# SPDX-License-Identifier: Apache-2.0
"""The peers as programs: the reference operator built from its Go module, and environments for the others."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from hack.bench.errors import BenchError
from hack.bench.gobuild import GoProgram
from hack.cluster.binaries import module_version
from hack.cluster.commands import stream
from hack.cluster.paths import paths_from

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("kopf_python", "kopf_version", "own_python", "reference_program", "reference_version")

_SOURCE = Path(__file__).resolve().parents[1] / "go" / "controller-runtime"
_ROOT = Path(__file__).resolve().parents[3]


def reference_version() -> str:
    return module_version((_SOURCE / "go.mod").read_text(), "sigs.k8s.io/controller-runtime")


def reference_program(note: Callable[[str], None]) -> Path:
    """The reference operator, built if it is not in the cache. Raises ClusterError."""
    return GoProgram("controller-runtime-bench", reference_version(), _SOURCE, ".").built(note)


def kopf_version() -> str:
    """The version that the lock file has."""
    packages = tomllib.loads((_ROOT / "uv.lock").read_text())["package"]
    return next(str(each["version"]) for each in packages if each["name"] == "kopf")


def kopf_python(folder: Path, note: Callable[[str], None]) -> Path:
    """The Python of an environment with kopf alone, as locked. Raises BenchError, ClusterError."""
    note("an environment for kopf")
    return _python(folder / "kopf", "--only-group", "kopf", "--no-install-project")


def own_python(folder: Path, note: Callable[[str], None]) -> Path:
    """The Python of an environment as a user has it, without what only development needs. Raises as above."""
    note("an environment for dglop")
    return _python(folder / "dglop", "--no-default-groups")


def _python(home: Path, *options: str) -> Path:
    paths = paths_from()
    uv = shutil.which("uv", path=f"{os.environ.get('PATH', '')}{os.pathsep}{paths.cache / 'tools/bin'}")
    if uv is None:
        raise BenchError("uv is missing, which makes the environments of the bench: `make setup` installs it")
    argv = [uv, "sync", "--frozen", "--compile-bytecode", *options, "--python", sys.executable]
    stream(argv, lambda _row: None, log=paths.log, cwd=_ROOT, env={"UV_PROJECT_ENVIRONMENT": str(home)})
    return home / "bin" / "python"
