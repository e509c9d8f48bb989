# SPDX-License-Identifier: Apache-2.0
"""What `dglop manifests` prints is taken by a real API server, and enough for the program to work with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop import ClientConfig, FieldValidation, Manager, Settings
from dglop.runtime.api import Resource
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from dglop.runtime.installing import install_manifests
from dglop.testing import EnvtestCluster
from examples.quickstart.website import Website, WebsiteSpec, register

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.testing import Envtest

_ACCOUNT = Resource("", "v1", "ServiceAccount", "serviceaccounts")


async def test_the_program_works_with_what_was_printed_for_it(server: Envtest, client: Client) -> None:
    home, flags = "website-system", ["--namespace", "website-work", "--leader-elect"]
    settings = Settings(metrics_bind="0", health_bind="0").with_flags(flags)
    planned = Manager(settings, name="website")
    register(planned)
    async with EnvtestCluster(server, namespace="website-work") as work:
        strict = client.with_validation(FieldValidation.STRICT)
        for wire in install_manifests(planned, home=home, image="registry.example/website:1", flags=flags):
            await strict.apply(wire)
        await install_crds(client, [Website], SystemClock())  # waits until it is served
        token = await client.in_namespace(home).subresource(_ACCOUNT, "token").create("website")
        kubeconfig = server.kubeconfig_for(token["status"]["token"], "website", home)
        manager = Manager(settings, name="website", config=ClientConfig(kubeconfig=str(kubeconfig)))
        register(manager)
        async with manager:
            await manager.elected.wait()
            await work.client.create(Website(name="home", spec=WebsiteSpec(page="x")))
            while not (await work.client.get(Website, "home")).status.get("Ready"):
                await SystemClock().sleep(0.05)
        pages = await work.client.list("deployments")
        assert [each["metadata"]["name"] for each in pages] == ["home"]
        deployed = await client.get("deployments", "website", home)
        assert deployed["spec"]["template"]["spec"]["containers"][0]["args"] == flags
