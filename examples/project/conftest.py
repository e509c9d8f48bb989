# SPDX-License-Identifier: Apache-2.0
"""The fixtures cluster and client, and the option --cluster."""

from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from kubernetes.aio.client import V1Namespace, V1ObjectMeta, V1Secret
from parts import SHARED
from project import register

from dglop import AlreadyExistsError, Client, Manager
from dglop.testing import TestCluster

pytest_plugins = ["dglop.testing.plugin"]


@pytest.fixture
def all_namespaces() -> bool:
    """A project's parts are in a namespace of its own, not in the test's."""
    return True


@pytest.fixture
async def client(cluster: TestCluster, manager: Manager) -> AsyncIterator[Client]:
    """A user's client while the operator runs; `shared` is there."""
    register(manager)
    user = cluster.client.with_field_manager("kubectl")
    with suppress(AlreadyExistsError):
        await user.create(V1Namespace(metadata=V1ObjectMeta(name=SHARED)))
    await cluster.settle()
    yield user
    await user.delete_all_of(V1Secret, SHARED)  # a real API server keeps them for the next test
    await cluster.settle()
