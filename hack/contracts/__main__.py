# SPDX-License-Identifier: Apache-2.0
"""Run the contracts with the official client against every version in the range, and the next beyond."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.version import Version

from hack.contracts.versions import CLIENT, chosen, pinned, released

_ROOT = Path(__file__).resolve().parents[2]
_CONTRACTS = ("test/unit/contract",)
_OURS = ("test/unit/runtime/client", "test/unit/runtime/api")
_COUNT = re.compile(r"^.*\b(?:passed|failed|error|errors)\b.* in [0-9.]+s.*$", re.MULTILINE)


def _uv(*arguments: str) -> str:
    command = [os.environ.get("UV", "uv"), *arguments]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"`{' '.join(command)}` failed:\n{done.stderr.strip()}")
    return done.stdout


def _environment(folder: Path, version: Version) -> Path:
    """A virtual environment with the locked packages, but this version of the client; its Python."""
    python, locked = folder / "venv" / "bin" / "python", folder / "locked.txt"
    _uv("venv", "--quiet", "--python", sys.executable, str(folder / "venv"))
    _uv(
        "export",
        "--quiet",
        "--frozen",
        "--all-extras",
        "--group=dev",
        "--no-hashes",
        f"--output-file={locked}",
    )
    # First the locked packages, this project too, then the client with what it wants in their place.
    _uv("pip", "install", "--quiet", f"--python={python}", "-r", str(locked))
    _uv("pip", "install", "--quiet", f"--python={python}", f"{CLIENT}=={version}")
    return python


def _pytest(python: Path, *paths: str) -> tuple[int, str]:
    command = [str(python), "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", *paths]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "400"}
    done = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def _try(version: Version) -> bool:
    """Whether all holds with this version; says what does not."""
    with tempfile.TemporaryDirectory(prefix="dglop-contracts-") as folder:
        python = _environment(Path(folder), version)
        code, said = _pytest(python, *_CONTRACTS)
        print(f"{CLIENT} {version}: contracts: {_counted(said)}", flush=True)
        for line in dict.fromkeys(re.findall(rf"^(?:E\s+)?({CLIENT} \S+: .*)$", said, re.MULTILINE)):
            print(f"  {line}", flush=True)
        ours, said = _pytest(python, *_OURS)
        print(f"{CLIENT} {version}: our client's own tests: {_counted(said)}", flush=True)
        for line in re.findall(r"^(?:FAILED|ERROR) .*$", said, re.MULTILINE):
            print(f"  {line[:200]}", flush=True)
        return not code and not ours


def _counted(said: str) -> str:
    found = _COUNT.findall(said)
    return found[-1].strip("= ") if found else f"did not run:\n{said[-2000:]}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make contracts", description=__doc__)
    parser.add_argument("versions", nargs="*", type=Version, help="try these instead")
    versions: list[Version] = parser.parse_args().versions
    beyond = None
    if not versions:
        said = _uv("tool", "run", "--quiet", "pip", "index", "versions", CLIENT)
        versions, beyond = chosen(released(said), pinned())
        print(f"released in {pinned()}: {', '.join(map(str, versions)) or 'nothing'}; ", end="")
        print(f"the next beyond: {beyond or 'none yet'}", flush=True)
    failed = [each for each in versions if not _try(each)]
    if beyond is not None:
        print(f"{beyond} is beyond the range, so what it breaks is news and no failure:", flush=True)
        _try(beyond)
    if failed:
        print(f"does not hold with {', '.join(map(str, failed))}; CONTRIBUTING.md says how to go on")
    return 1 if failed or not versions else 0


if __name__ == "__main__":
    sys.exit(main())
