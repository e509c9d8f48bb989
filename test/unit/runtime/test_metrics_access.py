# SPDX-License-Identifier: Apache-2.0
"""Metrics over TLS, read by those whom the API server knows and allows."""

from __future__ import annotations

import io
import ssl
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from cryptography import x509

from dglop import Manager, Settings
from dglop.errors import ConfigError
from dglop.runtime.access import AccessGuard, User, _Cache, access_review, bearer_token, guarded
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.log import make_log
from dglop.runtime.selfsigned import make_pair
from dglop.runtime.serving import HttpRequest, HttpResponse, Route
from dglop.testing.certificates import ServingCertificates
from dglop.testing.clock import ManualClock
from dglop.testing.scripted import ScriptedServer
from dglop.testing.scripted_replies import answer, status

if TYPE_CHECKING:
    from pathlib import Path

TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
UNUSED: Any = object()
"""A client for what fails before it would be needed."""
RIGHTS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


@pytest.mark.parametrize(
    ("header", "token"),
    [("Bearer abc", "abc"), ("bearer  abc ", "abc"), ("Basic abc", ""), ("Bearer", ""), ("", "")],
)
def test_a_token_is_what_follows_bearer(header, token):
    assert bearer_token({"authorization": header}) == token


def test_a_review_says_all_that_is_known_of_the_user():
    user = User("ann", "1", ("b", "a"), {"scopes": ["x"]})
    assert access_review(user, "get", "/metrics")["spec"] == {
        "user": "ann",
        "uid": "1",
        "groups": ["b", "a"],
        "extra": {"scopes": ["x"]},
        "nonResourceAttributes": {"verb": "get", "path": "/metrics"},
    }
    assert user.key == User("ann", "1", ("a", "b"), {"scopes": ["x"]}).key != User("ann").key


class Authority:
    """An API server that knows tokens and rights, and counts how often it is asked."""

    def __init__(self, server: ScriptedServer) -> None:
        self.server = server
        self.known = {"t-ann": "ann", "t-bob": "bob"}
        self.allowed = {"ann"}
        self.is_down = False
        server.on(lambda _: True, self._answer)

    @property
    def asked(self) -> Counter[str]:
        return Counter(request.path for request in self.server.requests)

    async def _answer(self, exchange: Any) -> None:
        spec = exchange.request.json()["spec"]
        if self.is_down:
            await status(403, "Forbidden", "tokenreviews is forbidden")(exchange)
        elif exchange.request.path == TOKENS:
            name = self.known.get(spec["token"])
            user = {"username": name, "uid": "1", "groups": ["g"]}
            await answer({"status": {"authenticated": bool(name), "user": user if name else {}}}, 201)(
                exchange
            )
        else:
            await answer({"status": {"allowed": spec["user"] in self.allowed}}, 201)(exchange)


class World:
    def __init__(self, authority: Authority, client: Client) -> None:
        self.authority = authority
        self.clock = ManualClock()
        self.out = io.StringIO()
        guard = AccessGuard(lambda: client, clock=self.clock, log=make_log(format_="json", stream=self.out))

        async def metrics(_: HttpRequest) -> HttpResponse:
            return HttpResponse(body="numbers")

        (self.route,) = guarded([Route("GET", "/metrics", metrics)], guard)

    async def get(self, token: str = "", path: str = "/metrics") -> int:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return (await self.route.handler(HttpRequest("GET", path, headers=headers))).status


@pytest.fixture
async def world():
    async with ScriptedServer() as server:
        authority = Authority(server)
        async with await Client.connect(ClientConfig(host=server.url)) as client:
            yield World(authority, client)


@pytest.mark.scripted
async def test_who_is_unknown_is_401_who_may_not_is_403_and_who_may_gets_it(world):
    assert await world.get() == 401
    assert world.authority.asked == {}
    assert await world.get("t-eve") == 401
    assert await world.get("t-bob") == 403
    assert await world.get("t-ann") == 200


@pytest.mark.scripted
async def test_answers_are_remembered_for_a_while(world):
    for _ in range(3):
        await world.get("t-ann")
        await world.get("t-bob")
        await world.get("t-eve")
    assert world.authority.asked == {TOKENS: 3, RIGHTS: 2}
    await world.clock.advance(31)  # a denial lasts half a minute
    world.authority.allowed = {"bob"}
    assert await world.get("t-bob") == 200
    assert await world.get("t-ann") == 200
    assert world.authority.asked == {TOKENS: 3, RIGHTS: 3}
    await world.clock.advance(30)  # a token a minute
    world.authority.known.pop("t-bob")
    assert await world.get("t-bob") == 401
    assert world.authority.asked == {TOKENS: 4, RIGHTS: 3}
    await world.clock.advance(240)  # what was allowed lasts five minutes
    assert await world.get("t-ann") == 403


@pytest.mark.scripted
async def test_a_right_is_one_for_one_path(world):
    await world.get("t-ann")
    await world.get("t-ann", "/debug/tasks")
    assert world.authority.asked[RIGHTS] == 2


@pytest.mark.scripted
async def test_nobody_passes_while_the_api_server_cannot_be_asked_and_nothing_of_it_is_remembered(world):
    world.authority.is_down = True
    assert await world.get("t-ann") == 500
    assert "tokenreviews is forbidden" in world.out.getvalue()
    world.authority.is_down = False
    assert await world.get("t-ann") == 200


def test_tokens_are_remembered_up_to_a_number():
    cache: _Cache[str] = _Cache(ManualClock().monotonic, max_entries=2)
    for key in ("a", "b"):
        cache.put(key, key, 60)
    assert cache.get("a") == ("a",)
    cache.put("c", "c", 60)
    assert [cache.get(key) for key in ("a", "b", "c")] == [("a",), None, ("c",)]


@pytest.mark.scripted
async def test_with_metrics_secure_the_metrics_are_served_over_tls_to_those_who_may(api, tmp_path: Path):
    certificates = ServingCertificates(tmp_path)
    settings = Settings(
        metrics_bind="127.0.0.1:0",
        health_bind="0",
        metrics_secure=True,
        metrics_cert_path=str(tmp_path),
    )
    manager = Manager(settings, config=api.config, log=make_log(level="error", stream=io.StringIO()))
    context = ssl.create_default_context(cadata=certificates.ca_bundle.decode())
    async with manager, aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session:
        url = f"https://127.0.0.1:{manager.ports['metrics']}/metrics"
        async with session.get(url) as refused:
            assert refused.status == 401
        with pytest.raises(aiohttp.ClientError):
            await session.get(url.replace("https", "http"))


@pytest.mark.scripted
async def test_secure_metrics_without_a_folder_get_a_certificate_of_their_own(api):
    settings = Settings(metrics_bind="127.0.0.1:0", health_bind="0", metrics_secure=True)
    manager = Manager(settings, config=api.config, log=make_log(level="error", stream=io.StringIO()))
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    async with manager, aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session:
        url = f"https://127.0.0.1:{manager.ports['metrics']}/metrics"
        async with session.get(url) as refused:
            assert refused.status == 401


def test_a_certificate_of_ones_own_is_for_localhost_and_a_year():
    certificate = x509.load_pem_x509_certificate(make_pair(NOW)[0])
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert certificate.not_valid_before_utc == NOW - timedelta(hours=1)
    assert certificate.not_valid_after_utc == NOW + timedelta(days=365)
    context = ssl.create_default_context(cadata=make_pair(NOW)[0].decode())
    assert context.cert_store_stats()["x509_ca"] == 1


async def test_secure_metrics_without_a_certificate_are_a_sentence_at_the_start(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    settings = Settings(metrics_bind="127.0.0.1:0", health_bind="0", metrics_secure=True)
    manager = Manager(settings, client=UNUSED, log=make_log(stream=io.StringIO()))
    with pytest.raises(ConfigError, match=r"--metrics-cert-path is missing: .*install dglop\[tls\]"):
        await manager.start()


async def test_a_pair_that_is_none_is_a_sentence_at_the_start(tmp_path: Path):
    ServingCertificates(tmp_path).spoil()
    settings = Settings(
        metrics_bind="127.0.0.1:0", health_bind="0", metrics_secure=True, metrics_cert_path=str(tmp_path)
    )
    manager = Manager(settings, client=UNUSED, log=make_log(stream=io.StringIO()))
    with pytest.raises(ConfigError, match=r"tls.crt and .*tls.key cannot be used .*mismatch"):
        await manager.start()
