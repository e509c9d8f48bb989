# SPDX-License-Identifier: Apache-2.0
"""A Manager under the very rights that were generated for it, and no others."""

from __future__ import annotations

import asyncio
import io
from typing import TYPE_CHECKING, Any

import pytest

from dglop import Context, CustomResource, Manager, Rule, Settings, Spec, Status, needs
from dglop.errors import ForbiddenError
from dglop.runtime.api import Resource
from dglop.runtime.cache import CacheOptions
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from dglop.runtime.log import make_log

if TYPE_CHECKING:
    from dglop.testing.envtest import Envtest

MAP = Resource("", "v1", "ConfigMap", "configmaps")
SECRET = Resource("", "v1", "Secret", "secrets")
ACCOUNT = Resource("", "v1", "ServiceAccount", "serviceaccounts")
LEASE = Resource("coordination.k8s.io", "v1", "Lease", "leases")


class Notice(CustomResource[Spec, Status], group="test.dglop.dev", version="v1"):
    """A notice."""


async def _manager_of_its_own_account(server: Envtest, here: Client, namespace: str, limit: str) -> Manager:
    await here.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "noticer"}})
    answer = await here.subresource(ACCOUNT, "token").create("noticer")
    kubeconfig = server.kubeconfig_for(answer["status"]["token"], f"noticer-{limit}")
    settings = Settings(
        metrics_bind="0",
        health_bind="0",
        leader_elect=True,
        leader_election_namespace=namespace,
        namespace=namespace if limit == "namespace" else "",
    )
    config = ClientConfig(kubeconfig=str(kubeconfig))
    log = make_log(level="error", stream=io.StringIO())
    cache = CacheOptions(namespaces=(namespace,)) if limit == "cache" else None
    return Manager(settings, name="noticer", config=config, cache=cache, log=log)


@pytest.mark.parametrize("limit", ["none", "cache", "namespace"])
async def test_the_generated_rights_are_enough_and_no_more(
    server: Envtest, client: Client, namespace: str, limit: str
) -> None:
    done: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    @needs(Rule.of(MAP, "create", "patch"))
    async def reconcile(notice: Notice, ctx: Context) -> None:
        page: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": notice.name}}
        await ctx.apply(page, owner=notice)
        notice.status.set("Ready", True, reason="Shown", now=ctx.now())
        try:
            await ctx.client.get(SECRET, "none", notice.namespace)
        except ForbiddenError as error:
            if not done.done():
                done.set_result(error)

    await install_crds(client, [Notice], SystemClock())
    here = client.in_namespace(namespace)
    manager = await _manager_of_its_own_account(server, here, namespace, limit)
    manager.controller(Notice, reconcile, owns=[MAP])
    manifests = manager.rights(namespace)
    for manifest in manifests:
        await client.apply(manifest)
    wide = [each for each in manifests if each["kind"] == "ClusterRole"]
    assert len(wide) == (0 if limit == "namespace" else 1)
    # What it writes is declared for everywhere; what it reads follows from where it looks.
    assert ("list" in str(wide)) is (limit == "none")
    await here.create(Notice(name="n", spec=Spec()))
    async with manager:
        refused = await done
        assert "secrets" in str(refused)
        await manager.controllers[0].queue.wait_idle()
    assert (await here.get(Notice, "n")).status.is_true("Ready")
    assert (await here.get(MAP, "n"))["metadata"]["ownerReferences"][0]["name"] == "n"
    assert (await here.get(LEASE, "noticer"))["spec"]["holderIdentity"] in ("", None)
    for manifest in manifests:
        await client.delete(manifest, manifest["metadata"]["name"], manifest["metadata"].get("namespace"))
