# SPDX-License-Identifier: Apache-2.0
"""A server of its own with Kueue beside it, a queue for each test, and a Manager that queues jobs."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from dglop.common import JobReconciler
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.crdinstall import install_crds
from dglop.runtime.manager import Manager
from dglop.runtime.settings import Settings
from dglop.testing.envtest import Envtest, EnvtestAssets
from dglop.testing.toyjob import ToyJob, ToyJobKind
from hack.kueue import kueue_running
from test.envtest.kueue.queues import make_queues
from test.envtest.kueue.world import QueueWorld

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from test.envtest.kueue.queues import Queues


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "test/envtest/kueue/" in item.nodeid:
            # A bare pytest run builds Kueue before the first of them, which takes minutes.
            item.add_marker(pytest.mark.timeout(1800))


@contextlib.asynccontextmanager
async def _with_kueue(folder: Path) -> AsyncIterator[Envtest]:
    async with Envtest(assets=EnvtestAssets.find()) as server:
        config = ClientConfig(kubeconfig=str(server.kubeconfig))
        async with await Client.connect(config) as client:
            kinds = ["TestJob.v1.example.dev", "DGLJob.v1alpha1.kubeflow.org"]
            kinds += ["PyTorchJob.v1.kubeflow.org", "MPIJob.v2beta1.kubeflow.org"]
            async with kueue_running(client, server.kubeconfig, folder, kinds=kinds):
                yield server


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Envtest]:
    """Not the server of the other tests: Kueue's webhooks would be asked there too."""
    with asyncio.Runner() as runner:
        running = _with_kueue(tmp_path_factory.mktemp("kueue"))
        envtest = runner.run(running.__aenter__())
        try:
            yield envtest
        finally:
            runner.run(running.__aexit__(None, None, None))


@pytest_asyncio.fixture
async def queues(client: Client, namespace: str) -> Queues:
    """A queue of four cores in two flavors."""
    return await make_queues(client, namespace)


@pytest_asyncio.fixture
async def world(server: Envtest, client: Client, namespace: str) -> AsyncIterator[QueueWorld]:
    settings = Settings(namespace=namespace, metrics_bind="0", health_bind="0")
    manager = Manager(settings, config=ClientConfig(kubeconfig=str(server.kubeconfig)))
    await install_crds(client, [ToyJob], manager.clock)
    manager.controller(ToyJob, JobReconciler(ToyJobKind(), kueue=True), concurrency=4)
    async with manager:
        yield QueueWorld(manager, client, namespace)
