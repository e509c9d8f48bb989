# SPDX-License-Identifier: Apache-2.0
"""Two minutes of the soak; `make soak` runs half an hour of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hack.soak.soak import soak

if TYPE_CHECKING:
    from dglop.testing.envtest import Envtest


@pytest.mark.timeout(900)
async def test_nothing_is_lost_or_doubled_and_all_stays_level_while_network_and_server_break(
    server: Envtest,
) -> None:
    report = await soak(server.assets, seconds=100)
    assert report.failures == [], report.table()
