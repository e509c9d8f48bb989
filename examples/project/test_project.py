# SPDX-License-Identifier: Apache-2.0
"""Tests of the operator for projects, on the API server in memory and on a real one."""

from datetime import timedelta
from typing import Any

import pytest
from kubernetes.aio.client import (
    V1ConfigMap,
    V1Namespace,
    V1NetworkPolicy,
    V1ObjectMeta,
    V1ResourceQuota,
    V1RoleBinding,
    V1Secret,
)
from parts import LEDGER, PART, SHARE, SHARED
from project import register
from project_kind import Member, Project, ProjectSpec, Quota

from dglop import Client, InvalidError, NotFoundError
from dglop.testing import MemoryCluster, TestCluster


async def make(cluster: TestCluster, client: Client, name: str, **spec: Any) -> Project:
    made: Project = await client.create(Project(name=name, spec=ProjectSpec(**spec)))
    await cluster.settle()
    return made


async def seen(client: Client, name: str) -> Project:
    found: Project = await client.get(Project, name)
    return found


async def part(client: Client, kind: type, name: str, namespace: str = "") -> Any:
    return await client.get(kind, name, namespace)


async def reason(client: Client, name: str) -> str:
    ready = (await seen(client, name)).status.get("Ready")
    return ready.reason if ready else ""


def events_of(cluster: TestCluster, name: str) -> list[str]:
    """A real API server has other tests' projects too, and what is told of them."""
    return [each for each in cluster.events if f" Project/{name}: " in each]


async def share(cluster: TestCluster, client: Client, name: str, value: str, type_: str = "Opaque") -> None:
    about = V1ObjectMeta(name=name, namespace=SHARED, labels={SHARE: "projects"})
    await client.create(V1Secret(metadata=about, type=type_, string_data={"key": value}))
    await cluster.settle()


async def data_of(client: Client, name: str, namespace: str) -> dict[str, str] | None:
    try:
        data: dict[str, str] | None = (await part(client, V1Secret, name, namespace)).data
    except NotFoundError:
        return None
    return data


async def test_a_project_has_all_its_parts(cluster: TestCluster, client: Client) -> None:
    members = [Member(name="jane"), Member(kind="Group", name="testers")]
    made = await make(cluster, client, "parts", members=members, isolated=True, quota=Quota(cpu="2"))
    namespace = await part(client, V1Namespace, "parts")
    assert namespace.metadata.owner_references[0].uid == made.uid
    quota = await part(client, V1ResourceQuota, PART, "parts")
    assert quota.spec.hard == {"cpu": "2", "memory": "8Gi", "pods": "20"}
    binding = await part(client, V1RoleBinding, PART, "parts")
    assert [(each.kind, each.name) for each in binding.subjects] == [("User", "jane"), ("Group", "testers")]
    assert (await part(client, V1NetworkPolicy, PART, "parts")).spec.policy_types == ["Ingress", "Egress"]
    status = (await seen(client, "parts")).status
    assert (status.phase, status.is_true("Ready"), status.members) == ("Active", True, 2)
    assert events_of(cluster, "parts") == ["Normal Active Project/parts: the namespace parts can be used"]


async def test_parts_follow_the_spec(cluster: TestCluster, client: Client) -> None:
    await make(cluster, client, "changing", members=[Member(name="jane")], isolated=True)
    change = {"spec": {"isolated": False, "members": [], "quota": {"pods": 3}}}
    await client.patch(Project, "changing", None, change)
    await cluster.settle()
    assert await client.list(V1NetworkPolicy, "changing") == []
    assert not (await part(client, V1RoleBinding, PART, "changing")).subjects
    assert (await part(client, V1ResourceQuota, PART, "changing")).spec.hard["pods"] == "3"


async def test_copies_of_shared_secrets_follow_the_originals(cluster: TestCluster, client: Client) -> None:
    await make(cluster, client, "copies")
    await share(cluster, client, "pull", "one")
    assert await data_of(client, "pull", "copies") == {"key": "b25l"}
    assert (await seen(client, "copies")).status.secrets == 1

    await client.patch(V1Secret, "pull", SHARED, {"data": {"key": None, "other": "dHdv"}})
    await cluster.settle()
    assert await data_of(client, "pull", "copies") == {"other": "dHdv"}

    await client.patch(V1Secret, "pull", "copies", {"data": {"other": None, "mine": "dHdv"}})
    await cluster.settle()
    assert await data_of(client, "pull", "copies") == {"other": "dHdv"}

    await client.delete(V1Secret, "pull", SHARED)
    await share(cluster, client, "pull", "three", "example.dev/other")
    assert await data_of(client, "pull", "copies") == {"key": "dGhyZWU="}

    await client.patch(V1Secret, "pull", SHARED, {"metadata": {"labels": None}})
    await cluster.settle()
    assert await data_of(client, "pull", "copies") is None
    assert (await seen(client, "copies")).status.secrets == 0


async def test_a_secret_of_the_projects_own_is_let_be(cluster: TestCluster, client: Client) -> None:
    await make(cluster, client, "own")
    mine = V1Secret(metadata=V1ObjectMeta(name="pull", namespace="own"), data={"mine": "b25l"})
    await client.create(mine)
    await share(cluster, client, "pull", "two")
    assert await data_of(client, "pull", "own") == {"mine": "b25l"}
    assert await reason(client, "own") == "SecretNameTaken"


async def test_a_namespace_of_somebody_else_is_let_be(cluster: TestCluster, client: Client) -> None:
    await client.create(V1Namespace(metadata=V1ObjectMeta(name="taken")))
    await make(cluster, client, "taken")
    assert await reason(client, "taken") == "NamespaceTaken"
    assert await client.list(V1ResourceQuota, "taken") == []

    await client.delete(V1Namespace, "taken")
    await cluster.end_namespace("taken")
    assert await reason(client, "taken") == "Active"


async def test_a_lowered_quota_is_exceeded(cluster: TestCluster, client: Client) -> None:
    await make(cluster, client, "full")
    use = {"hard": {"cpu": "1", "pods": "2"}, "used": {"cpu": "1500m", "pods": "2"}}
    await client.patch(V1ResourceQuota, PART, "full", {"status": use}, subresource="status")
    await cluster.settle()
    ready = (await seen(client, "full")).status.get("Ready")
    assert ready is not None
    assert (ready.reason, ready.message) == ("QuotaExceeded", "used: 1500m of 1 cpu")
    assert (await seen(client, "full")).status.quota["pods"].used == "2"


async def test_it_warns_and_then_expires(cluster: TestCluster, client: Client) -> None:
    await make(cluster, client, "brief", lifetime=timedelta(hours=10))
    assert not (await seen(client, "brief")).status.is_true("Expiring")
    await cluster.advance(timedelta(hours=9, minutes=30))
    assert events_of(cluster, "brief")[-1].startswith(
        "Warning ExpiresSoon Project/brief: it will be deleted at"
    )
    assert (await seen(client, "brief")).status.is_true("Expiring")
    await cluster.advance(timedelta(hours=1))
    assert events_of(cluster, "brief")[-1].startswith("Normal Expired Project/brief: it expired at")
    assert (await seen(client, "brief")).status.phase == "Closing"
    await cluster.end_namespace("brief")
    with pytest.raises(NotFoundError):
        await seen(client, "brief")


async def test_a_closed_project_is_in_the_ledger(cluster: TestCluster, client: Client) -> None:
    uids = [(await make(cluster, client, name)).uid for name in ("one", "two")]
    for name in ("one", "two"):
        await client.delete(Project, name)
        await cluster.settle()
        assert await reason(client, name) == "EmptyingNamespace"
        assert (await part(client, V1Namespace, name)).metadata.deletion_timestamp
        await cluster.end_namespace(name)
        with pytest.raises(NotFoundError):
            await seen(client, name)
    ledger = (await part(client, V1ConfigMap, LEDGER, SHARED)).data
    assert ledger.keys() >= {f"one.{uids[0]}", f"two.{uids[1]}"}


@pytest.mark.parametrize(
    ("name", "spec", "says"),
    [
        ("a.b", {}, "no dots"),
        ("kube-a", {}, "reserved"),
        ("a", {"expires": "2030-02-30T00:00:00Z"}, "date-time"),
        ("a", {"lifetime": "long"}, "duration"),
        ("a", {"quota": {"cpu": "lots"}}, "should match"),
        ("a", {"quota": {"pods": 1001}}, "less than or equal to 1000"),
        ("a", {"members": [{"kind": "Robot", "name": "x"}]}, "Robot"),
    ],
)
async def test_bad_specs_are_refused(client: Client, name: str, spec: dict[str, Any], says: str) -> None:
    wire = {"apiVersion": "example.dev/v1", "kind": "Project", "metadata": {"name": name}, "spec": spec}
    with pytest.raises(InvalidError, match=says):
        await client.create(wire)


async def test_what_is_forbidden_is_told_and_tried_again(memory_cluster: MemoryCluster) -> None:
    memory_cluster.server.faults.add(403, "PATCH", V1RoleBinding, times=2)
    manager = memory_cluster.manager()
    register(manager)
    memory_cluster.run_later(manager)
    await make(memory_cluster, memory_cluster.client, "refused")
    assert (await seen(memory_cluster.client, "refused")).status.phase == "Blocked"
    await memory_cluster.advance(10)
    assert await reason(memory_cluster.client, "refused") == "Active"
