# SPDX-License-Identifier: Apache-2.0
"""A running Manager with all three kinds, limited to two namespaces of the test's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio

from dglop.cli.operator import add_kinds
from dglop.cli.settings import ProgramSettings
from dglop.runtime.client import ClientConfig
from dglop.runtime.crdinstall import install_crds
from dglop.runtime.manager import Manager
from test.envtest.kinds.world import KINDS, KindsWorld

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest


@pytest_asyncio.fixture
async def kinds_world(server: Envtest, client: Client, namespace: str) -> AsyncIterator[KindsWorld]:
    other = f"{namespace}-other"
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": other}})
    settings = ProgramSettings(
        kinds=list(KINDS),
        namespace=f"{namespace},{other}",
        leader_election_namespace=namespace,
        metrics_bind="0",
        health_bind="0",
        progress_bind="0",
    )
    manager = Manager(settings, config=ClientConfig(kubeconfig=str(server.kubeconfig)))
    add_kinds(manager, settings)
    await install_crds(client, KINDS.values(), manager.clock)
    async with manager:
        yield KindsWorld(manager, client, (namespace, other))
