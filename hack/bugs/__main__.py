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

from hack.bugs.model import LISTS, ROOT, Bug, BugList, Change, apply, page, read_bugs

_COPIED = ("src", "test", "hack", "examples", "config", "pyproject.toml")
_SECONDS = 120  # a test that never ends has failed too; without any change all end in far less
_FAILED = re.compile(r"^FAILED .*?::(.+?)(?: - (.*))?$", re.MULTILINE)


def _copy(folder: Path) -> None:
    for name in _COPIED:
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, folder / name)


def _run(folder: Path, tests: Path, chosen: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", str(tests), "-q", "-x", "-k", chosen]
    command += [f"--timeout={_SECONDS}", "--timeout-method=signal", "-p", "no:cacheprovider", "--tb=line"]
    environment = {
        **os.environ,
        "PYTHONPATH": f"{folder}:{folder / 'src'}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "400",  # or pytest cuts off why a test failed
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def _see(listed: BugList, bug: Bug, change: Change) -> bool:
    """Whether a test of the bug fails with the change; says so."""
    with tempfile.TemporaryDirectory(prefix="dglop-bugs-") as name:
        folder = Path(name)
        _copy(folder)
        apply(change, folder / "src" / "dglop")
        code, output = _run(folder, listed.tests, f"{listed.word}_{bug.number:02}_")
    failed = _FAILED.search(output)
    if code != 1 or failed is None:
        print(f"  {bug.number:>2}  NOT SEEN: {change.says}\n{output[-1500:]}", flush=True)
        return False
    print(f"  {bug.number:>2}  {change.says}: {failed[1]}: {reason(failed[2] or '')}", flush=True)
    return True


def reason(said: str) -> str:
    """Why a test failed, from pytest's word; not to end is another thing than to see something wrong."""
    if said.startswith("Failed: Timeout"):
        return f"TIME-OUT, it did not end within {_SECONDS} s"
    return said[:200]


def _try(listed: BugList, numbers: list[int]) -> bool:
    """Whether each change to one of the numbers, or to all, was seen."""
    bugs = [bug for bug in read_bugs(listed) if not numbers or bug.number in numbers]
    chosen = " or ".join(f"{listed.word}_{bug.number:02}_" for bug in bugs)
    # Within the limit of the changed runs: what takes longer by itself would be taken for seen there.
    code, output = _run(ROOT, listed.tests, chosen)
    if code:
        print(f"the tests fail without any change:\n{output[-3000:]}")
        return False
    seen = [_see(listed, bug, change) for bug in bugs for change in bug.changes]
    print(f"{listed.page}: {sum(seen)} of {len(seen)} changes were seen by a test of their number")
    return all(seen)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bugs", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, help="only these; all by default")
    parser.add_argument("--list", choices=list(LISTS), help="only of this list; of both by default")
    parser.add_argument("--page", action="store_true", help="only write the pages in docs/")
    arguments = parser.parse_args()
    for name, listed in LISTS.items():
        if arguments.list not in (None, name):
            continue
        if not arguments.page and not _try(listed, arguments.numbers):
            return 1
        (ROOT / listed.page).write_text(page(listed, read_bugs(listed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
