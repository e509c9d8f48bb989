# SPDX-License-Identifier: Apache-2.0
"""Managers with gang scheduling turned on, limited to the test's namespace."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest_asyncio

from dglop.common import JobReconciler
from dglop.common.gang import SchedulerPlugins, Volcano
from dglop.runtime.client import ClientConfig
from dglop.runtime.crdinstall import install_crds
from dglop.runtime.manager import Manager
from dglop.runtime.settings import Settings
from dglop.testing.toyjob import ToyJob, ToyJobKind
from hack.crds import SCHEDULER_PLUGINS, VOLCANO, crds_of
from test.envtest.gang.world import GangWorld

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop.common.gang import GangScheduler
    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest
    from hack.crds import Source


@pytest_asyncio.fixture
async def volcano(server: Envtest, client: Client, namespace: str) -> AsyncIterator[GangWorld]:
    async with _running(Volcano(), VOLCANO, server, client, namespace) as world:
        yield world


@pytest_asyncio.fixture
async def scheduler_plugins(server: Envtest, client: Client, namespace: str) -> AsyncIterator[GangWorld]:
    async with _running(SchedulerPlugins(), SCHEDULER_PLUGINS, server, client, namespace) as world:
        yield world


@asynccontextmanager
async def _running(
    scheduler: GangScheduler, source: Source, server: Envtest, client: Client, namespace: str
) -> AsyncIterator[GangWorld]:
    settings = Settings(namespace=namespace, metrics_bind="0", health_bind="0")
    manager = Manager(settings, config=ClientConfig(kubeconfig=str(server.kubeconfig)))
    crds = crds_of(source, print)
    await install_crds(client, [ToyJob], manager.clock, manifests=crds)
    manager.controller(ToyJob, JobReconciler(ToyJobKind(), gang=scheduler), concurrency=4)
    async with manager:
        world = GangWorld(scheduler, manager, client, namespace)
        world.hear_of_groups()
        yield world
