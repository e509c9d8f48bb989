# SPDX-License-Identifier: Apache-2.0
"""Cases: server-side apply and the record of owners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from test.envtest.conformance.objects import page, pod, service, widget

if TYPE_CHECKING:
    from test.envtest.conformance.api import Api


async def apply_creates_and_then_changes_nothing(api: Api) -> None:
    await api.apply("configmaps", "page", page(a="1"), "one")
    await api.apply("configmaps", "page", page(a="1"), "one")
    await api.apply("widgets", "widget", widget(), "one")
    await api.apply("widgets", "widget", widget(), "one")


async def apply_owns_its_fields_and_leaves_those_of_others(api: Api) -> None:
    await api.apply("configmaps", "page", page(ours="1"), "one")
    await api.apply("configmaps", "page", page(theirs="2"), "two")
    await api.apply("configmaps", "page", page(), "one")
    await api.get("configmaps", "page")


async def apply_conflicts_over_another_appliers_field(api: Api) -> None:
    await api.apply("configmaps", "page", page(a="1", b="1"), "one")
    await api.apply("configmaps", "page", page(a="2"), "two")
    await api.apply("configmaps", "page", page(a="2", b="2"), "two")
    await api.apply("configmaps", "page", page(a="1"), "two")
    await api.apply("configmaps", "page", page(a="2"), "two")
    await api.apply("configmaps", "page", page(a="2"), "two", force="true")
    await api.get("configmaps", "page")


async def apply_conflicts_with_a_plain_writer(api: Api) -> None:
    await api.post("configmaps", page(a="1"), fieldManager="writer")
    await api.apply("configmaps", "page", page(a="2"), "one")
    await api.apply("configmaps", "page", page(a="2"), "one", force="true")
    await api.merge("configmaps", "page", {"data": {"a": "3"}}, fieldManager="writer")
    await api.apply("configmaps", "page", page(a="2"), "one")


async def apply_of_an_equal_value_shares_the_field(api: Api) -> None:
    await api.apply("widgets", "widget", widget(size=1), "one")
    await api.apply("widgets", "widget", widget(size=1), "two")
    await api.apply("widgets", "widget", widget(), "one")
    await api.apply("widgets", "widget", widget(), "two")


async def apply_merges_list_maps_by_their_keys(api: Api) -> None:
    await api.apply("widgets", "widget", widget(items=[{"name": "a"}, {"name": "b"}]), "one")
    await api.apply("widgets", "widget", widget(items=[{"name": "c"}, {"name": "a", "note": "x"}]), "two")
    await api.apply("widgets", "widget", widget(items=[{"name": "b"}]), "one")
    await api.apply("widgets", "widget", widget(items=[]), "one")


async def apply_merges_sets_by_their_values(api: Api) -> None:
    await api.apply("widgets", "widget", widget(tags=["a", "b"]), "one")
    await api.apply("widgets", "widget", widget(tags=["c", "a"]), "two")
    await api.apply("widgets", "widget", widget(tags=["b"]), "one")


async def apply_takes_atomic_lists_and_maps_whole(api: Api) -> None:
    await api.apply("widgets", "widget", widget(plain=["a"], whole={"a": "1"}), "one")
    await api.apply("widgets", "widget", widget(plain=["b"]), "two")
    await api.apply("widgets", "widget", widget(plain=["b"], whole={"b": "2"}), "two", force="true")
    await api.get("widgets", "widget")


async def apply_to_the_status_leaves_the_spec(api: Api) -> None:
    await api.post("widgets", widget(), fieldManager="writer")
    condition = {"type": "Ready", "status": "True"}
    body = {**widget(), "status": {"conditions": [condition]}}
    del body["spec"]
    await api.apply("widgets", "widget", body, "one", "status")
    condition = {"type": "Other", "status": "True"}
    await api.apply("widgets", "widget", {**body, "status": {"conditions": [condition]}}, "two", "status")
    await api.get("widgets", "widget")
    await api.apply("widgets", "widget", {**body, "status": {}}, "one", "status")


async def apply_to_the_object_leaves_the_status(api: Api) -> None:
    await api.apply("widgets", "widget", {**widget(), "status": {"phase": "Lost"}}, "one")
    await api.merge("widgets", "widget", {"status": {"phase": "Done"}}, "status", fieldManager="s")
    await api.apply("widgets", "widget", widget(text="b"), "one")


async def apply_of_a_pod_merges_containers_ports_and_env(api: Api) -> None:
    one = pod()
    one["spec"]["containers"][0]["env"] = [{"name": "A", "value": "1"}]
    one["spec"]["containers"][0]["ports"] = [{"containerPort": 80}]
    await api.apply("pods", "pod", one, "one")
    await api.apply("pods", "pod", {**pod(labels={"a": "1"})}, "two")


async def apply_of_a_service_merges_ports_by_number_and_protocol(api: Api) -> None:
    await api.apply("services", "web", service(), "one")
    ports = [{"port": 80, "protocol": "UDP", "name": "udp"}]
    await api.apply("services", "web", service(ports=ports), "two")


async def apply_merges_owner_references_by_uid(api: Api) -> None:
    owner = await api.post("configmaps", page("owner"), quiet=True)
    uid = owner["metadata"]["uid"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}
    for manager, more in (("one", {}), ("two", {"controller": True})):
        metadata = {"name": "page", "ownerReferences": [{**reference, **more}]}
        await api.apply("configmaps", "page", {**page(), "metadata": metadata}, manager)
    other = {**reference, "uid": "00000000-0000-0000-0000-000000000001"}
    await api.apply(
        "configmaps", "page", {**page(), "metadata": {"name": "page", "ownerReferences": [other]}}, "x"
    )


async def apply_needs_a_manager_and_no_managed_fields(api: Api) -> None:
    await api.apply("configmaps", "page", page(a="1"), "")
    managed = {"name": "page", "managedFields": [{"manager": "one", "operation": "Apply"}]}
    await api.apply("configmaps", "page", {**page(), "metadata": managed}, "one")


async def apply_with_a_version_is_conditional(api: Api) -> None:
    made = await api.apply("configmaps", "page", page(a="1"), "one")
    await api.merge("configmaps", "page", {"data": {"b": "1"}}, fieldManager="writer")
    version = made["metadata"]["resourceVersion"]
    body = {**page(a="2"), "metadata": {"name": "page", "resourceVersion": version}}
    await api.apply("configmaps", "page", body, "one")
    await api.apply(
        "configmaps", "other", {**page("other"), "metadata": {**body["metadata"], "name": "other"}}, "one"
    )


async def apply_with_a_uid_never_creates(api: Api) -> None:
    body: dict[str, Any] = page(a="1")
    body["metadata"]["uid"] = "00000000-0000-0000-0000-000000000000"
    await api.apply("configmaps", "page", body, "one")


async def a_list_map_with_one_key_twice_cannot_be_applied(api: Api) -> None:
    await api.apply("widgets", "widget", widget(items=[{"name": "a"}, {"name": "a"}]), "one", quiet=False)
    await api.apply("widgets", "widget", widget(tags=["a", "a"]), "one")


async def writers_are_noted_with_what_they_wrote(api: Api) -> None:
    await api.post("configmaps", page(labels={"x": "1"}, a="1"), fieldManager="maker")
    await api.merge("configmaps", "page", {"data": {"b": "2"}}, fieldManager="changer")
    await api.merge("configmaps", "page", {"data": {"a": None}}, fieldManager="changer")
    await api.post("widgets", widget(items=[{"name": "a", "note": "n"}], tags=["t"]), fieldManager="maker")
    await api.merge("widgets", "widget", {"status": {"phase": "Done"}}, "status", fieldManager="changer")


async def the_first_apply_finds_what_nobody_owned(api: Api) -> None:
    await api.post("configmaps", page())
    await api.merge("configmaps", "page", {"data": {"a": "1", "b": "1"}}, fieldManager="writer")
    await api.apply("configmaps", "page", page(a="2"), "one")
    await api.apply("configmaps", "page", page(a="2"), "one", force="true")
    await api.merge("configmaps", "page", {"data": {"b": "3"}}, fieldManager="writer")


async def the_record_of_owners_can_be_thrown_away(api: Api) -> None:
    await api.apply("configmaps", "page", page(a="1"), "one")
    await api.merge("configmaps", "page", {"metadata": {"managedFields": [{}]}})
    await api.merge("configmaps", "page", {"data": {"b": "1"}}, fieldManager="writer")
    await api.apply("configmaps", "page", page(a="1"), "one")


async def an_applied_list_item_is_owned_by_its_fields(api: Api) -> None:
    await api.apply("widgets", "widget", widget(items=[{"name": "a", "note": "x"}]), "one")
    await api.apply("widgets", "widget", widget(items=[{"name": "a", "value": 1}]), "two", force="true")
    await api.apply("widgets", "widget", widget(items=[{"name": "a"}]), "one")
    await api.apply("widgets", "widget", widget(), "two")
    await api.get("widgets", "widget")


async def apply_of_a_deployment_leaves_its_scaler_alone(api: Api) -> None:
    template: dict[str, Any] = {"metadata": {"labels": {"app": "web"}}, "spec": pod()["spec"]}
    spec: dict[str, Any] = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    await api.apply("deployments", "web", body, "one")
    await api.merge("deployments", "web", {"spec": {"replicas": 3}}, fieldManager="scaler")
    template["spec"] = {"containers": [{"name": "main", "image": "example.dev/any:2"}]}
    await api.apply("deployments", "web", body, "one")


CASES = (
    apply_creates_and_then_changes_nothing,
    apply_owns_its_fields_and_leaves_those_of_others,
    apply_conflicts_over_another_appliers_field,
    apply_conflicts_with_a_plain_writer,
    apply_of_an_equal_value_shares_the_field,
    apply_merges_list_maps_by_their_keys,
    apply_merges_sets_by_their_values,
    apply_takes_atomic_lists_and_maps_whole,
    apply_to_the_status_leaves_the_spec,
    apply_to_the_object_leaves_the_status,
    apply_of_a_pod_merges_containers_ports_and_env,
    apply_of_a_service_merges_ports_by_number_and_protocol,
    apply_merges_owner_references_by_uid,
    apply_needs_a_manager_and_no_managed_fields,
    apply_with_a_version_is_conditional,
    apply_with_a_uid_never_creates,
    a_list_map_with_one_key_twice_cannot_be_applied,
    writers_are_noted_with_what_they_wrote,
    the_first_apply_finds_what_nobody_owned,
    the_record_of_owners_can_be_thrown_away,
    an_applied_list_item_is_owned_by_its_fields,
    apply_of_a_deployment_leaves_its_scaler_alone,
)
