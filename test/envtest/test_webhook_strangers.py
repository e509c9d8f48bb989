# SPDX-License-Identifier: Apache-2.0
"""An API server that shows a certificate to webhooks, and asks one whose tokens are."""

from __future__ import annotations

import io
import json
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import trustme
import yaml

from dglop import Manager, Settings
from dglop.errors import ForbiddenError, UnauthorizedError
from dglop.runtime.access import User
from dglop.runtime.api import Resource
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.clock import SystemClock
from dglop.runtime.log import make_log
from dglop.runtime.webhook import AdmissionContext, DeniedError, UrlTarget, install_webhooks
from dglop.testing.certificates import ServingCertificates
from dglop.testing.envtest import Envtest

from .hooked_kinds import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

MAP = Resource("", "v1", "ConfigMap", "configmaps")
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def refuse_secrets(page: dict[str, Any], ctx: AdmissionContext[dict[str, Any]]) -> None:
    if "password" in (page.get("data") or {}):
        raise DeniedError("passwords belong into a Secret")


async def who(token: str, audiences: Sequence[str]) -> User | None:
    return User("ann", "7", ("dev",), {"example.dev/scopes": ["all"]}) if token == "t-ann" else None


class World:
    """A Manager whose webhooks want a certificate, and the files that give an API server one."""

    def __init__(self, server: Envtest, folder: Path) -> None:
        self.folder = folder
        self.certificates = ServingCertificates(folder)
        self.clients = trustme.CA()
        self.clients.cert_pem.write_to_path(folder / "clients.crt")
        settings = Settings(
            metrics_bind="0",
            health_bind="0",
            webhook_bind="127.0.0.1:0",
            webhook_cert_path=str(folder),
            webhook_client_ca=str(folder / "clients.crt"),
        )
        log = make_log(level="error", stream=io.StringIO())
        self.manager = Manager(settings, config=ClientConfig(kubeconfig=str(server.kubeconfig)), log=log)
        self.manager.webhook(MAP, validate=refuse_secrets)
        self.manager.webhooks.authentication(who)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.manager.ports['webhook']}"

    def flags(self) -> tuple[str, ...]:
        """What makes an API server ask this Manager about tokens, and show it a certificate."""
        leaf = self.clients.issue_cert("apiserver@example.dev")
        leaf.private_key_and_cert_chain_pem.write_to_path(self.folder / "client.pem")
        user = {name: str(self.folder / "client.pem") for name in ("client-certificate", "client-key")}
        # The admission plugins look for the user by the address, the authenticator by the context.
        self._write("hooks.yaml", self._kubeconfig({"name": self.address, "user": user}))
        self._write("tokens.yaml", self._kubeconfig({"name": "us", "user": user}))
        head = {"apiVersion": "apiserver.config.k8s.io/v1"}
        hooks = {"kind": "WebhookAdmissionConfiguration", "kubeConfigFile": str(self.folder / "hooks.yaml")}
        plugins = [{"name": "ValidatingAdmissionWebhook", "configuration": {**head, **hooks}}]
        self._write("admission.yaml", {**head, "kind": "AdmissionConfiguration", "plugins": plugins})
        return (
            f"--admission-control-config-file={self.folder / 'admission.yaml'}",
            f"--authentication-token-webhook-config-file={self.folder / 'tokens.yaml'}",
            "--authentication-token-webhook-version=v1",
        )

    def _kubeconfig(self, user: dict[str, Any]) -> dict[str, Any]:
        url = f"https://{self.address}/authenticate"
        cluster = {"server": url, "certificate-authority": str(self.folder / "ca.crt")}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "us",
            "clusters": [{"name": "us", "cluster": cluster}],
            "users": [user],
            "contexts": [{"name": "us", "context": {"cluster": "us", "user": user["name"]}}],
        }

    def _write(self, name: str, content: dict[str, Any]) -> None:
        (self.folder / name).write_text(yaml.safe_dump(content))


@asynccontextmanager
async def strange(world: World, server: Envtest) -> AsyncIterator[tuple[Envtest, Client]]:
    """An API server of the test's own that knows the Manager."""
    async with (
        Envtest(assets=server.assets, extra_args=world.flags()) as running,
        await Client.connect(ClientConfig(kubeconfig=str(running.kubeconfig))) as client,
    ):
        yield running, client


async def _is_refused(client: Client) -> bool:
    page = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}
    try:
        await client.create({**page, "data": {"password": "1234"}}, dry_run=True)
    except ForbiddenError as error:
        return "passwords belong into a Secret" in error.message
    return False


async def _self(server: Envtest, token: str) -> dict[str, Any]:
    """Who the API server says that *token* is."""
    body = json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).encode()
    config = ClientConfig(kubeconfig=str(server.kubeconfig_for(token, "somebody")))
    async with await Client.connect(config) as client:
        info: dict[str, Any] = json.loads(await client.raw("POST", REVIEWS, body=body))["status"]["userInfo"]
    return info


async def test_an_api_server_with_a_certificate_is_answered_and_nobody_else(
    server: Envtest, tmp_path: Path
) -> None:
    world = World(server, tmp_path)
    async with world.manager, strange(world, server) as (running, client):
        target = UrlTarget(f"https://{world.address}")
        await install_webhooks(
            client,
            world.manager.webhooks,
            target,
            SystemClock(),
            name="pages",
            ca_bundle=world.certificates.ca_bundle,
        )
        await until(lambda: _is_refused(client))
        info = await _self(running, "t-ann")
        assert (info["username"], info["uid"], info["extra"]) == ("ann", "7", {"example.dev/scopes": ["all"]})
        assert set(info["groups"]) == {"dev", "system:authenticated"}
        with pytest.raises(UnauthorizedError):
            await _self(running, "t-eve")
        context = ssl.create_default_context(cadata=world.certificates.ca_bundle.decode())
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session:
            with pytest.raises((aiohttp.ClientError, OSError)):
                await session.post(f"https://{world.address}/authenticate", json={})
