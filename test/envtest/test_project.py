# SPDX-License-Identifier: Apache-2.0
"""The tests of the examples that stand in folders of their own, on a real API server."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from test.pages import ROOT
from test.userproject import run_tests

if TYPE_CHECKING:
    from dglop.testing import Envtest

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(("folder", "count"), [("project", 16), ("quickstart", 2)])
def test_the_tests_of_an_example_pass_on_a_real_api_server(
    server: Envtest, pytester: pytest.Pytester, folder: str, count: int
) -> None:
    shutil.copytree(ROOT / "examples" / folder, pytester.path, dirs_exist_ok=True)
    # `server` has found the binaries; the tests start a server of their own.
    run_tests(pytester, "--cluster=envtest").assert_outcomes(passed=count)
