# SPDX-License-Identifier: Apache-2.0
"""Tokens, certificates and kubeconfigs, and their renewal."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import ssl
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import trustme

from dglop.errors import ApiConnectionError, ConfigError, UnauthorizedError
from dglop.runtime.api import Resource
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.client.sockets import keepalive_socket
from dglop.runtime.client.sources import load
from dglop.runtime.log import make_log
from dglop.testing.clock import ManualClock, yield_to_tasks
from dglop.testing.scripted import Exchange, Reply, ScriptedServer
from dglop.testing.scripted_replies import answer, items, status, stream

if TYPE_CHECKING:
    from dglop.testing.scripted_clock import EagerClock

POD = Resource("", "v1", "Pod", "pods")
WIRE = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "n"}}


def anything(_: object) -> bool:
    return True


def only_for(tokens: set[str], good: Reply) -> Reply:
    async def reply(exchange: Exchange) -> None:
        allowed = exchange.request.headers.get("authorization", "").removeprefix("Bearer ") in tokens
        await (good if allowed else status(401, "Unauthorized"))(exchange)

    return reply


def config(server: ScriptedServer, token: Path, **more: object) -> ClientConfig:
    return ClientConfig(host=server.url, token_file=token, **more)  # type: ignore[arg-type]


def put(path: Path, content: str | None) -> None:
    if content is None:
        path.unlink()
    else:
        path.write_text(content)


@pytest.fixture
def token(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("one\n")
    return path


@pytest.mark.scripted
async def test_every_verb_carries_the_token(server: ScriptedServer, token: Path) -> None:
    server.watches(stream(b"1\n", then="end"))
    server.on(lambda seen: seen.path.endswith("/pods") and seen.method == "GET", items([], "1"))
    server.on(anything, answer(WIRE))
    async with await Client.connect(config(server, token)) as client:
        await client.get(POD, "a")
        await client.list(POD)
        await client.create(WIRE)
        await client.apply(WIRE)
        await client.patch(POD, "a", "n", {})
        await client.delete(POD, "a")
        assert [line async for line in client.stream("/w", query={"watch": "true"}, read_idle=9)] == [b"1"]
    assert [seen.headers.get("authorization") for seen in server.requests] == ["Bearer one"] * 7


@pytest.mark.scripted
async def test_a_rotated_token_is_read_again_when_the_old_one_is_refused(
    server: ScriptedServer, token: Path
) -> None:
    accepted = {"one"}
    server.watches(only_for(accepted, stream(b"1\n", then="end")))
    server.on(anything, only_for(accepted, answer(WIRE)))
    async with await Client.connect(config(server, token)) as client:
        for number in range(5):
            put(token, f"token-{number}")
            accepted.clear()
            accepted.add(f"token-{number}")
            if number % 2:
                lines = client.stream("/w", query={"watch": "true"}, read_idle=9)
                assert [line async for line in lines] == [b"1"]
            else:
                assert await client.create(WIRE) == WIRE
    assert len(server.requests) == 10


@pytest.mark.scripted
async def test_a_token_that_stays_refused_is_an_error_after_one_try(
    server: ScriptedServer, token: Path
) -> None:
    server.on(anything, status(401, "Unauthorized"))
    async with await Client.connect(config(server, token)) as client:
        with pytest.raises(UnauthorizedError):
            await client.get(POD, "a")
    assert len(server.requests) == 1


@pytest.mark.scripted
@pytest.mark.parametrize("state", ["empty", "missing"])
async def test_a_token_file_in_the_midst_of_rotation_leaves_the_old_token(
    server: ScriptedServer, token: Path, state: str
) -> None:
    server.on(anything, only_for({"one"}, answer(WIRE)))
    async with await Client.connect(config(server, token, token_reread_seconds=0.0)) as client:
        put(token, "" if state == "empty" else None)
        assert await client.get(POD, "a") == WIRE


@pytest.mark.scripted
async def test_a_token_that_grew_old_is_read_again_unasked(server: ScriptedServer, token: Path) -> None:
    server.on(anything, answer(WIRE))
    clock = ManualClock()
    async with await Client.connect(config(server, token), clock=clock) as client:
        put(token, "two")
        await client.get(POD, "a")
        await clock.advance(61)
        await client.get(POD, "a")
    assert [seen.headers["authorization"] for seen in server.requests] == ["Bearer one", "Bearer two"]


async def test_a_service_account_without_a_token_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("x")
    env = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    account = ClientConfig(service_account=tmp_path)
    with pytest.raises(ConfigError, match="is the service account's token mounted"):
        await load(account, environ=env, monotonic=lambda: 0.0)
    (tmp_path / "token").write_text("t")
    (tmp_path / "namespace").write_text("mine")
    loaded = await load(account, environ=env, monotonic=lambda: 0.0)
    assert (loaded.host, loaded.namespace) == ("https://[fd00::1]:443", "mine")
    assert loaded.authorization() == "Bearer t"


async def test_a_kubeconfig_gives_host_token_and_namespace(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(KUBECONFIG)
    loaded = await load(ClientConfig(), environ={"KUBECONFIG": str(path)}, monotonic=lambda: 0.0)
    assert (loaded.host, loaded.namespace) == ("http://localhost:1", "there")
    assert loaded.authorization() == "Bearer secret"


@pytest.mark.parametrize("content", [None, "", "x: [", "clusters: []\ncontexts: []\nusers: []\n"])
async def test_a_kubeconfig_that_cannot_be_used_is_a_sentence(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "config"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError, match="config"):
        await load(ClientConfig(kubeconfig=str(path)), monotonic=lambda: 0.0)


async def test_a_credential_plugin_that_fails_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "config"
    plugin = 'exec: {apiVersion: client.authentication.k8s.io/v1, command: "false"}'
    path.write_text(KUBECONFIG.replace("token: secret", plugin))
    with pytest.raises(ConfigError, match="plugin"):
        await load(ClientConfig(kubeconfig=str(path)), monotonic=lambda: 0.0)


def test_sockets_notice_a_dead_peer() -> None:
    with keepalive_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 1))) as sock:
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert 0 < sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 60_000


def serving(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    return context


@pytest.mark.scripted
@pytest.mark.parametrize("strict", [True, False])
async def test_chain_and_host_name_are_checked_also_without_strictness(
    tmp_path: Path, clock: EagerClock, strict: bool
) -> None:
    ours, theirs = trustme.CA(), trustme.CA()
    ours.cert_pem.write_to_path(tmp_path / "ca")
    trusting: dict[str, Any] = {"ca_file": tmp_path / "ca", "tls_strict": strict}
    async with ScriptedServer(tls=serving(ours)) as server:
        server.on(anything, answer(WIRE))
        async with await Client.connect(ClientConfig(host=server.url, **trusting)) as client:
            assert await client.get(POD, "a") == WIRE
    async with (
        ScriptedServer(tls=serving(theirs)) as server,
        await Client.connect(ClientConfig(host=server.url, **trusting), clock=clock) as client,
    ):
        with pytest.raises(ApiConnectionError, match="certificate was refused"):
            await client.get(POD, "a")


@pytest.mark.scripted
async def test_a_rotated_ca_is_taken_up_without_a_restart(tmp_path: Path, clock: EagerClock) -> None:
    old, new = trustme.CA(), trustme.CA()
    old.cert_pem.write_to_path(tmp_path / "ca")
    async with ScriptedServer(tls=serving(new)) as server:
        server.on(anything, answer(WIRE))
        config = ClientConfig(host=server.url, ca_file=tmp_path / "ca", files_recheck_seconds=0.0)
        said = io.StringIO()
        log = make_log(format_="json", stream=said)
        async with await Client.connect(config, clock=clock, log=log) as client:
            with pytest.raises(ApiConnectionError):
                await client.get(POD, "a")
            (tmp_path / "ca").write_text("half wri")
            with pytest.raises(ApiConnectionError):
                await client.get(POD, "a")
            new.cert_pem.write_to_path(tmp_path / "ca")
            assert await client.get(POD, "a") == WIRE
    told = [json.loads(line)["msg"] for line in said.getvalue().splitlines()]
    assert (told[0], told[-1]) == ("Kept the old API server credentials", "Reloaded API server credentials")


@pytest.mark.scripted
async def test_leaving_a_stream_drops_its_socket_also_if_the_server_does_not_care(tmp_path: Path) -> None:
    async def careless(exchange: Exchange) -> None:
        await exchange.start()
        await exchange.chunk(b"1\n")
        exchange.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await asyncio.Event().wait()

    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca")
    async with ScriptedServer(tls=serving(authority)) as server:
        server.watches(careless)
        config = ClientConfig(host=server.url, ca_file=tmp_path / "ca")
        async with await Client.connect(config) as client:
            lines = client.stream("/w", query={"watch": "true"}, read_idle=9)
            await anext(lines)
            before = open_files()
            await lines.aclose()
            await yield_to_tasks()
            assert open_files() == before - 1


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.scripted
async def test_clients_leave_nothing_behind(server: ScriptedServer) -> None:
    server.on(anything, answer(WIRE))
    threads, tasks = threading.active_count(), len(asyncio.all_tasks())
    for _ in range(20):
        async with await Client.connect(ClientConfig(host=server.url)) as client:
            await client.get(POD, "a")
    await server.until(20)
    assert threading.active_count() == threads
    own = {task for task in asyncio.all_tasks() if "ScriptedServer" in repr(task.get_coro())}
    assert len(asyncio.all_tasks() - own) == tasks


KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: here
clusters: [{name: c, cluster: {server: "http://localhost:1"}}]
contexts: [{name: here, context: {cluster: c, user: u, namespace: there}}]
users: [{name: u, user: {token: secret}}]
"""
