# SPDX-License-Identifier: Apache-2.0
"""Who may connect to a webhook server, and how it tells whether anybody can."""

from __future__ import annotations

import asyncio
import io
import socket
import ssl
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import trustme

from dglop import Manager, Settings
from dglop.errors import ConfigError, DglopError
from dglop.runtime.log import make_log
from dglop.runtime.metrics import Metrics
from dglop.runtime.webhook import Webhooks, WebhookServer
from dglop.testing.certificates import ServingCertificates
from dglop.testing.clock import ManualClock, yield_to_tasks

from .admission_kinds import Greeting, wire
from .test_admission import no_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from dglop.runtime.webhook import AdmissionContext, Validator

pytestmark = pytest.mark.scripted
PATH = "/validate-example-dev-v1-greeting"


class World:
    """A webhook server alone, which asks its clients for a certificate if there is an authority for them."""

    def __init__(
        self,
        folder: Path,
        *,
        bind: str = "127.0.0.1:0",
        client_ca: Path | None = None,
        validate: Validator[Greeting] = lambda obj, ctx: None,
    ) -> None:
        self.serving = ServingCertificates(folder)
        self.clock = ManualClock()
        webhooks = Webhooks()
        webhooks.register(Greeting, validate, mutating=False)
        self.server = WebhookServer(
            webhooks,
            bind=bind,
            certs=folder,
            client_ca=client_ca,
            client=no_client,
            clock=self.clock,
            log=make_log(level="error", stream=io.StringIO()),
            metrics=Metrics(),
        )

    async def ask(self, body: dict[str, Any], authority: trustme.CA | None = None) -> dict[str, Any]:
        """What somebody with a certificate of *authority*, or with none, is answered."""
        context = ssl.create_default_context(cadata=self.serving.ca_bundle.decode())
        if authority is not None:
            authority.issue_cert("apiserver@example.dev").configure_cert(context)
        url = f"https://127.0.0.1:{self.server.port}{PATH}"
        async with (
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session,
            session.post(url, json=body) as answer,
        ):
            review: dict[str, Any] = await answer.json()
            return review

    async def get_in(self, authority: trustme.CA | None = None) -> bool:
        """Whether somebody with a certificate of *authority*, or with none, is answered at all."""
        try:
            await self.ask({}, authority)
        except (aiohttp.ClientError, OSError):
            return False
        return True


@pytest.fixture
async def started() -> AsyncIterator[list[WebhookServer]]:
    servers: list[WebhookServer] = []
    yield servers
    for server in servers:
        await server.stop()


async def test_a_free_port_is_one_for_all_addresses(tmp_path, started):
    world = World(tmp_path, bind=":0")
    await world.server.start()
    started.append(world.server)
    assert len({address[1] for address in world.server._server._runner.addresses}) == 1
    for _ in range(3):
        await world.server.check()


@pytest.mark.parametrize("bind", [":{}", "127.0.0.1:{}", "0.0.0.0:{}"])
async def test_it_is_ready_from_the_moment_that_it_answers_until_it_stops(tmp_path, bind):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    world = World(tmp_path, bind=bind.format(port))
    with pytest.raises(DglopError, match="does not serve yet"):
        await world.server.check()
    await world.server.start()
    await world.server.check()
    await world.server.stop()
    with pytest.raises(DglopError, match="does not serve yet"):
        await world.server.check()


async def test_it_is_not_ready_while_nobody_answers_where_it_should_listen(tmp_path, started):
    world = World(tmp_path)
    await world.server.start()
    started.append(world.server)
    with socket.create_server(("127.0.0.1", 0)) as other:
        world.server._server.port = other.getsockname()[1]
    with pytest.raises(DglopError, match="does not answer"):
        await world.server.check()


async def test_a_client_that_never_says_goodbye_keeps_no_socket_open_after_the_end(tmp_path):
    world = World(tmp_path)
    await world.server.start()
    context = ssl.create_default_context(cadata=world.serving.ca_bundle.decode())
    address = ("127.0.0.1", world.server.port or 0)

    def connect() -> ssl.SSLSocket:
        return context.wrap_socket(socket.create_connection(address), server_hostname="127.0.0.1")

    with await asyncio.to_thread(connect):
        (connection,) = world.server._server._runner.server.connections
        served = connection.transport.get_extra_info("socket")
        await world.server.stop()
        await yield_to_tasks()
        assert served.fileno() == -1


async def test_a_request_in_progress_is_answered_before_the_end(tmp_path):
    begun, release = asyncio.Event(), asyncio.Event()

    async def validate(obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        begun.set()
        await release.wait()

    world = World(tmp_path, validate=validate)
    await world.server.start()
    request = {"uid": "u", "operation": "CREATE", "object": wire()}
    asking = asyncio.create_task(world.ask({"apiVersion": "admission.k8s.io/v1", "request": request}))
    await begun.wait()
    stopping = asyncio.create_task(world.server.stop())
    await yield_to_tasks()
    assert world.server.port is None
    release.set()
    assert (await asking)["response"]["allowed"] is True
    await stopping


async def test_with_an_authority_for_clients_only_their_certificates_are_let_in(tmp_path, started):
    ours, theirs, file = trustme.CA(), trustme.CA(), tmp_path / "clients.crt"
    ours.cert_pem.write_to_path(file)
    world = World(tmp_path, client_ca=file)
    await world.server.start()
    started.append(world.server)
    assert [await world.get_in(), await world.get_in(theirs), await world.get_in(ours)] == [
        False,
        False,
        True,
    ]
    await world.server.check()  # a handshake that is refused afterwards is one all the same


async def test_clients_authority_may_be_replaced_while_it_serves(tmp_path, started):
    before, after, file = trustme.CA(), trustme.CA(), tmp_path / "clients.crt"
    before.cert_pem.write_to_path(file)
    world = World(tmp_path, client_ca=file)
    await world.server.start()
    started.append(world.server)
    assert [await world.get_in(before), await world.get_in(after)] == [True, False]
    after.cert_pem.write_to_path(file)
    assert world.server.certificates.check()
    assert [await world.get_in(before), await world.get_in(after)] == [False, True]


async def test_a_client_shows_its_certificate_every_time_and_resumes_no_session(tmp_path, started):
    authority, file = trustme.CA(), tmp_path / "clients.crt"
    authority.cert_pem.write_to_path(file)
    world = World(tmp_path, client_ca=file)
    await world.server.start()
    started.append(world.server)
    context = ssl.create_default_context(cadata=world.serving.ca_bundle.decode())
    authority.issue_cert("apiserver@example.dev").configure_cert(context)

    def connect(session: ssl.SSLSession | None = None) -> tuple[ssl.SSLSession | None, bool | None]:
        raw = socket.create_connection(("127.0.0.1", world.server.port or 0))
        with context.wrap_socket(raw, server_hostname="127.0.0.1", session=session) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert connection.recv(12) == b"HTTP/1.1 404"
            return connection.session, connection.session_reused

    session, _ = await asyncio.to_thread(connect)
    assert (await asyncio.to_thread(connect, session))[1] is False


async def test_an_authority_that_is_none_is_a_sentence_at_the_start(tmp_path):
    file = tmp_path / "clients.crt"
    for content in (None, "nothing"):
        if content is not None:
            file.write_text(content)
        with pytest.raises(ConfigError, match=r"clients\.crt cannot be used as clients' authority"):
            World(tmp_path, client_ca=file)


async def test_metrics_and_webhooks_have_certificates_of_their_own_and_one_count_of_reads(api, tmp_path):
    folders = [tmp_path / name for name in ("metrics", "webhooks")]
    for folder in folders:
        folder.mkdir()
        ServingCertificates(folder)
    settings: dict[str, Any] = {
        "metrics_bind": "127.0.0.1:0",
        "health_bind": "0",
        "webhook_bind": "127.0.0.1:0",
        "metrics_secure": True,
        "metrics_cert_path": str(folders[0]),
        "webhook_cert_path": str(folders[1]),
    }
    log = make_log(level="error", stream=io.StringIO())
    manager = Manager(Settings(**settings), config=api.config, log=log)
    manager.webhook(Greeting, validate=lambda obj, ctx: None)
    shown = []
    async with manager:
        for name, folder in zip(("metrics", "webhook"), folders, strict=True):
            context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
            async with (
                aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session,
                session.get(f"https://127.0.0.1:{manager.ports[name]}/") as answer,
            ):
                shown.append(answer.status)
    assert shown == [404, 404]
    assert manager.metrics.registry.get_sample_value("certwatcher_read_certificate_total") == 2
