# SPDX-License-Identifier: Apache-2.0
"""Run the tests class by class, weakest first, with what each class needs, and count them."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from hack import stack
from hack.cluster.errors import ClusterError
from hack.cluster.report import Report, choose_report

_ROOT = Path(__file__).resolve().parent.parent
_CLASSES = ("unit", "envtest", "e2e")


@dataclass(slots=True)
class Outcome:
    """What one class of tests came to."""

    name: str
    code: int
    seconds: float
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return bool(self.code) and self.passed + self.failed + self.skipped == 0


def _prepare(name: str, report: Report) -> dict[str, str]:
    """Bring up what a class of tests needs and say where it is, as environment variables."""
    if name == "envtest":
        return {"KUBEBUILDER_ASSETS": str(stack.envtest_assets(report))}
    if name == "e2e":
        stack.bring_up(report)
    return {}


def _run(name: str, report: Report, extra: list[str]) -> Outcome:
    began = time.monotonic()
    try:
        environment = {**os.environ, **_prepare(name, report)}
    except (ClusterError, RuntimeError) as error:
        report.say(f"\n  {name} tests cannot run: {error}")
        return Outcome(name=name, code=1, seconds=time.monotonic() - began)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.json"
        environment["DGLOP_TEST_COUNTS"] = str(counts)
        command = [sys.executable, "-m", "pytest", f"test/{name}", "--durations=10", *extra]
        code = subprocess.run(command, cwd=_ROOT, env=environment, check=False).returncode
        seen = json.loads(counts.read_text()) if counts.exists() else {}
    return Outcome(name=name, code=code, seconds=time.monotonic() - began, **seen)


def _summary(outcomes: list[Outcome]) -> str:
    lines = ["", "tests      passed  failed  skipped   time"]
    lines += [
        f"{each.name:<10} {each.passed:>6}  {each.failed:>6}  {each.skipped:>7}  {each.seconds:>4.0f} s"
        for each in outcomes
    ]
    total = [sum(getattr(each, what) for each in outcomes) for what in ("passed", "failed", "skipped")]
    lines.append(f"{'all':<10} {total[0]:>6}  {total[1]:>6}  {total[2]:>7}")
    left = [pair for each in outcomes for pair in each.left_out]
    left += [(each.name, "could not be prepared, see above") for each in outcomes if each.is_empty]
    lines += ["", "not run on this machine:" if left else "not run on this machine: nothing, all tests ran"]
    lines += [f"  {nodeid}: {reason}" for nodeid, reason in left]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make test", description=__doc__)
    parser.add_argument(
        "classes", nargs="*", default=list(_CLASSES), metavar="CLASS", help="unit, envtest, e2e"
    )
    arguments, extra = parser.parse_known_args()
    unknown = set(arguments.classes) - set(_CLASSES)
    if unknown:
        parser.error(f"no such class of tests: {', '.join(sorted(unknown))}")
    report = choose_report()
    outcomes = [_run(name, report, extra) for name in _CLASSES if name in arguments.classes]
    print(_summary(outcomes), flush=True)
    return 1 if any(each.code for each in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
