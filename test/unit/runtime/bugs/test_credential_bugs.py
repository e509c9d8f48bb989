# SPDX-License-Identifier: Apache-2.0
"""Bugs 12 to 14 of docs/bugs.md: tokens that rotate or are not sent, certificates of an old form."""

from __future__ import annotations

import datetime as dt
import ssl
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from dglop.errors import ApiConnectionError
from dglop.runtime.client import Client, ClientConfig
from dglop.testing.scripted import ScriptedServer
from dglop.testing.scripted_replies import answer, items, stream
from test.unit.runtime.client.test_credentials import POD, WIRE, anything, config, only_for, put, token

if TYPE_CHECKING:
    from pathlib import Path

    from dglop.testing.scripted_clock import EagerClock

pytestmark = pytest.mark.scripted

__all__ = ("token",)


async def test_bug_12_no_operation_fails_while_the_token_rotates(server: ScriptedServer, token: Path) -> None:
    """A rotated token was not read again: kubernetes-client/python#1768, #741, #1946."""
    accepted = {"one"}
    server.watches(only_for(accepted, stream(b"1\n", then="end")))
    server.on(anything, only_for(accepted, answer(WIRE)))
    async with await Client.connect(config(server, token)) as client:
        for number in range(20):
            put(token, f"token-{number}\n")
            accepted.clear()
            accepted.add(f"token-{number}")
            before = len(server.requests)
            assert await client.create(WIRE) == WIRE
            lines = client.stream("/w", query={"watch": "true"}, read_idle=9)
            assert [line async for line in lines] == [b"1"]
            assert len(server.requests) - before == 3  # one was refused, and sent again


@pytest.mark.parametrize("content", ["", " \n", None])
async def test_bug_12_a_file_that_is_empty_or_gone_in_mid_rotation_keeps_the_old_token(
    server: ScriptedServer, token: Path, content: str | None
) -> None:
    """The official client raised ConfigException or FileNotFoundError out of the request."""
    accepted = {"one"}
    server.on(anything, only_for(accepted, answer(WIRE)))
    async with await Client.connect(config(server, token, token_reread_seconds=0.0)) as client:
        put(token, content)
        for _ in range(3):
            assert await client.get(POD, "a") == WIRE
        accepted.clear()
        accepted.add("two")
        put(token, "two")
        assert await client.get(POD, "a") == WIRE


async def test_bug_13_every_verb_carries_the_credentials(server: ScriptedServer, token: Path) -> None:
    """A new version of the official client sent no Authorization header: kubernetes-client/python#2585."""
    server.watches(stream(b"1\n", then="end"))
    server.on(lambda seen: seen.path.endswith("/pods") and seen.method == "GET", items([], "1"))
    server.on(anything, answer(WIRE))
    async with await Client.connect(config(server, token)) as client:
        await client.get(POD, "a")
        await client.list(POD)
        await client.metadata.get(POD, "a", "n")
        await client.create(WIRE)
        await client.apply(WIRE)
        await client.patch(POD, "a", "n", {}, subresource="status")
        await client.subresource(POD, "eviction").create("a")
        await client.delete(POD, "a")
        await client.delete_all_of(POD, "n")
        assert [line async for line in client.stream("/w", query={"watch": "true"}, read_idle=9)] == [b"1"]
    sent = [(seen.method, seen.is_watch, seen.headers.get("authorization")) for seen in server.requests]
    assert {each[2] for each in sent} == {"Bearer one"}
    assert len(sent) == 10
    assert {each[:2] for each in sent} == {
        ("GET", False),
        ("GET", True),
        ("POST", False),
        ("PATCH", False),
        ("DELETE", False),
    }


class OldAuthority:
    """A certificate authority as EKS had it, without key identifiers and key usage."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "old")])
        self.certificate = self._sign(self._name, self._key, is_ca=True)

    def context(self, folder: Path, host: str) -> ssl.SSLContext:
        """For a server that calls itself *host*."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
        path = folder / f"{host}.pem"
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        path.write_bytes(secret + self._sign(name, key, host=host).public_bytes(Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def write(self, path: Path) -> Path:
        path.write_bytes(self.certificate.public_bytes(Encoding.PEM))
        return path

    def _sign(self, name: x509.Name, key: Any, *, host: str = "", is_ca: bool = False) -> x509.Certificate:
        now = dt.datetime.now(dt.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=is_ca)
        )
        if host:
            builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        return builder.sign(self._key, hashes.SHA256())


@pytest.fixture
def strict_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """TLS contexts as Python 3.13 makes them, on any Python."""
    original = ssl.create_default_context

    def create(*arguments: Any, **named: Any) -> ssl.SSLContext:
        context = original(*arguments, **named)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", create)


@pytest.mark.usefixtures("strict_python")
async def test_bug_14_a_certificate_of_an_old_form_is_refused_with_the_way_out_which_works(
    tmp_path: Path, clock: EagerClock
) -> None:
    """Python 3.13 refuses CAs without a key identifier: kubernetes-client/python#2394."""
    authority = OldAuthority()
    trust: dict[str, Any] = {"ca_file": authority.write(tmp_path / "ca")}
    async with ScriptedServer(tls=authority.context(tmp_path, "localhost")) as server:
        server.on(anything, answer(WIRE))
        async with await Client.connect(ClientConfig(host=server.url, **trust), clock=clock) as client:
            with pytest.raises(ApiConnectionError, match=r"Key Identifier.*set tls_strict=False"):
                await client.get(POD, "a")
        lax = ClientConfig(host=server.url, tls_strict=False, **trust)
        async with await Client.connect(lax, clock=clock) as client:
            assert await client.get(POD, "a") == WIRE


@pytest.mark.usefixtures("strict_python")
@pytest.mark.parametrize(("host", "is_ours"), [("localhost", False), ("other.example", True)])
async def test_bug_14_without_strictness_chain_and_host_name_are_still_checked(
    tmp_path: Path, clock: EagerClock, *, host: str, is_ours: bool
) -> None:
    authority = OldAuthority()
    trusted = authority if is_ours else OldAuthority()
    async with ScriptedServer(tls=authority.context(tmp_path, host)) as server:
        settings = ClientConfig(host=server.url, ca_file=trusted.write(tmp_path / "ca"), tls_strict=False)
        async with await Client.connect(settings, clock=clock) as client:
            with pytest.raises(ApiConnectionError, match="certificate was refused"):
                await client.get(POD, "a")
