# SPDX-License-Identifier: Apache-2.0
"""Cases: create, read, replace and delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from test.envtest.conformance.objects import gadget, page, pod, service, widget

if TYPE_CHECKING:
    from test.envtest.conformance.api import Api

_NOBODY = "00000000-0000-0000-0000-000000000000"


async def what_was_created_can_be_read(api: Api) -> None:
    await api.post("configmaps", page(a="1"))
    await api.get("configmaps", "page")


async def a_name_can_be_taken_once(api: Api) -> None:
    await api.post("configmaps", page())
    await api.post("configmaps", page())


async def a_name_is_made_from_generate_name(api: Api) -> None:
    await api.post("configmaps", {**page(), "metadata": {"generateName": "gen-"}})


async def an_object_needs_a_name(api: Api) -> None:
    await api.post("configmaps", {**page(), "metadata": {}})
    await api.post("widgets", {**widget(), "metadata": {}})


async def a_name_must_be_a_dns_name(api: Api) -> None:
    await api.post("configmaps", page("Not_Good"))
    await api.post("services", service("1.b"))
    await api.post("widgets", widget("Not_Good"))


async def labels_must_be_well_formed(api: Api) -> None:
    await api.post("configmaps", page(labels={"a b": "1", "ok": "not good!"}))


async def a_version_may_not_be_given_at_creation(api: Api) -> None:
    await api.post("configmaps", {**page(), "metadata": {"name": "page", "resourceVersion": "1"}})


async def what_the_server_owns_is_not_taken_from_the_client(api: Api) -> None:
    metadata = {
        "name": "page",
        "uid": _NOBODY,
        "generation": 9,
        "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z",
        "selfLink": "/x",
    }
    await api.post("configmaps", {**page(), "metadata": metadata})
    await api.post("widgets", {**widget(), "metadata": metadata, "status": {"phase": "Done"}})


async def the_kind_must_fit_the_url(api: Api) -> None:
    await api.post("configmaps", {**page(), "kind": "Secret"})
    await api.post("configmaps", {**page(), "apiVersion": "v2"})
    await api.post("widgets", {**widget(), "kind": "Gadget"})
    await api.post("widgets", {**widget(), "apiVersion": "conformance.dglop.dev/v2"})


async def the_namespace_must_fit_the_url(api: Api) -> None:
    await api.post("configmaps", {**page(), "metadata": {"name": "page", "namespace": "other"}})
    await api.post("widgets", {**widget(), "metadata": {"name": "page", "namespace": "other"}})


async def a_namespace_must_be_there(api: Api) -> None:
    await api.send("POST", "/api/v1/namespaces/nowhere-at-all/configmaps", page())
    await api.send("GET", "/api/v1/namespaces/nowhere-at-all/configmaps/x")


async def what_is_not_there_is_not_found(api: Api) -> None:
    await api.get("configmaps", "gone")
    await api.get("widgets", "gone")
    await api.merge("configmaps", "gone", {"data": {"a": "1"}})
    await api.delete("widgets", "gone")
    await api.get("deployments", "gone")
    await api.put("configmaps", "gone", page("gone"))
    await api.put("widgets", "gone", widget("gone"))


async def an_unknown_path_is_not_found(api: Api) -> None:
    await api.send("GET", "/apis/nobody.example.dev/v1/things")
    await api.send("GET", "/apis/conformance.dglop.dev/v7/widgets")
    await api.send("GET", "/api/v1/namespaces/{ns}/thingies")


async def a_body_must_be_json(api: Api) -> None:
    answer = await api.send("POST", "/api/v1/namespaces/{ns}/configmaps", b"{", quiet=True)
    assert answer is None


async def a_replacement_with_an_old_version_conflicts(api: Api) -> None:
    made = await api.post("configmaps", page(a="1"))
    await api.merge("configmaps", "page", {"data": {"a": "2"}})
    await api.put("configmaps", "page", {**made, "data": {"a": "3"}})
    made = await api.post("widgets", widget())
    await api.merge("widgets", "widget", {"spec": {"text": "b"}})
    await api.put("widgets", "widget", {**made, "spec": {"text": "c"}})


async def a_replacement_without_a_version_is_taken_for_some_kinds_only(api: Api) -> None:
    await api.post("configmaps", page(a="1"))
    await api.put("configmaps", "page", page(a="2"))
    await api.post("widgets", widget())
    await api.put("widgets", "widget", widget(text="b"))


async def a_replacement_of_another_uid_is_refused(api: Api) -> None:
    made = await api.post("configmaps", page(a="1"))
    made["metadata"] = {**made["metadata"], "uid": _NOBODY}
    await api.put("configmaps", "page", made)


async def a_replacement_cannot_change_the_name(api: Api) -> None:
    made = await api.post("configmaps", page(a="1"))
    await api.put("configmaps", "page", {**made, "metadata": {**made["metadata"], "name": "other"}})


async def a_write_that_changes_nothing_keeps_the_version(api: Api) -> None:
    made = await api.post("configmaps", page(a="1"))
    await api.put("configmaps", "page", made)
    await api.merge("configmaps", "page", {"data": {"a": "1"}})
    made = await api.post("widgets", widget())
    await api.put("widgets", "widget", made)
    await api.merge("widgets", "widget", {"spec": {"text": "a"}})


async def only_a_change_of_the_spec_counts_as_a_generation(api: Api) -> None:
    await api.post("widgets", widget())
    await api.merge("widgets", "widget", {"metadata": {"labels": {"a": "1"}}})
    await api.merge("widgets", "widget", {"spec": {"text": "b"}})
    await api.merge("widgets", "widget", {"status": {"phase": "Done"}}, "status")


async def without_a_status_subresource_any_change_counts_as_a_generation(api: Api) -> None:
    await api.post("gadgets", gadget("one", spec={"a": "1"}, status={"phase": "x"}))
    await api.merge("gadgets", "one", {"status": {"phase": "y"}})
    await api.merge("gadgets", "one", {"metadata": {"labels": {"a": "1"}}})
    await api.merge("gadgets", "one", {"status": {"phase": "z"}}, "status")
    await api.delete("gadgets", "one")


async def built_in_kinds_count_generations_by_their_spec(api: Api) -> None:
    await api.post("deployments", _deployment())
    await api.merge("deployments", "web", {"spec": {"replicas": 3}})
    await api.merge("deployments", "web", {"metadata": {"labels": {"a": "1"}}})
    await api.merge("deployments", "web", {"status": {"replicas": 3}}, "status")


async def status_is_written_by_its_subresource_only(api: Api) -> None:
    await api.post("widgets", widget())
    await api.merge("widgets", "widget", {"status": {"phase": "Lost"}})
    changes = {"status": {"phase": "Done"}, "spec": {"text": "b"}, "metadata": {"labels": {"a": "1"}}}
    await api.merge("widgets", "widget", changes, "status")
    await api.get("widgets", "widget", "status")
    await api.get("widgets", "widget")


async def a_status_is_replaced_with_its_version(api: Api) -> None:
    made = await api.post("widgets", widget())
    changed = await api.put("widgets", "widget", {**made, "status": {"phase": "Done"}}, "status")
    await api.put("widgets", "widget", {**made, "status": {"phase": "Late"}}, "status")
    await api.put("widgets", "widget", {**changed, "spec": {"text": "b"}}, "status")


async def a_pods_status_is_apart_from_its_spec(api: Api) -> None:
    await api.post("pods", {**pod(), "status": {"phase": "Running"}})
    await api.merge("pods", "pod", {"status": {"phase": "Running", "podIP": "10.1.2.3"}}, "status")
    await api.merge("pods", "pod", {"status": {"phase": "Failed"}})
    await api.get("pods", "pod")


async def an_object_is_deleted_at_once_without_finalizers(api: Api) -> None:
    await api.post("configmaps", page())
    await api.delete("configmaps", "page")
    await api.get("configmaps", "page")
    await api.post("widgets", widget())
    await api.delete("widgets", "widget")


async def a_finalizer_holds_a_deleted_object_until_it_is_removed(api: Api) -> None:
    await api.post("widgets", {**widget(), "metadata": {"name": "widget", "finalizers": ["example.dev/hold"]}})
    await api.delete("widgets", "widget")
    await api.delete("widgets", "widget")
    await api.get("widgets", "widget")
    await api.merge("widgets", "widget", {"metadata": {"finalizers": ["example.dev/hold", "example.dev/b"]}})
    await api.merge("widgets", "widget", {"spec": {"text": "b"}})
    await api.merge("widgets", "widget", {"metadata": {"finalizers": None}})
    await api.get("widgets", "widget")


async def a_configmaps_finalizer_holds_it_too(api: Api) -> None:
    await api.post("configmaps", {**page(), "metadata": {"name": "page", "finalizers": ["example.dev/hold"]}})
    await api.delete("configmaps", "page")
    await api.json_patch("configmaps", "page", [{"op": "remove", "path": "/metadata/finalizers"}])
    await api.get("configmaps", "page")


async def a_finalizer_needs_a_qualified_name(api: Api) -> None:
    await api.post("widgets", {**widget(), "metadata": {"name": "widget", "finalizers": ["plain"]}})
    await api.post("configmaps", {**page(), "metadata": {"name": "page", "finalizers": ["plain"]}})


async def a_deletion_can_name_the_uid_and_the_version(api: Api) -> None:
    made = await api.post("configmaps", page())
    await api.delete("configmaps", "page", {"preconditions": {"uid": _NOBODY}})
    await api.delete("configmaps", "page", {"preconditions": {"resourceVersion": "1"}})
    right = {"uid": made["metadata"]["uid"], "resourceVersion": made["metadata"]["resourceVersion"]}
    await api.delete("configmaps", "page", {"preconditions": right})


async def a_pod_that_runs_nowhere_is_deleted_at_once(api: Api) -> None:
    await api.post("pods", pod())
    await api.delete("pods", "pod")
    await api.get("pods", "pod")


async def a_pod_on_a_node_gets_its_grace(api: Api) -> None:
    await api.post("pods", pod(nodeName="node", terminationGracePeriodSeconds=20))
    await api.delete("pods", "pod")
    await api.get("pods", "pod")
    await api.delete("pods", "pod", {"gracePeriodSeconds": 5})
    await api.delete("pods", "pod", {"gracePeriodSeconds": 0})
    await api.get("pods", "pod")


async def a_finished_pod_needs_no_grace(api: Api) -> None:
    await api.post("pods", pod(nodeName="node"))
    await api.merge("pods", "pod", {"status": {"phase": "Succeeded"}}, "status")
    await api.delete("pods", "pod")
    await api.get("pods", "pod")


async def foreground_and_orphan_deletion_leave_their_finalizer(api: Api) -> None:
    await api.post("widgets", widget("a"))
    await api.delete("widgets", "a", {"propagationPolicy": "Foreground"})
    await api.merge("widgets", "a", {"metadata": {"finalizers": None}})
    await api.post("widgets", widget("b"))
    await api.delete("widgets", "b", {"propagationPolicy": "Orphan"})
    await api.merge("widgets", "b", {"metadata": {"finalizers": None}})


async def a_collection_is_deleted_by_its_labels(api: Api) -> None:
    for name, color in (("a", "red"), ("b", "blue"), ("c", "red")):
        await api.post("configmaps", page(name, labels={"color": color}))
    await api.delete("configmaps", labelSelector="color=red")
    await api.get("configmaps", labelSelector="color")


async def a_deletion_timestamp_cannot_be_set_by_hand(api: Api) -> None:
    await api.post("configmaps", page())
    await api.merge("configmaps", "page", {"metadata": {"deletionTimestamp": "2001-01-01T00:00:00Z"}})
    await api.merge("configmaps", "page", {"metadata": {"creationTimestamp": "2001-01-01T00:00:00Z"}})


async def a_dry_run_changes_nothing(api: Api) -> None:
    await api.post("configmaps", page(a="1"), dryRun="All")
    await api.get("configmaps", "page")
    await api.post("widgets", widget())
    await api.merge("widgets", "widget", {"spec": {"text": "b"}}, dryRun="All")
    await api.delete("widgets", "widget", {"dryRun": ["All"]})
    await api.delete("widgets", "widget", dryRun="All")
    await api.get("widgets", "widget")
    await api.post("configmaps", page("other"), dryRun="Some")


async def immutable_data_stays(api: Api) -> None:
    await api.post("configmaps", {**page(a="1"), "immutable": True})
    await api.merge("configmaps", "page", {"data": {"a": "2"}})


async def a_pods_spec_is_mostly_fixed(api: Api) -> None:
    await api.post("pods", pod())
    await api.json_patch("pods", "pod", [{"op": "replace", "path": "/spec/containers/0/image", "value": "b:2"}])
    await api.merge("pods", "pod", {"spec": {"restartPolicy": "Never"}}, quiet=True)
    await api.get("pods", "pod")


async def a_namespace_is_born_active(api: Api) -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "gen-"}}
    made: Any = await api.post("namespaces", body)
    await api.delete("namespaces", made["metadata"]["name"], quiet=True)


async def a_service_gets_its_defaults(api: Api) -> None:
    await api.post("services", service())
    await api.post("services", service("bare", clusterIP="None"))


async def a_secrets_string_data_becomes_data(api: Api) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}}
    await api.post("secrets", secret)
    await api.merge("secrets", "s", {"stringData": {"c": "d"}})


async def a_lease_keeps_its_micro_time(api: Api) -> None:
    spec = {"holderIdentity": "me", "renewTime": "2026-01-01T00:00:00.000000Z", "leaseDurationSeconds": 15}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": spec}
    await api.post("leases", lease)
    made = await api.get("leases", "l")
    assert made["spec"]["renewTime"] == "2026-01-01T00:00:00.000000Z"


async def the_scale_of_a_kind_is_read_and_written(api: Api) -> None:
    await api.post("widgets", widget(replicas=2))
    await api.get("widgets", "widget", "scale")
    await api.merge("widgets", "widget", {"spec": {"replicas": 5}}, "scale")
    await api.get("widgets", "widget")


def _deployment() -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod()["spec"]}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


CASES = (
    what_was_created_can_be_read,
    a_name_can_be_taken_once,
    a_name_is_made_from_generate_name,
    an_object_needs_a_name,
    a_name_must_be_a_dns_name,
    labels_must_be_well_formed,
    a_version_may_not_be_given_at_creation,
    what_the_server_owns_is_not_taken_from_the_client,
    the_kind_must_fit_the_url,
    the_namespace_must_fit_the_url,
    a_namespace_must_be_there,
    what_is_not_there_is_not_found,
    an_unknown_path_is_not_found,
    a_body_must_be_json,
    a_replacement_with_an_old_version_conflicts,
    a_replacement_without_a_version_is_taken_for_some_kinds_only,
    a_replacement_of_another_uid_is_refused,
    a_replacement_cannot_change_the_name,
    a_write_that_changes_nothing_keeps_the_version,
    only_a_change_of_the_spec_counts_as_a_generation,
    without_a_status_subresource_any_change_counts_as_a_generation,
    built_in_kinds_count_generations_by_their_spec,
    status_is_written_by_its_subresource_only,
    a_status_is_replaced_with_its_version,
    a_pods_status_is_apart_from_its_spec,
    an_object_is_deleted_at_once_without_finalizers,
    a_finalizer_holds_a_deleted_object_until_it_is_removed,
    a_configmaps_finalizer_holds_it_too,
    a_finalizer_needs_a_qualified_name,
    a_deletion_can_name_the_uid_and_the_version,
    a_pod_that_runs_nowhere_is_deleted_at_once,
    a_pod_on_a_node_gets_its_grace,
    a_finished_pod_needs_no_grace,
    foreground_and_orphan_deletion_leave_their_finalizer,
    a_collection_is_deleted_by_its_labels,
    a_deletion_timestamp_cannot_be_set_by_hand,
    a_dry_run_changes_nothing,
    immutable_data_stays,
    a_pods_spec_is_mostly_fixed,
    a_namespace_is_born_active,
    a_service_gets_its_defaults,
    a_secrets_string_data_becomes_data,
    a_lease_keeps_its_micro_time,
    the_scale_of_a_kind_is_read_and_written,
)
