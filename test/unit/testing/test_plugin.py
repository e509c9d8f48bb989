# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin in a user's project; on a real API server it is tried in test/envtest."""

from __future__ import annotations

import subprocess
import sys

import pytest

from test.userproject import make_project, run_tests

pytest_plugins = ["pytester"]


def test_the_test_of_a_users_project_passes_in_memory(pytester: pytest.Pytester) -> None:
    make_project(pytester)
    run_tests(pytester).assert_outcomes(passed=1)
    run_tests(pytester, "--cluster=memory").assert_outcomes(passed=1)


def test_missing_binaries_are_told_at_once_with_what_to_do(pytester, monkeypatch) -> None:
    make_project(pytester)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(pytester.mkdir("empty")))
    result = run_tests(pytester, "--cluster=envtest")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: --cluster=envtest: envtest needs etcd*KUBEBUILDER_ASSETS*setup-envtest*"]
    )
    run_tests(pytester).assert_outcomes(passed=1)


def test_a_package_that_envtest_needs_and_lacks_is_named(pytester, monkeypatch) -> None:
    make_project(pytester)
    pytester.makepyfile(trustme="raise ModuleNotFoundError('gone', name='trustme')")
    result = run_tests(pytester, "--cluster=envtest")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: --cluster=envtest: envtest needs the package trustme: *dglop*testing*"]
    )
    run_tests(pytester).assert_outcomes(passed=1)


def test_a_manager_that_fails_fails_the_test(pytester) -> None:
    make_project(pytester)
    pytester.makepyfile(
        """
        from dglop.errors import DglopError

        async def test_it(cluster, manager):
            async def fail(stop):
                raise DglopError("the disk is full")

            manager.add(fail)
            await cluster.settle()
        """
    )
    result = run_tests(pytester, "test_a_manager_that_fails_fails_the_test.py")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*DglopError: the disk is full"])


def test_a_test_module_may_name_the_plugin_itself(pytester) -> None:
    make_project(pytester)
    pytester.makeconftest("")
    pytester.makepyfile(
        """
        pytest_plugins = ["dglop.testing.plugin"]

        async def test_it(cluster, manager, memory_cluster):
            assert type(cluster) is type(memory_cluster)
            assert await cluster.client.list("pods") == []
        """
    )
    run_tests(pytester, "test_a_test_module_may_name_the_plugin_itself.py").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("names", "unwanted"),
    [("__doc__", ["aiohttp", "kubernetes", "trustme"]), ("MemoryCluster, EnvtestCluster", ["trustme"])],
)
def test_what_is_imported_of_the_tools_loads_nothing_that_is_not_asked_for(names, unwanted) -> None:
    said = f"import sys; from dglop.testing import {names}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & set(unwanted) == set()
