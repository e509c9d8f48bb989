# SPDX-License-Identifier: Apache-2.0
"""What all tests share: what this machine cannot run is not collected and listed; a skip is a failure."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from test.needs import NEEDS

# On a busy machine an example takes as long as it takes: none of our properties is about time.
settings.register_profile("dglop", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dglop")

_left_out: list[tuple[str, str]] = []
_skipped: list[str] = []
_counts = {"passed": 0, "failed": 0}


def pytest_configure(config: pytest.Config) -> None:
    for marker, need in NEEDS.items():
        config.addinivalue_line("markers", f"{marker}: not collected where {need.lacking}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    used = [marker for marker in NEEDS if any(item.get_closest_marker(marker) for item in items)]
    missing = [marker for marker in used if not NEEDS[marker].is_met()]
    kept, left = [], []
    for item in items:
        reason = next((NEEDS[marker].lacking for marker in missing if item.get_closest_marker(marker)), None)
        if reason is None:
            kept.append(item)
        else:
            left.append(item)
            _left_out.append((item.nodeid, reason))
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped:
        _skipped.append(report.nodeid)
    if report.failed:
        _counts["failed"] += 1
    elif report.when == "call" and report.passed:
        _counts["passed"] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    if path := os.environ.get("DGLOP_TEST_COUNTS"):
        counts = {**_counts, "skipped": len(_skipped), "left_out": _left_out}
        Path(path).write_text(json.dumps(counts))
    if _skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _skipped:
        terminalreporter.section("skipped, and a skip is a failure here")
        for nodeid in _skipped:
            terminalreporter.line(nodeid)
    terminalreporter.section("not run on this machine")
    for nodeid, reason in _left_out:
        terminalreporter.line(f"{nodeid}: {reason}")
    if not _left_out:
        terminalreporter.line("nothing: all collected tests ran")
