# SPDX-License-Identifier: Apache-2.0
"""The test of a user's project, as it stands, on a real API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from test.userproject import make_project, run_tests

if TYPE_CHECKING:
    from dglop.testing import Envtest, EnvtestCluster

pytest_plugins = ["pytester"]


def test_the_test_of_a_users_project_passes_on_a_real_api_server(
    server: Envtest, pytester: pytest.Pytester
) -> None:
    make_project(pytester)  # `server` has found the binaries
    run_tests(pytester, "--cluster=envtest").assert_outcomes(passed=1)


async def test_what_is_in_another_namespace_is_refused_rather_than_mixed_up(cluster: EnvtestCluster) -> None:
    from dglop.errors import ConfigError

    with pytest.raises(ConfigError, match="bound to namespace 'test-"):
        await cluster.client.list("pods", "default")
