# SPDX-License-Identifier: Apache-2.0
"""Wheels for the images' Python, fetched on the host so that nothing is fetched while an image is built."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from typing import TYPE_CHECKING

from hack.cluster.commands import output, stream
from hack.images.inputs import digest_text
from hack.images.model import ROOT, ImageError
from hack.images.tools import bound, quiet

if TYPE_CHECKING:
    from pathlib import Path

__all__ = (
    "EXTRAS",
    "PYTHON",
    "fetch_wheels",
    "locked_requirements",
    "pip_version",
    "platforms",
    "project_wheel",
)

PYTHON = "3.11"
EXTRAS = ("tls",)
"""What the operator can do with an extra it can do in its image, where nothing can be added."""
OLDEST_GLIBC, NEWEST_GLIBC = 5, 36  # 2.36 is Debian 12's


def platforms(machine: str) -> list[str]:
    """The wheel platforms that run on Debian 12, best first."""
    if machine not in ("x86_64", "aarch64"):
        raise ImageError(f"there are no wheels for {machine}: build on x86_64")
    named = ["manylinux2014", "manylinux2010", "manylinux1"]
    numbered = [f"manylinux_2_{minor}" for minor in range(NEWEST_GLIBC, OLDEST_GLIBC - 1, -1)]
    return [f"{name}_{machine}" for name in (*numbered, *named)]


def pip_version(text: str) -> str:
    """The version that pip.txt pins."""
    match = re.search(r"^pip==(\S+)", text, re.MULTILINE)
    if match is None:
        raise ImageError("images/pip.txt must pin pip as `pip==VERSION` with its hash")
    return match[1]


def locked_requirements(uv: str) -> str:
    """The operator's dependencies as uv.lock has them, with hashes."""
    argv = [uv, "export", "--frozen", "--quiet", "--no-dev", "--no-emit-project"]
    for extra in EXTRAS:
        argv += ["--extra", extra]
    return output([*argv, "--no-header", "--no-annotate", "--project", str(ROOT)])


def fetch_wheels(uv: str, requirements: str, kept: Path, log: Path) -> tuple[Path, str]:
    """
    A folder with a wheel for each of `requirements` and for pip, and the folder's digest.

    Folders are kept under `kept` by their digest; one that is there is whole.
    """
    pip = (ROOT / "images" / "pip.txt").read_text()
    machine = platform.machine()
    key = digest_text(requirements, pip, PYTHON, machine)
    folder = kept / key
    if folder.is_dir():
        return folder, key
    half = kept / f"{key}.part"
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    (half / "requirements.txt").write_text(requirements)
    (half / "pip.txt").write_text(pip)
    lists = ["-r", str(half / "requirements.txt"), "-r", str(half / "pip.txt")]
    argv = [*_pip(uv, pip_version(pip)), *_download(machine), *lists, "--dest", str(half)]
    stream(bound(argv), quiet, log=log)
    half.rename(folder)
    return folder, key


def _pip(uv: str, version: str) -> list[str]:
    """The command that runs this very pip with our Python."""
    return [uv, "tool", "run", "--quiet", "--python", sys.executable, "--from", f"pip=={version}", "pip"]


def _download(machine: str) -> list[str]:
    """What pip is told so that it fetches wheels for the images' Python, not for ours."""
    argv = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    abis = [part for abi in ("cp311", "abi3", "none") for part in ("--abi", abi)]
    wanted = [f"--platform={name}" for name in (*platforms(machine), "any")]
    return [*argv, "--implementation", "cp", *abis, "--python-version", PYTHON, *wanted]


def project_wheel(uv: str, folder: Path, log: Path) -> Path:
    """The project's own wheel, built into `folder`."""
    env = {**os.environ, "SOURCE_DATE_EPOCH": "315532800"}  # the same wheel from the same sources
    argv = [
        uv,
        "build",
        "--quiet",
        "--wheel",
        "--python",
        sys.executable,
        "--out-dir",
        str(folder),
        str(ROOT),
    ]
    stream(bound(argv), quiet, log=log, env=env)
    (folder / ".gitignore").unlink(missing_ok=True)
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise ImageError(
            f"`uv build` left {len(wheels)} wheels in {folder} where one was expected: see {log}"
        )
    return wheels[0]
