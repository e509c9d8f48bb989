# SPDX-License-Identifier: Apache-2.0
"""A deletion that is answered with a conflict is tried again, though no event comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dglop.common.constants import POD, SERVICE
from dglop.testing.toyjob import ToyJob

if TYPE_CHECKING:
    from test.unit.testing.conftest import MemoryCases


@pytest.mark.parametrize("kind", [POD, SERVICE, ToyJob])
async def test_a_deletion_that_conflicts_is_tried_again_within_seconds(cases: MemoryCases, kind) -> None:
    await cases.toy(workers=1, clean_pod_policy="All", ttl_seconds_after_finished=60)
    await cases.run()
    order = cases.cluster.server.faults.add(409, "DELETE", kind)
    await cases.set_pod("g-worker-0", "Succeeded", exit_code=0)
    await cases.cluster.advance(5.0)
    assert (cases.pods(), cases.services()) == ({}, set())
    await cases.cluster.advance(60.0)
    assert order.hits == 1
    assert cases.job() is None
