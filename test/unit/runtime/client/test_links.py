# SPDX-License-Identifier: Apache-2.0
"""What making a connection costs: TLS files read once, the official client not at all."""

from __future__ import annotations

import ssl
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import trustme

from dglop.runtime.client import Client, ClientConfig
from dglop.testing.scripted import ScriptedServer
from dglop.testing.scripted_replies import answer, stream
from test.unit.runtime.client.test_credentials import POD, WIRE, anything, serving

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.scripted

_IN_A_POD = """
import asyncio, sys
from pathlib import Path
import dglop.cli.operator
from dglop.runtime.client import Client, ClientConfig
async def main():
    async with await Client.connect(ClientConfig(service_account=Path(sys.argv[1]))) as client:
        print(client.host, client.namespace)
asyncio.run(main())
print(*sorted({"kubernetes", "requests", "urllib3", "websocket"} & set(sys.modules)))
"""


@pytest.fixture
def contexts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every TLS context that is made from here on."""
    made: list[Any] = []
    original = ssl.create_default_context

    def create(*arguments: Any, **named: Any) -> ssl.SSLContext:
        made.append((arguments, named))
        return original(*arguments, **named)

    monkeypatch.setattr(ssl, "create_default_context", create)
    return made


async def use(config: ClientConfig) -> None:
    async with await Client.connect(config) as client:
        await client.get(POD, "a")
        assert [line async for line in client.stream("/w", query={"watch": "true"}, read_idle=9)] == [b"1"]


async def test_requests_and_watches_share_one_reading_of_the_authorities(
    tmp_path: Path, contexts: list[Any]
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca")
    async with ScriptedServer(tls=serving(authority)) as server:
        server.watches(stream(b"1\n", then="end"))
        server.on(anything, answer(WIRE))
        await use(ClientConfig(host=server.url, ca_file=tmp_path / "ca"))
    assert len(contexts) == 1


async def test_without_tls_no_authorities_are_read(server: ScriptedServer, contexts: list[Any]) -> None:
    server.watches(stream(b"1\n", then="end"))
    server.on(anything, answer(WIRE))
    await use(ClientConfig(host=server.url))
    assert contexts == []


def test_the_operator_starts_in_a_pod_without_loading_the_official_client(tmp_path: Path) -> None:
    """Its import costs half a second and 11 MB, and a pod has no kubeconfig to be read with it."""
    trustme.CA().cert_pem.write_to_path(tmp_path / "ca.crt")
    (tmp_path / "token").write_text("t")
    (tmp_path / "namespace").write_text("mine")
    env = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443", "PYTHONPATH": "src"}
    done = subprocess.run(
        [sys.executable, "-c", _IN_A_POD, str(tmp_path)], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["https://10.0.0.1:443 mine", ""]
