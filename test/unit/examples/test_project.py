# SPDX-License-Identifier: Apache-2.0
"""The example of a cluster-scoped operator, copied and tested as its readers do."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from test.pages import ROOT
from test.userproject import run_tests

if TYPE_CHECKING:
    import pytest

pytest_plugins = ["pytester"]


def test_the_tests_of_the_project_pass_in_a_folder_of_their_own(pytester: pytest.Pytester) -> None:
    shutil.copytree(ROOT / "examples" / "project", pytester.path, dirs_exist_ok=True)
    run_tests(pytester).assert_outcomes(passed=16)
