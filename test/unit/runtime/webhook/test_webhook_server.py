# SPDX-License-Identifier: Apache-2.0
"""A Manager's webhook server on a local socket: its place in the start, TLS, certificates, metrics."""

from __future__ import annotations

import asyncio
import io
import json
import ssl
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from dglop import Context, CustomResource, Manager, Settings, Spec, Status
from dglop.runtime.log import make_log
from dglop.testing.certificates import ServingCertificates
from dglop.testing.clock import ManualClock

from .admission_kinds import Greeting, wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.scripted
PATH = "/validate-example-dev-v1-greeting"
LEASE_PATH = "/apis/coordination.k8s.io/v1/namespaces/default/leases/dglop"


class Seen(CustomResource[Spec, Status], group="example.dev", version="v1", kind="Greeting"):
    """What the cache lists."""


@pytest.fixture
def certificates(tmp_path: Path) -> ServingCertificates:
    return ServingCertificates(tmp_path)


def make_manager(api, certificates: ServingCertificates, **options: Any) -> Manager:
    settings = Settings(
        metrics_bind="127.0.0.1:0",
        health_bind="127.0.0.1:0",
        webhook_bind="127.0.0.1:0",
        webhook_cert_path=str(certificates.folder),
        leader_elect=options.pop("leader_elect", False),
    )
    log = make_log(format_="json", stream=options.pop("out", io.StringIO()))
    return Manager(settings, name="dglop", config=api.config, log=log, **options)


class Connection:
    """One connection of the API server, kept open."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @property
    def serial(self) -> str:
        """The number of the certificate that was shown at its beginning."""
        return str(self.writer.get_extra_info("peercert")["serialNumber"])

    async def post(self, path: str = PATH) -> tuple[int, bytes]:
        request = {"uid": "u", "operation": "CREATE", "object": wire()}
        body = json.dumps({"apiVersion": "admission.k8s.io/v1", "request": request}).encode()
        head = f"POST {path}?timeout=10s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        self.writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        length = next(line for line in lines if line.startswith("content-length"))
        return int(lines[0].split()[1]), await self.reader.readexactly(int(length.split(":")[1]))


@asynccontextmanager
async def connected(manager: Manager, certificates: ServingCertificates) -> AsyncIterator[Connection]:
    context = ssl.create_default_context(cadata=certificates.ca_bundle.decode())
    reader, writer = await asyncio.open_connection("127.0.0.1", manager.ports["webhook"], ssl=context)
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()
        with suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()


async def test_it_serves_on_every_replica_and_before_the_caches(api, certificates):
    lease = {"holderIdentity": "other", "leaseDurationSeconds": 3600}
    await api.put(
        LEASE_PATH, {"kind": "Lease", "spec": {**lease, "renewTime": "2026-01-01T00:00:00.000000Z"}}
    )
    asked: list[str] = []

    async def prepare(client) -> None:
        # Preparations come before the caches.
        async with connected(manager, certificates) as connection:
            assert b'"allowed":true' in (await connection.post())[1]

    async def reconcile(obj: Seen, ctx: Context) -> None:
        raise AssertionError

    manager = make_manager(api, certificates, leader_elect=True)
    manager.controller(Seen, reconcile)
    manager.webhook(Greeting, validate=lambda obj, ctx: asked.append(obj.name))
    manager.on_start(prepare)
    async with manager, aiohttp.ClientSession() as session:
        assert not manager.elected.is_set()
        assert asked == ["hello"]
        url = f"http://127.0.0.1:{manager.ports['health']}/readyz/webhook"
        async with session.get(url) as answer:
            assert answer.status == 200


async def test_a_new_certificate_is_served_to_new_connections_while_old_ones_live_on(api, certificates):
    out, clock = io.StringIO(), ManualClock()
    manager = make_manager(api, certificates, out=out, clock=clock)
    manager.webhook(Greeting, validate=lambda obj, ctx: None)
    async with manager, connected(manager, certificates) as old:
        certificates.renew()
        async with connected(manager, certificates) as before:
            assert before.serial == old.serial
        await looked(clock, out, "Took the new certificate")
        async with connected(manager, certificates) as new:
            assert new.serial != old.serial
            assert (await new.post())[0] == 200
        assert (await old.post())[0] == 200
        certificates.spoil()
        await looked(clock, out, "Kept the old certificate")
        async with connected(manager, certificates) as still:
            assert still.serial == new.serial
        assert metric(manager, "certwatcher_read_certificate_errors_total") >= 1
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["msg"] for line in lines if "certificate" in line["msg"]] == [
        "Took the new certificate",
        "Kept the old certificate",
    ]


async def looked(clock: ManualClock, out: io.StringIO, outcome: str) -> None:
    """Let the time come to look at the files, until the log says what came of it."""
    while outcome not in out.getvalue():
        await clock.advance(10)


def metric(manager: Manager, name: str, **labels: str) -> float:
    value = manager.metrics.registry.get_sample_value(name, labels)
    assert value is not None
    return value


async def test_requests_are_measured_under_controller_runtimes_names(api, certificates):
    manager = make_manager(api, certificates)
    manager.webhook(Greeting, validate=lambda obj, ctx: None)
    head = "controller_runtime_webhook_"
    async with manager:
        assert metric(manager, f"{head}requests_total", webhook=PATH, code="200") == 0
        assert metric(manager, f"{head}requests_total", webhook=PATH, code="500") == 0
        async with connected(manager, certificates) as connection:
            assert (await connection.post())[0] == 200
            assert (await connection.post("/other"))[0] == 404
        assert metric(manager, f"{head}requests_total", webhook=PATH, code="200") == 1
        assert metric(manager, f"{head}latency_seconds_count", webhook=PATH) == 1
        assert metric(manager, f"{head}requests_in_flight", webhook=PATH) == 0
        assert metric(manager, f"{head}panics_total") == 0
        assert metric(manager, "controller_runtime_conversion_webhook_panics_total") == 0
        assert metric(manager, f"{head}latency_seconds_bucket", webhook=PATH, le="1e-08") == 0
        assert metric(manager, f"{head}latency_seconds_bucket", webhook=PATH, le="1000.0") == 1


async def test_a_program_without_webhooks_listens_for_none(api, certificates):
    manager = make_manager(api, certificates)
    async with manager:
        assert "webhook" not in manager.ports
        assert "webhook" not in manager.ready_checks
