# SPDX-License-Identifier: Apache-2.0
"""What only a real API server decides of the client's calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta

from dglop.errors import (
    BadRequestError,
    ConflictError,
    InvalidError,
    NoKindMatchError,
    NotFoundError,
    TooManyRequestsError,
)
from dglop.runtime.api import Resource, is_controlled_by, set_controller_reference
from dglop.runtime.cache.entry import read_object
from dglop.runtime.claim import Claims
from dglop.runtime.client import Client, ClientConfig, PatchType, retry_on_conflict
from dglop.runtime.upsert import Upsert, create_or_patch, create_or_update

if TYPE_CHECKING:
    from dglop.testing.envtest import Envtest

MAP = Resource("", "v1", "ConfigMap", "configmaps")
POD = Resource("", "v1", "Pod", "pods")
DEPLOYMENT = Resource("apps", "v1", "Deployment", "deployments")


def make_map(name: str = "page", namespace: str | None = None, **data: str) -> V1ConfigMap:
    return V1ConfigMap(metadata=V1ObjectMeta(name=name, namespace=namespace), data=data or None)


def make_pod(name: str = "p", labels: dict[str, str] | None = None, **container: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "main", "image": "none", **container}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}


def make_deployment(replicas: int = 1) -> dict[str, Any]:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "m", "image": "none"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


@pytest.fixture
def here(client: Client, namespace: str) -> Client:
    """The client, bound to the test's namespace."""
    return client.in_namespace(namespace)


async def test_a_field_of_another_manager_is_a_conflict_until_it_is_forced(here: Client) -> None:
    await here.apply(make_map(text="one"), field_manager="one")
    with pytest.raises(ConflictError, match=r'conflict with "one": \.data\.text'):
        await here.apply(make_map(text="two"), field_manager="two", force=False)
    await here.apply(make_map(text="two"), field_manager="two")
    assert (await here.get(V1ConfigMap, "page")).data == {"text": "two"}


async def test_a_dry_run_leaves_nothing(here: Client) -> None:
    dry = here.dry_run()
    made = await dry.create(make_map(text="one"))
    assert made.metadata.uid
    await dry.apply(make_map("other", text="one"))
    assert await here.list(MAP, fields="metadata.name=page") == []
    await here.create(make_map(text="one"))
    await dry.patch(MAP, "page", None, {"data": {"text": "two"}})
    await dry.delete(MAP, "page")
    await dry.delete_all_of(MAP)
    assert (await here.get(V1ConfigMap, "page")).data == {"text": "one"}


async def test_strict_validation_refuses_what_would_otherwise_be_dropped_with_a_warning(
    server: Envtest, here: Client
) -> None:
    odd = make_pod(comand=["x"])
    with pytest.raises(BadRequestError, match=r'unknown field "spec\.containers\[0\]\.comand"'):
        await here.with_validation("Strict").create(odd)
    told: list[str] = []
    config = ClientConfig(kubeconfig=str(server.kubeconfig))
    async with await Client.connect(config, on_warning=told.append) as client:
        await client.in_namespace(here.namespace).dry_run().create(odd)
    assert any('unknown field "spec.containers[0].comand"' in text for text in told)


async def test_a_deployment_is_scaled_through_its_subresource(here: Client) -> None:
    await here.create(make_deployment(replicas=1))
    scale = here.subresource(DEPLOYMENT, "scale")
    assert (await scale.get("web"))["spec"] == {"replicas": 1}
    await scale.patch("web", {"spec": {"replicas": 3}})
    assert (await here.get("deployments.apps", "web"))["spec"]["replicas"] == 3
    await scale.apply("web", {"spec": {"replicas": 4}}, field_manager="scaler")
    assert (await scale.get("web"))["spec"] == {"replicas": 4}


async def test_an_eviction_deletes_a_pod_and_a_budget_forbids_it(here: Client) -> None:
    await here.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
    await here.create(make_pod("free"))
    await here.create(make_pod("kept", {"app": "kept"}))
    budget: dict[str, Any] = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "kept"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "kept"}}},
    }
    made = await here.create(budget)
    status = {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    observed = {**status, "observedGeneration": made["metadata"]["generation"]}
    await here.subresource(budget, "status").patch("kept", {"status": observed})
    running = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    await here.subresource(POD, "status").patch("kept", running)
    eviction = here.subresource(POD, "eviction")
    await eviction.create("free", {"deleteOptions": {"gracePeriodSeconds": 0}})
    with pytest.raises(NotFoundError):
        await here.get(POD, "free")
    with pytest.raises(TooManyRequestsError, match="disruption budget"):
        await eviction.create("kept")


async def test_a_token_is_given_out_and_a_pod_bound(here: Client) -> None:
    await here.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
    account = Resource("", "v1", "ServiceAccount", "serviceaccounts")
    answer = await here.subresource(account, "token").create("default", {"spec": {"expirationSeconds": 600}})
    assert answer["status"]["token"].count(".") == 2
    await here.create(make_pod())
    await here.subresource(POD, "binding").create("p", {"target": {"kind": "Node", "name": "some-node"}})
    assert (await here.get(POD, "p"))["spec"]["nodeName"] == "some-node"


async def test_a_status_write_leaves_the_spec_alone(here: Client) -> None:
    await here.create(make_deployment())
    body = {"spec": {"replicas": 9}, "status": {"observedGeneration": 7}}
    await here.patch(DEPLOYMENT, "web", None, body, subresource="status")
    found = await here.get(DEPLOYMENT, "web")
    assert (found["spec"]["replicas"], found["status"]["observedGeneration"]) == (1, 7)


async def test_every_kind_of_patch_is_taken(here: Client) -> None:
    await here.create(make_pod())
    await here.patch(
        POD, "p", None, [{"op": "add", "path": "/metadata/labels", "value": {"a": "1"}}], how=PatchType.JSON
    )
    await here.patch(POD, "p", None, {"metadata": {"labels": {"b": "2"}}})
    containers = {"containers": [{"name": "main", "image": "other"}]}
    await here.patch(POD, "p", None, {"spec": containers}, how=PatchType.STRATEGIC)
    found = await here.get(POD, "p")
    assert found["metadata"]["labels"] == {"a": "1", "b": "2"}
    assert found["spec"]["containers"][0]["image"] == "other"
    test = [{"op": "test", "path": "/metadata/labels/a", "value": "2"}]
    with pytest.raises(InvalidError):
        await here.patch(POD, "p", None, test, how=PatchType.JSON)


async def test_a_locked_merge_fails_on_a_newer_object_and_an_unlocked_one_does_not(here: Client) -> None:
    before = await here.create(make_map(text="one"))
    await here.patch(MAP, "page", None, {"data": {"more": "x"}})
    after = before.model_copy(deep=True)
    after.data = {"text": "two"}
    with pytest.raises(ConflictError):
        await here.merge_from(before, after, lock=True)
    assert (await here.merge_from(before, after)).data == {"text": "two", "more": "x"}

    async def again() -> V1ConfigMap:
        fresh = await here.get(V1ConfigMap, "page")
        changed = fresh.model_copy(deep=True)
        changed.data = {"text": "three"}
        return await here.merge_from(fresh, changed, lock=True)

    assert (await retry_on_conflict(again)).data == {"text": "three"}


async def test_a_deletion_holds_for_the_state_that_was_seen(here: Client) -> None:
    made = await here.create(make_map(text="one"))
    seen = made.metadata.resource_version
    await here.patch(MAP, "page", None, {"data": {"text": "two"}})
    with pytest.raises(ConflictError):
        await here.delete(MAP, "page", resource_version=seen)
    fresh = await here.get(V1ConfigMap, "page")
    await here.delete(MAP, "page", uid=fresh.metadata.uid, resource_version=fresh.metadata.resource_version)


async def test_a_collection_is_deleted_by_its_labels_and_read_in_pages(here: Client) -> None:
    for index in range(5):
        labels = {"part": "odd" if index % 2 else "even"}
        await here.create({**MAP_WIRE, "metadata": {"name": f"m{index}", "labels": labels}})
    pages = [len(page) async for page in here.pages(MAP, labels="part", size=2)]
    assert pages == [2, 2, 1]
    await here.delete_all_of(MAP, labels="part=odd")
    found = await here.metadata.list(MAP, labels="part")
    assert [each.name for each in found] == ["m0", "m2", "m4"]
    assert (await here.metadata.get(MAP, "m0")).metadata.labels == {"part": "even"}


MAP_WIRE = {"apiVersion": "v1", "kind": "ConfigMap"}


async def test_create_or_patch_says_what_it_did(here: Client) -> None:
    def say(page: V1ConfigMap) -> None:
        page.data = {"text": "hello"}

    assert (await create_or_patch(here, make_map(), say))[1] is Upsert.CREATED
    assert (await create_or_patch(here, make_map(), say))[1] is Upsert.UNCHANGED
    await here.patch(MAP, "page", None, {"data": {"text": "changed", "theirs": "x"}})
    page, done = await create_or_update(here, make_map(), say)
    assert (page.data, done) == ({"text": "hello"}, Upsert.UPDATED)


async def test_kinds_are_found_by_the_names_that_people_use(client: Client) -> None:
    mapper = client.mapper
    assert await mapper.find("deploy") == DEPLOYMENT
    assert await mapper.find("dglj") == await mapper.resource(
        "DGLJob", group="kubeflow.org", version="v1alpha1"
    )
    assert (await mapper.find("nodes")).namespaced is False
    assert "scale" in (await mapper.served("Deployment", group="apps")).subresources
    with pytest.raises(NoKindMatchError):
        await mapper.find("gadgets.example.dev")


async def test_an_orphan_is_adopted_by_a_living_owner_only_and_let_go_again(here: Client) -> None:
    owner = await here.create(make_map("owner"))
    pod = await here.create(make_pod())
    cached = _cached(pod)
    claims = Claims(here, owner, lambda _: True)
    assert await claims.claim([cached]) == [cached]
    adopted = await here.get(POD, "p")
    (reference,) = adopted["metadata"]["ownerReferences"]
    assert (reference["uid"], reference["controller"]) == (owner.metadata.uid, True)
    rival = await here.create(make_map("rival"))
    assert await Claims(here, rival, lambda _: True).claim([cached]) == []
    assert await Claims(here, owner, lambda _: False).claim([_cached(adopted)]) == []
    assert "ownerReferences" not in (await here.get(POD, "p"))["metadata"]


async def test_a_pod_or_an_owner_of_a_later_life_is_not_touched(here: Client) -> None:
    owner = await here.create(make_map("owner"))
    old = _cached(await here.create(make_pod()))
    await here.delete(POD, "p", grace_seconds=0)
    fresh = await here.create(make_pod())
    assert await Claims(here, owner, lambda _: True).claim([old]) == []
    await here.delete(MAP, "owner")
    await here.create(make_map("owner"))
    assert await Claims(here, owner, lambda _: True).claim([_cached(fresh)]) == []
    assert "ownerReferences" not in (await here.get(POD, "p"))["metadata"]


async def test_a_reference_that_was_set_is_one_the_server_takes(here: Client) -> None:
    owner = await here.create(make_map("owner"))
    child = make_map("child", here.namespace)
    set_controller_reference(owner, child)
    made = await here.create(child)
    assert is_controlled_by(made, owner)


def _cached(wire: dict[str, Any]) -> Any:
    import json

    return read_object(json.dumps(wire).encode(), POD)[0]
