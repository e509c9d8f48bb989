# SPDX-License-Identifier: Apache-2.0
"""What the client's requests leave in the metrics, and as whom they come."""

from __future__ import annotations

import io
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from dglop import Manager, Settings
from dglop.errors import ForbiddenError, NotFoundError
from dglop.runtime.api import Resource
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.log import make_log
from dglop.runtime.metrics import Metrics
from dglop.testing.scripted_replies import answer, event, status, stream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop.testing.scripted import Exchange, ScriptedServer

pytestmark = pytest.mark.scripted

POD = Resource("", "v1", "Pod", "pods")
CHUNKS = (b'{"kind":"Pod",', b'"metadata":{"name":"a"}}')


async def in_chunks(exchange: Exchange) -> None:
    await exchange.start(200, {"Content-Type": "application/json"})
    for chunk in CHUNKS:
        await exchange.chunk(chunk)
    await exchange.end()


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
async def measured(server: ScriptedServer, metrics: Metrics) -> AsyncIterator[Client]:
    # By a name and not by its address: an address needs no resolution.
    config = ClientConfig(host=server.url.replace("127.0.0.1", "localhost"))
    async with await Client.connect(config, metrics=metrics.client) as client:
        yield client


def received(metrics: Metrics, verb: str = "GET") -> tuple[float, float]:
    """How many bodies came, and how many bytes in all."""
    found = {
        sample.name.rpartition("_")[2]: sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name.startswith("rest_client_response_size_bytes") and sample.labels["verb"] == verb
    }
    return found.get("count", 0), found.get("sum", 0)


async def test_the_bytes_of_an_answer_in_chunks_are_counted_as_they_came(
    server: ScriptedServer, measured: Client, metrics: Metrics
) -> None:
    server.on(lambda _: True, in_chunks)
    await measured.get(POD, "a", "n")
    assert received(metrics) == (1, sum(map(len, CHUNKS)))


async def test_those_of_a_refusal_and_of_a_watch_are_counted_too(
    server: ScriptedServer, measured: Client, metrics: Metrics
) -> None:
    line = event("ADDED", {"kind": "Pod"})
    server.watches(stream(line, line, then="end"))
    server.on(lambda _: True, status(403, "Forbidden", "no"))
    lines = [each async for each in measured.stream("/w", query={"watch": "true"}, read_idle=9)]
    assert (len(lines), received(metrics, "WATCH")) == (2, (1, 2 * len(line)))
    with pytest.raises(ForbiddenError):
        await measured.get(POD, "a", "n")
    count, size = received(metrics)
    assert count == 1
    assert size > 50


async def test_how_long_the_hosts_name_took_is_measured_once_a_resolution(
    server: ScriptedServer, measured: Client, metrics: Metrics
) -> None:
    name, labels = "rest_client_dns_resolution_duration_seconds_count", {"host": "localhost"}
    server.on(lambda _: True, answer({"kind": "Pod", "metadata": {"name": "a"}}))
    assert metrics.registry.get_sample_value(name, labels) is None
    await measured.get(POD, "a", "n")
    await measured.get(POD, "a", "n")
    assert metrics.registry.get_sample_value(name, labels) == 1


async def test_the_api_server_is_told_which_program_asks_and_which_part_of_it(api: Any) -> None:
    settings = Settings(metrics_bind="0", health_bind="0", leader_elect=True)
    log = make_log(stream=io.StringIO())
    async with Manager(settings, name="team", config=api.config, log=log) as manager:
        await manager.elected.wait()
        with pytest.raises(NotFoundError):
            await manager.client.get(POD, "a", "n")
    agents = {seen.headers["user-agent"]: "/leases" in seen.path for seen in api.server.requests}
    program = f"dglop/{version('dglop')}"
    assert agents == {f"{program} (team)": False, f"{program} (team leader-election)": True}
