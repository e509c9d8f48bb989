# SPDX-License-Identifier: Apache-2.0
"""Credential plugins as the official loader runs them, and what `runtime/client/kubeconfig.py` adds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from test.unit.contract.facts import relied_on, stood_in
from test.unit.contract.kubeconfigs import load, plugin, write

if TYPE_CHECKING:
    from pathlib import Path

READ = "runtime/client/kubeconfig.py: read_kubeconfig"
ENDPOINT = "runtime/client/kubeconfig.py: _endpoint"
UNTIL = datetime(2099, 1, 2, 3, 4, 5, tzinfo=UTC)


async def test_a_plugins_token_is_the_authorization_header(tmp_path: Path) -> None:
    path = write(tmp_path / "config", user=plugin(tmp_path, {"token": "fresh"}))
    with relied_on("a plugin is run at load, and its token is api_key['BearerToken']", by=ENDPOINT):
        configuration, _ = await load(path)
        assert configuration.api_key["BearerToken"] == "Bearer fresh"


async def test_the_loader_knows_when_a_plugins_token_expires(tmp_path: Path) -> None:
    said = {"token": "fresh", "expirationTimestamp": UNTIL.isoformat().replace("+00:00", "Z")}
    path = write(tmp_path / "config", user=plugin(tmp_path, said))
    with relied_on("the loader's exec_plugin_expiry is the end of the token, with its zone", by=READ):
        _, loader = await load(path)
        assert loader.exec_plugin_expiry - UNTIL == timedelta()
        assert loader.exec_plugin_expiry.utcoffset() == timedelta()


async def test_without_an_end_there_is_no_expiry(tmp_path: Path) -> None:
    path = write(tmp_path / "config", user=plugin(tmp_path, {"token": "fresh"}))
    with relied_on("a loader whose token has no end has no exec_plugin_expiry, or None", by=READ):
        _, loader = await load(path)
        assert getattr(loader, "exec_plugin_expiry", None) is None


async def test_a_plugins_certificates_become_files(tmp_path: Path) -> None:
    said = {"clientCertificateData": "CERT", "clientKeyData": "KEY"}
    path = write(tmp_path / "config", user=plugin(tmp_path, said))
    with relied_on("a plugin's certificate and key are files, and no token is made up", by=ENDPOINT):
        configuration, _ = await load(path)
        with open(configuration.cert_file, encoding="utf-8") as cert:  # noqa: ASYNC230, PTH123 - a line
            assert cert.read() == "CERT"
        assert configuration.key_file
        assert configuration.api_key.get("BearerToken") is None


async def test_a_plugin_is_told_what_is_asked_of_it(tmp_path: Path) -> None:
    user = plugin(tmp_path, {"token": "fresh"})
    program = tmp_path / "plugin"
    program.write_text(program.read_text().replace("cat", 'echo "$KUBERNETES_EXEC_INFO" > "$0.info"\ncat', 1))
    with relied_on("a plugin gets KUBERNETES_EXEC_INFO, with the version that it is to answer in", by=READ):
        await load(write(tmp_path / "config", user=user))
        assert "client.authentication.k8s.io/v1" in (tmp_path / "plugin.info").read_text()


async def test_a_plugin_that_fails_is_not_told_to_the_caller(tmp_path: Path) -> None:
    path = write(tmp_path / "config", user=plugin(tmp_path, None, code=1))
    with stood_in("a plugin that fails is logged only, and the load goes on without credentials", by=READ):
        configuration, _ = await load(path)
        assert configuration.api_key.get("BearerToken") is None


async def test_nobody_renews_a_plugins_token(tmp_path: Path) -> None:
    path = write(tmp_path / "config", user=plugin(tmp_path, {"token": "fresh"}))
    with stood_in(
        "no hook renews a plugin's token before a request", by="runtime/client/transport.py: is_expired"
    ):
        configuration, _ = await load(path)
        assert configuration.refresh_api_key_hook is None
