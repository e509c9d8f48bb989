# SPDX-License-Identifier: Apache-2.0
"""Tests of the operator of the quick start."""

from kubernetes.aio.client import V1ConfigMap, V1Deployment
from website import Website, WebsiteSpec, register

from dglop import Manager
from dglop.testing import TestCluster


async def test_a_website_is_ready_once_its_servers_are(cluster: TestCluster, manager: Manager) -> None:
    register(manager)
    client = cluster.client
    await client.create(Website(name="home", spec=WebsiteSpec(page="<h1>Hello</h1>", replicas=2)))
    await cluster.settle()
    assert (await client.get(V1ConfigMap, "home")).data == {"index.html": "<h1>Hello</h1>"}
    assert not (await client.get(Website, "home")).status.is_true("Ready")

    # There is no Deployment controller here: the test says what it would.
    ready = {"status": {"replicas": 2, "readyReplicas": 2}}
    await client.patch(V1Deployment, "home", None, ready, subresource="status")
    await cluster.settle()
    site = await client.get(Website, "home")
    assert site.status.is_true("Ready")
    assert site.status.ready_replicas == 2
    assert cluster.events == [f"Normal Online Website/home: http://home.{cluster.namespace} answers"]


async def test_what_somebody_deletes_comes_back(cluster: TestCluster, manager: Manager) -> None:
    register(manager)
    await cluster.client.create(Website(name="home", spec=WebsiteSpec(page="x")))
    await cluster.settle()
    await cluster.client.delete(V1ConfigMap, "home")
    await cluster.settle()
    assert (await cluster.client.get(V1ConfigMap, "home")).data == {"index.html": "x"}
