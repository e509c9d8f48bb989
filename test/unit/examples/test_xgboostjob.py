# SPDX-License-Identifier: Apache-2.0
"""The example of a further job kind, tested as its readers do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from test.pages import ROOT
from test.userproject import make_project, run_tests

if TYPE_CHECKING:
    import pytest

pytest_plugins = ["pytester"]


def test_the_tests_of_the_xgboostjob_pass_in_a_project_of_their_own(pytester: pytest.Pytester) -> None:
    make_project(pytester)
    for file in (ROOT / "examples").glob("*xgboostjob.*"):
        (pytester.path / "examples" / file.name).write_text(file.read_text())
    run_tests(pytester, "examples/test_xgboostjob.py").assert_outcomes(passed=15)
