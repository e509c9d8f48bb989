# SPDX-License-Identifier: Apache-2.0
"""An operator for the whole cluster on a TestCluster: objects in no namespace, parts in many."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from kubernetes.aio.client import V1ConfigMap, V1Namespace, V1ObjectMeta, V1Secret

from dglop import Context, CustomResource, NotFoundError, Spec, Status

if TYPE_CHECKING:
    from dglop import Manager
    from dglop.testing import TestCluster


class ZoneSpec(Spec):
    text: str = ""


class Zone(CustomResource[ZoneSpec, Status], group="example.dev", version="v1", scope="Cluster"):
    """A cluster-scoped kind."""


@pytest.fixture
def all_namespaces() -> bool:
    return True


async def reconcile(zone: Zone, ctx: Context) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": zone.name}}
    await ctx.apply(namespace, owner=zone)
    if ctx.get(V1Namespace, zone.name) is None:
        return
    page = V1ConfigMap(metadata=V1ObjectMeta(name="page", namespace=zone.name), data={"text": zone.spec.text})
    await ctx.apply(page, owner=zone)
    if not zone.status.is_true("Ready"):
        ctx.event(zone, "Made", "it is there")
    zone.status.set("Ready", True)


async def test_parts_in_other_namespaces_and_events_in_none_are_seen(cluster: TestCluster, manager: Manager):
    manager.controller(Zone, reconcile, owns=[V1Namespace, V1ConfigMap])
    name = f"zone-{uuid.uuid4().hex[:6]}"
    await cluster.client.create(Zone(name=name, spec=ZoneSpec(text="hi")))
    await cluster.settle()
    await cluster.client.delete(V1ConfigMap, "page", name)
    await cluster.settle()
    assert (await cluster.client.get(V1ConfigMap, "page", name)).data == {"text": "hi"}
    assert cluster.events == [f"Normal Made Zone/{name}: it is there"]


async def test_a_namespace_ends_with_all_that_is_in_it(cluster: TestCluster):
    name = f"zone-{uuid.uuid4().hex[:6]}"
    await cluster.client.create(V1Namespace(metadata=V1ObjectMeta(name=name)))
    await cluster.client.create(V1Secret(metadata=V1ObjectMeta(name="a", namespace=name)))
    await cluster.end_namespace(name)
    with pytest.raises(NotFoundError):
        await cluster.client.get(V1Namespace, name)
    with pytest.raises(NotFoundError):
        await cluster.client.get(V1Secret, "a", name)


async def test_what_a_finalizer_keeps_in_a_namespace_is_named(cluster: TestCluster):
    name = f"zone-{uuid.uuid4().hex[:6]}"
    await cluster.client.create(V1Namespace(metadata=V1ObjectMeta(name=name)))
    held = V1ObjectMeta(name="a", namespace=name, finalizers=["example.dev/hold"])
    await cluster.client.create(V1Secret(metadata=held))
    with pytest.raises(RuntimeError, match="finalizers keep secrets a"):
        await cluster.end_namespace(name)
    await cluster.client.patch(V1Secret, "a", name, {"metadata": {"finalizers": None}})
    await cluster.end_namespace(name)


async def test_the_first_call_starts_the_manager_whatever_it_is(cluster: TestCluster, manager: Manager):
    manager.controller(Zone, reconcile, owns=[V1Namespace, V1ConfigMap])
    name = f"zone-{uuid.uuid4().hex[:6]}"
    await cluster.client.create({"apiVersion": "example.dev/v1", "kind": "Zone", "metadata": {"name": name}})
    await cluster.settle()
    assert (await cluster.client.get("zones.example.dev", name))["status"]["conditions"]


async def test_a_kind_by_name_starts_the_manager_too(cluster: TestCluster, manager: Manager):
    manager.controller(Zone, reconcile, owns=[V1Namespace, V1ConfigMap])
    assert await cluster.client.list("zones.example.dev", labels="none=such") == []
