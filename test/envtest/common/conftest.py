# SPDX-License-Identifier: Apache-2.0
"""A running Manager with the TestJob kind, limited to the test's namespace."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest_asyncio

from dglop.common import JobReconciler
from dglop.runtime.client import ClientConfig
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from dglop.runtime.manager import Manager
from dglop.runtime.settings import Settings
from dglop.testing.clock import ManualClock
from dglop.testing.toyjob import ToyJob, ToyJobKind
from test.envtest.common.case_world import Cases, control_both
from test.envtest.common.clocked import ClockedCases, Said
from test.envtest.common.world import World
from test.wire import Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest


@pytest_asyncio.fixture
async def world(server: Envtest, client: Client, namespace: str) -> AsyncIterator[World]:
    settings = Settings(namespace=namespace, metrics_bind="0", health_bind="0")
    manager = Manager(settings, config=ClientConfig(kubeconfig=str(server.kubeconfig)))
    await install_crds(client, [ToyJob], manager.clock)
    manager.controller(ToyJob, JobReconciler(ToyJobKind()), concurrency=4)
    async with manager:
        yield World(manager, client, namespace)


@pytest_asyncio.fixture
async def cases(server: Envtest, client: Client, namespace: str) -> AsyncIterator[Cases]:
    settings = Settings(namespace=namespace, metrics_bind="0", health_bind="0")
    config, wire = ClientConfig(kubeconfig=str(server.kubeconfig)), Wire()
    manager = Manager(settings, config=config, client=client.intercepted(wire.carry))
    await install_crds(client, [ToyJob], manager.clock)
    control_both(manager)
    async with manager:
        yield Cases(manager, client, namespace, wire)


@pytest_asyncio.fixture
async def timed(server: Envtest, client: Client, namespace: str) -> AsyncIterator[ClockedCases]:
    settings = Settings(namespace=namespace, metrics_bind="0", health_bind="0")
    config, wire, said = ClientConfig(kubeconfig=str(server.kubeconfig)), Wire(), Said()
    clock = ManualClock(datetime.now(UTC))  # near the server's, which stamps what is created
    manager = Manager(
        settings, config=config, client=client.intercepted(wire.carry), clock=clock, log=said.log
    )
    await install_crds(client, [ToyJob], SystemClock())
    control_both(manager)
    async with manager:
        yield ClockedCases(manager, client, namespace, wire, said=said)
