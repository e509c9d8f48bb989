# SPDX-License-Identifier: Apache-2.0
"""Jobs that a server stores and nobody can read: each ends as InvalidSpec, and the others go on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest_asyncio

from dglop.common import JobReconciler
from dglop.common.constants import POD
from dglop.dgljob import DGLJob, DGLJobKind, KindOptions, Tokens
from dglop.runtime.api import Resource, crd_manifest
from dglop.testing import Envtest, EnvtestCluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop.testing import TestCluster

PLAIN = Resource("kubeflow.org", "v1alpha1", "DGLJob", "dgljobs")
KIND = DGLJobKind(KindOptions(Tokens(b"k" * 32), "operator:test"))
LEVELS = 9000
WORKER = {"spec": {"containers": [{"name": "dgl", "image": "i", "command": ["c"]}]}}


def wire(cluster: TestCluster, name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": PLAIN.api_version,
        "kind": PLAIN.kind,
        "metadata": {"name": name, "namespace": cluster.namespace},
        "spec": {"dglReplicaSpecs": {"Worker": {"replicas": 1, "template": WORKER}}, **spec},
    }


@pytest_asyncio.fixture
async def own_cluster(server: Envtest) -> AsyncIterator[EnvtestCluster]:
    """A cluster whose CRDs the test may change."""
    async with Envtest(assets=server.assets) as own, EnvtestCluster(own) as cluster:
        await cluster.install(DGLJob)
        yield cluster


async def check_ended(cluster: TestCluster, name: str, message: str) -> None:
    """A Manager that starts now ends the job, and begins another one."""
    await cluster.client.create(wire(cluster, "other", dataset={"name": "karate"}))
    manager = cluster.manager()
    manager.controller(DGLJob, JobReconciler(KIND))
    async with manager:
        await cluster.settle()
        raw = await cluster.client.raw("GET", f"{PLAIN.path(cluster.namespace, name)}/status")
        # Read in this way, since the whole of it cannot be.
        ended = json.loads(raw.partition(b'"status":')[2].rpartition(b"}")[0])
        assert [each["reason"] for each in ended["conditions"] if each["type"] == "Failed"] == ["InvalidSpec"]
        assert any(message in each["message"] for each in ended["conditions"])
        assert await cluster.client.list(POD, cluster.namespace)
        assert any(f"InvalidSpec DGLJob/{name}" in each for each in cluster.events)


async def test_a_job_that_is_nested_too_deep_ends_and_the_operator_goes_on(
    own_cluster: EnvtestCluster,
) -> None:
    deep = b'{"a":' * LEVELS + b"1" + b"}" * LEVELS
    hole = {"here": "goes the deep part"}
    job = wire(own_cluster, "deep")
    job["spec"]["dglReplicaSpecs"]["Worker"]["template"] = {**WORKER, "extra": hole}
    body = json.dumps(job).encode().replace(json.dumps(hole).encode(), deep)
    await own_cluster.client.raw("POST", PLAIN.path(own_cluster.namespace), body=body)
    await check_ended(own_cluster, "deep", "nested deeper than Python decodes")


async def test_a_quantity_that_was_stored_before_it_was_checked_ends_its_job(
    own_cluster: EnvtestCluster,
) -> None:
    crd = crd_manifest(DGLJob)
    for version in crd["spec"]["versions"]:
        del version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["shmSize"]["pattern"]
    await own_cluster.client.apply(crd)
    await own_cluster.client.create(wire(own_cluster, "odd", shmSize="abc"))
    await own_cluster.install(DGLJob)
    await check_ended(own_cluster, "odd", "shmSize")
