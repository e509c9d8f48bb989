# SPDX-License-Identifier: Apache-2.0
"""A project as users of dglop have it: the example of a job kind, its test, and a conftest.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from test.pages import ROOT

if TYPE_CHECKING:
    import pytest

__all__ = ("make_project", "run_tests")

_CONFTEST = 'pytest_plugins = ["dglop.testing.plugin"]\n'
_SETTINGS = "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\npythonpath = .\n"


def make_project(pytester: pytest.Pytester) -> None:
    """Write the project into the folder of *pytester*."""
    examples = pytester.mkpydir("examples")
    for name in ("torchjob.py", "test_torchjob.py"):
        (examples / name).write_text((ROOT / "examples" / name).read_text())
    pytester.makeconftest(_CONFTEST)
    pytester.makefile(".ini", pytest=_SETTINGS)


def run_tests(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run its tests in a process of their own."""
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments, timeout=100)
