# SPDX-License-Identifier: Apache-2.0
"""A program of the bench, built from its Go module; a version is built once."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hack.cluster.binaries import fingerprint
from hack.cluster.commands import stream
from hack.cluster.golang import find_go
from hack.cluster.paths import paths_from

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hack.cluster.paths import Paths

__all__ = ("GoProgram",)

_LDFLAGS = "-s -w"


@dataclass(frozen=True, slots=True)
class GoProgram:
    """A program called `name`: the `package` of the module at `source`; "." is the module's own main."""

    name: str
    version: str
    source: Path
    package: str

    def built(self, note: Callable[[str], None]) -> Path:
        """
        The program, built if this very source is not in the cache (some minutes on two cores).

        Raises:
            ClusterError: no Go can be had, or the build failed.
        """
        paths = paths_from()
        program = self._home(paths) / self.name
        if not program.is_file():
            note(f"building {self.name} {self.version}: some minutes, once")
            self._build(paths, note)
        return program

    def _home(self, paths: Paths) -> Path:
        own = self.package == "."
        files = {
            each.name: each.read_bytes()
            for each in self.source.iterdir()
            if each.name in ("go.mod", "go.sum") or (own and each.suffix == ".go")
        }
        return paths.bin / f"{self.name}-{self.version}-{fingerprint(files, self.package, _LDFLAGS)}"

    def _build(self, paths: Paths, note: Callable[[str], None]) -> None:
        """Compile beside the place and rename at the end: a build that is broken off leaves no program."""
        go, final = find_go(paths, note), self._home(paths)
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
            str(part / self.name),
            self.package,
        ]
        stream(argv, lambda row: note(f"{self.name}: {row}"), log=paths.log, cwd=self.source, env=go.env)
        shutil.rmtree(final, ignore_errors=True)
        part.rename(final)
