# SPDX-License-Identifier: Apache-2.0
"""A credential plugin is run again before its token ends, and no oftener."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from dglop.runtime.api import Resource
from dglop.runtime.client import Client, ClientConfig
from dglop.testing.clock import ManualClock
from dglop.testing.scripted_replies import answer
from test.unit.contract.kubeconfigs import plugin, write

if TYPE_CHECKING:
    from pathlib import Path

    from dglop.testing.scripted import ScriptedServer

POD = Resource("", "v1", "Pod", "pods")
UNTIL = datetime(2099, 1, 1, tzinfo=UTC)


def said(token: str, until: datetime) -> dict[str, str]:
    return {"token": token, "expirationTimestamp": until.isoformat().replace("+00:00", "Z")}


@pytest.mark.scripted
async def test_a_plugins_token_that_ends_is_renewed_before_it_does(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.on(lambda _: True, answer({"kind": "Pod", "metadata": {"name": "a"}}))
    user = plugin(tmp_path, said("first", UNTIL))
    path = write(tmp_path / "config", user=user, cluster={"server": server.url})
    clock = ManualClock(UNTIL - timedelta(minutes=2))
    async with await Client.connect(ClientConfig(kubeconfig=str(path)), clock=clock) as client:
        plugin(tmp_path, said("second", UNTIL + timedelta(hours=1)))
        await client.get(POD, "a", "n")
        clock.move(80)
        await client.get(POD, "a", "n")
        clock.move(20)
        await client.get(POD, "a", "n")
    tokens = [each.headers["authorization"] for each in server.requests]
    assert tokens == ["Bearer first", "Bearer first", "Bearer second"]
