# SPDX-License-Identifier: Apache-2.0
"""The fixtures cluster and client, and the option --cluster."""

from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from kubernetes.aio.client import (
    V1Namespace,
    V1NetworkPolicy,
    V1ObjectMeta,
    V1ResourceQuota,
    V1RoleBinding,
    V1Secret,
)
from parts import SHARED
from project import register

from dglop import CacheOptions, Client, KindOptions, Selection
from dglop.errors import AlreadyExistsError
from dglop.runtime.cache import ALL_NAMESPACES
from dglop.testing import TestCluster

pytest_plugins = ["dglop.testing.plugin"]

# On a real API server a test has one namespace, to which Managers are bound unless a kind says otherwise.
EVERYWHERE = KindOptions(namespaces={ALL_NAMESPACES: Selection()})
KINDS = (V1Secret, V1ResourceQuota, V1RoleBinding, V1NetworkPolicy)


@pytest.fixture
async def client(cluster: TestCluster) -> AsyncIterator[Client]:
    """A client for all namespaces while the operator runs; `shared` is there."""
    manager = cluster.manager(cache=CacheOptions(kinds=dict.fromkeys(KINDS, EVERYWHERE)))
    register(manager)
    async with manager:
        user = manager.client.with_field_manager("kubectl")
        with suppress(AlreadyExistsError):
            await user.create(V1Namespace(metadata=V1ObjectMeta(name=SHARED)))
        await cluster.settle()
        yield user
        await user.delete_all_of(V1Secret, SHARED)  # a real API server keeps them for the next test
        await cluster.settle()
