# SPDX-License-Identifier: Apache-2.0
"""Programs that building needs: found, or installed where that is ours to do."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from hack.cluster.commands import stream, system_path
from hack.images.model import ImageError, megabytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ("BUILDERS", "bound", "find_uv", "install_builders", "quiet", "require_space")

# program and the Debian package that has it
BUILDERS = {"buildah": "buildah", "mmdebstrap": "mmdebstrap", "zstd": "zstd"}
NEEDED_BYTES = 6_000_000_000


def quiet(_row: str) -> None:
    """Nothing: the log has it."""


def find_uv(cache: Path) -> str:
    """The uv on PATH, else the one that `make` keeps in the cache."""
    kept = cache / "tools" / "bin" / "uv"
    found = shutil.which("uv") or (str(kept) if kept.exists() else None)
    if found is None:
        raise ImageError("uv is not installed: run `make setup` once, which fetches it")
    return found


def bound(argv: Sequence[str]) -> list[str]:
    """The command, ended when this process is: a build that goes on alone would meet the next one."""
    setpriv = shutil.which("setpriv", path=system_path())
    return [setpriv, "--pdeathsig", "TERM", "--", *argv] if setpriv else list(argv)


def require_space(folder: Path) -> None:
    """ImageError where the disk has not enough left for both images and their layers."""
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < NEEDED_BYTES:
        raise ImageError(
            f"{megabytes(free)} are free under {folder} and building images takes {megabytes(NEEDED_BYTES)}: "
            "make room, or name another folder by DGLOP_CACHE"
        )


def install_builders(log: Path, note: Callable[[str], None]) -> None:
    """Have buildah and mmdebstrap; ImageError where that is not ours to do."""
    if not sys.platform.startswith("linux"):
        raise ImageError(
            "no Docker engine answers, and images are built without one only on Linux: start Docker"
        )
    if os.geteuid() != 0:
        raise ImageError("no Docker engine answers, and building images without one takes root: use sudo")
    lacking = [BUILDERS[name] for name in BUILDERS if shutil.which(name, path=system_path()) is None]
    if not lacking:
        return
    if shutil.which("apt-get", path=system_path()) is None:
        raise ImageError(
            "no Docker engine answers, and images are built without one from Debian packages, by apt: "
            f"start Docker, or build on Debian with {' '.join(lacking)}"
        )
    note(f"installing {' '.join(lacking)}")
    apt = ["apt-get", "-o", "DPkg::Lock::Timeout=600", "-qq"]
    env = {"DEBIAN_FRONTEND": "noninteractive"}
    stream([*apt, "update"], quiet, log=log, env=env)
    stream([*apt, "install", "-y", "--no-install-recommends", *lacking], quiet, log=log, env=env)
