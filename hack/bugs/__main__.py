# SPDX-License-Identifier: Apache-2.0
"""Make each change that would bring a bug here, in a copy, and see a test of its number fail."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from hack.bugs.model import ROOT, TESTS, Bug, Change, apply, page, read_bugs

_COPIED = ("src", "test", "hack", "examples", "config", "pyproject.toml")
_SECONDS = 20  # a test that never ends has failed too
_FAILED = re.compile(r"^FAILED .*?::(.+?)(?: - (.*))?$", re.MULTILINE)


def _copy(folder: Path) -> None:
    for name in _COPIED:
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, folder / name)


def _run(folder: Path, chosen: str, seconds: int) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", str(TESTS), "-q", "-x", "-k", chosen]
    command += [f"--timeout={seconds}", "--timeout-method=signal", "-p", "no:cacheprovider", "--tb=line"]
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{folder / 'src'}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def _see(bug: Bug, change: Change) -> bool:
    """Whether a test of the bug fails with the change; says so."""
    with tempfile.TemporaryDirectory(prefix="dglop-bugs-") as name:
        folder = Path(name)
        _copy(folder)
        apply(change, folder / "src" / "dglop")
        code, output = _run(folder, f"bug_{bug.number:02}_", _SECONDS)
    failed = _FAILED.search(output)
    if code != 1 or failed is None:
        print(f"  {bug.number:>2}  NOT SEEN: {change.says}\n{output[-1500:]}", flush=True)
        return False
    why = (failed[2] or "")[:80]
    print(f"  {bug.number:>2}  {change.says}: {failed[1]}: {why}", flush=True)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bugs", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, help="only these; all by default")
    parser.add_argument("--page", action="store_true", help="only write docs/bugs.md")
    arguments = parser.parse_args()
    bugs = [bug for bug in read_bugs() if not arguments.numbers or bug.number in arguments.numbers]
    if not arguments.page:
        code, output = _run(ROOT, " or ".join(f"bug_{bug.number:02}_" for bug in bugs), 120)
        if code:
            print(f"the tests fail without any change:\n{output[-3000:]}")
            return 1
        seen = [_see(bug, change) for bug in bugs for change in bug.changes]
        print(f"{sum(seen)} of {len(seen)} changes were seen by a test of their bug")
        if not all(seen):
            return 1
    (ROOT / "docs" / "bugs.md").write_text(page(read_bugs()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
