# SPDX-License-Identifier: Apache-2.0
"""One real API server for all envtest tests, with our CRDs, and a namespace for each of them."""

from __future__ import annotations

import asyncio
import os
import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
import yaml

from dglop.runtime.api import Resource
from dglop.runtime.client import Client, ClientConfig
from dglop.testing import EnvtestCluster
from dglop.testing.envtest import Envtest, EnvtestAssets
from dglop.testing.plugin import all_namespaces, manager
from test.envtest.audit import AuditLog
from test.envtest.underrights import STRICT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

__all__ = ("all_namespaces", "manager")

_ROOT = Path(__file__).resolve().parents[2]
_CRD = Resource(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False
)
_NAMESPACE = Resource("", "v1", "Namespace", "namespaces", namespaced=False)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "test/envtest/" in item.nodeid:
            item.add_marker(pytest.mark.envtest)


def _assets() -> EnvtestAssets:
    """`make test` names the folder; a bare pytest run builds it."""
    if "KUBEBUILDER_ASSETS" not in os.environ:
        from hack import stack
        from hack.cluster.report import choose_report

        os.environ["KUBEBUILDER_ASSETS"] = str(stack.envtest_assets(choose_report()))
    return EnvtestAssets.find()


async def install_crds(server: Envtest) -> None:
    """The shipped CRDs, established."""
    async with await Client.connect(ClientConfig(kubeconfig=str(server.kubeconfig))) as client:
        names = []
        for path in sorted((_ROOT / "config" / "crd" / "bases").glob("*.yaml")):
            manifest = yaml.safe_load(path.read_text())
            names.append(manifest["metadata"]["name"])
            await client.create(manifest)
        for name in names:
            await _established(client, name)


async def _established(client: Client, name: str) -> None:
    while True:
        crd = await client.get(_CRD, name)
        conditions = {each["type"]: each["status"] for each in crd.get("status", {}).get("conditions") or []}
        if conditions.get("Established") == "True":
            return
        await asyncio.sleep(0.05)


@pytest.fixture(scope="session")
def server() -> Iterator[Envtest]:
    """The API server, with the shipped CRDs established."""
    with asyncio.Runner() as runner:
        envtest = Envtest(assets=_assets())
        runner.run(envtest.__aenter__())
        try:
            runner.run(install_crds(envtest))
            yield envtest
        finally:
            runner.run(envtest.__aexit__(None, None, None))


@pytest.fixture
def audit(tmp_path: Path) -> AuditLog:
    return AuditLog(tmp_path)


@pytest_asyncio.fixture
async def strict(server: Envtest, audit: AuditLog) -> AsyncIterator[Envtest]:
    """A server of the test's own, which takes down what it was asked for."""
    async with Envtest(assets=server.assets, extra_args=(*STRICT, *audit.flags)) as running:
        await install_crds(running)
        yield running


@pytest_asyncio.fixture
async def client(server: Envtest) -> AsyncIterator[Client]:
    async with await Client.connect(ClientConfig(kubeconfig=str(server.kubeconfig))) as opened:
        yield opened


@pytest_asyncio.fixture
async def cluster(server: Envtest, all_namespaces: bool) -> AsyncIterator[EnvtestCluster]:
    async with EnvtestCluster(server, all_namespaces=all_namespaces) as opened:
        yield opened


@pytest_asyncio.fixture
async def namespace(client: Client, request: pytest.FixtureRequest) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_").lower())[:40].strip("-")
    name = f"{words}-{uuid.uuid4().hex[:5]}"
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name
