# SPDX-License-Identifier: Apache-2.0
"""What of a runPolicy may change while a job runs, in memory as on a real API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dglop.testing.toyjob import ToyJob
from test.envtest.policy_cases import CHANGES, try_change

if TYPE_CHECKING:
    from dglop.testing.memory import MemoryCluster


@pytest.mark.parametrize("name", CHANGES)
async def test_a_run_policy_changes_only_as_it_may(memory_cluster: MemoryCluster, name: str) -> None:
    await memory_cluster.install(ToyJob)
    await try_change(memory_cluster.client, ToyJob, {}, "default", name)
