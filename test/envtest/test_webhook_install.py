# SPDX-License-Identifier: Apache-2.0
"""A Manager that leads the real API server to its webhooks by itself, with the rights made for that."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import socket
from typing import TYPE_CHECKING

import aiohttp
import pytest

from dglop import Context, Manager, Settings
from dglop.errors import ApiError, InvalidError
from dglop.runtime.api import Resource
from dglop.runtime.client import ClientConfig
from dglop.runtime.clock import SystemClock
from dglop.runtime.log import make_log
from dglop.runtime.webhook.install import CRD, MUTATING, VALIDATING
from dglop.testing.certificates import ServingCertificates

from .hooked_kinds import (
    ALPHA,
    CRD_NAME,
    Alpha,
    AlphaSpec,
    Beta,
    BetaSpec,
    Judge,
    default_tone,
    remove_hooked,
    until,
)

if TYPE_CHECKING:
    from pathlib import Path

    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest

ACCOUNT = Resource("", "v1", "ServiceAccount", "serviceaccounts")


class HurriedClock(SystemClock):
    """Looks at files and discovery again at once; what has a deadline keeps it."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 100)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


async def account(server: Envtest, client: Client, namespace: str, name: str) -> ClientConfig:
    """A service account, and the way to be it."""
    head = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}
    await client.create(head)
    answer = await client.in_namespace(namespace).subresource(ACCOUNT, "token").create(name)
    return ClientConfig(kubeconfig=str(server.kubeconfig_for(answer["status"]["token"], name)))


class World:
    """A Manager with a controller, webhooks and a conversion, under an account of its own."""

    def __init__(self, config: ClientConfig, folder: Path, client: Client, namespace: str) -> None:
        self.certificates = ServingCertificates(folder)
        self.client, self.namespace = client, namespace
        self.out = io.StringIO()
        self.texts: asyncio.Queue[str] = asyncio.Queue()
        port = free_port()
        settings = Settings(
            metrics_bind="0",
            health_bind="127.0.0.1:0",
            webhook_bind=f"127.0.0.1:{port}",
            webhook_target=f"https://127.0.0.1:{port}",
            webhook_cert_path=str(folder),
            install_crds=True,
        )
        log = make_log(format_="json", stream=self.out)
        self.manager = Manager(settings, name="speaker", config=config, log=log, clock=HurriedClock())
        self.manager.controller(Alpha, self.reconcile)
        self.manager.webhook(Beta, default=default_tone, validate=Judge())
        self.manager.conversion(Beta, ALPHA)

    async def reconcile(self, obj: Alpha, ctx: Context) -> None:
        self.texts.put_nowait(obj.spec.text)

    async def is_asked(self) -> bool:
        rude = Alpha(name="probe", namespace=self.namespace, spec=AlphaSpec(text="FOOL"))
        try:
            await self.client.create(rude, dry_run=True)
        except InvalidError as error:
            return "must be polite" in error.message
        except ApiError:
            pass
        return False

    async def bundles(self) -> set[bytes]:
        """What the API server is told to trust, in all three places."""
        found = []
        for resource in (MUTATING, VALIDATING):
            configuration = await self.client.get(resource, "speaker")
            found += [each["clientConfig"]["caBundle"] for each in configuration["webhooks"]]
        crd = await self.client.get(CRD, CRD_NAME)
        found.append(crd["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"])
        return {base64.b64decode(each) for each in found}

    async def readiness(self) -> tuple[int, str]:
        url = f"http://127.0.0.1:{self.manager.ports['health']}/readyz/webhook"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            return answer.status, await answer.text()

    def count(self, path: str) -> float:
        """How many requests of the API server were answered at *path*, by controller-runtime's metric."""
        labels = {"webhook": path, "code": "200"}
        name = "controller_runtime_webhook_requests_total"
        return self.manager.metrics.registry.get_sample_value(name, labels) or 0

    async def remove(self) -> None:
        """Leave the API server as it was; objects go while they can still be converted."""
        await remove_hooked(self.client, "speaker")


async def test_it_installs_what_leads_to_it_and_follows_a_new_authority(
    server: Envtest, client: Client, namespace: str, tmp_path: Path
) -> None:
    config = await account(server, client, namespace, "speaker")
    world = World(config, tmp_path, client, namespace)
    for manifest in world.manager.rights(namespace):
        await client.apply(manifest)
    async with world.manager:
        await until(world.is_asked)
        made = await client.create(Beta(name="a", namespace=namespace, spec=BetaSpec(words=["dear", "all"])))
        assert made.spec.tone == "kind"
        assert await world.texts.get() == "dear all"
        assert await world.bundles() == {world.certificates.ca_bundle}
        world.certificates.renew_authority()

        async def follows() -> bool:
            return await world.bundles() == {world.certificates.ca_bundle}

        await until(follows)
        await until(world.is_asked)
        await client.create(Alpha(name="b", namespace=namespace, spec=AlphaSpec(text="still here")))
        while await world.texts.get() != "still here":
            pass
        assert await world.readiness() == (200, "ok")
        await world.remove()
    assert min(world.count(path) for path in world.manager.webhooks.paths) > 0
    told = [json.loads(line) for line in world.out.getvalue().splitlines()]
    assert [line["msg"] for line in told if line["level"] == "error"] == []
    for manifest in world.manager.rights(namespace):
        await client.delete(manifest, manifest["metadata"]["name"], manifest["metadata"].get("namespace"))


async def test_without_the_rights_to_install_it_says_what_is_missing(
    server: Envtest, client: Client, namespace: str, tmp_path: Path
) -> None:
    config = await account(server, client, namespace, "nobody")
    world = World(config, tmp_path, client, namespace)
    with pytest.raises(ApiError, match="cannot patch resource"):
        await world.manager.start()
