# SPDX-License-Identifier: Apache-2.0
"""What the log says where the lease may not be used."""

from __future__ import annotations

import asyncio
import io

import pytest

from dglop.errors import ApiConnectionError, ApiError, ForbiddenError
from dglop.runtime.election import Election
from dglop.runtime.log import make_log
from dglop.testing.clock import ManualClock
from test.unit.runtime.lease_store import TIMES, MemoryStore


class Refusing(MemoryStore):
    def __init__(self, error: ApiError) -> None:
        super().__init__()
        self.error = error

    async def _answer(self, call: str) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "is_hinted"),
    [
        (ForbiddenError(403, "Forbidden", 'leases is forbidden in the namespace "default"'), True),
        (ApiConnectionError("refused", sent=False), False),
    ],
)
async def test_a_lease_that_is_forbidden_is_told_with_the_flag_that_names_another_namespace(
    error: ApiError, is_hinted: bool
) -> None:
    stream, clock = io.StringIO(), ManualClock()
    log = make_log(level="info", format_="json", stream=stream)
    election = Election(Refusing(error), "a", TIMES, clock=clock, random=lambda: 0.0, log=log)
    waiting = asyncio.create_task(election.acquire())
    await clock.advance(5.0)
    waiting.cancel()
    assert "Could not use the lease" in stream.getvalue()
    assert ("--leader-election-namespace" in stream.getvalue()) is is_hinted
