# SPDX-License-Identifier: Apache-2.0
"""Cases: deletion, finalizers and grace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from test.envtest.conformance.objects import page, pod, widget

if TYPE_CHECKING:
    from test.envtest.conformance.api import Api

_NOBODY = "00000000-0000-0000-0000-000000000000"


async def an_object_is_deleted_at_once_without_finalizers(api: Api) -> None:
    await api.post("configmaps", page())
    await api.delete("configmaps", "page")
    await api.get("configmaps", "page")
    await api.post("widgets", widget())
    await api.delete("widgets", "widget")


async def a_finalizer_holds_a_deleted_object_until_it_is_removed(api: Api) -> None:
    await api.post(
        "widgets", {**widget(), "metadata": {"name": "widget", "finalizers": ["example.dev/hold"]}}
    )
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


async def a_namespace_that_ends_takes_nothing_new(api: Api) -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "gen-"}}
    made = await api.post("namespaces", body, quiet=True)
    name = made["metadata"]["name"]
    ended = await api.delete("namespaces", name, quiet=True)
    api.answers.append([ended["kind"], ended["status"], sorted(ended["metadata"])])
    path = f"/api/v1/namespaces/{name}/configmaps"
    await api.send("POST", path, page(), brief=True, quiet=True)
    api.answers.append(api.status)


async def an_object_that_ends_takes_no_new_finalizer(api: Api) -> None:
    await api.post(
        "widgets", {**widget(), "metadata": {"name": "widget", "finalizers": ["a.dev/a"]}}, quiet=True
    )
    await api.delete("widgets", "widget", quiet=True)
    await api.merge("widgets", "widget", {"metadata": {"finalizers": ["a.dev/a", "a.dev/b"]}})
    await api.merge("widgets", "widget", {"metadata": {"finalizers": []}}, quiet=True)
    await api.get("widgets", "widget")


async def a_collection_with_finalizers_is_marked(api: Api) -> None:
    for name in ("a", "b"):
        held = {"name": name, "finalizers": ["a.dev/a"] if name == "a" else []}
        await api.post("configmaps", {**page(), "metadata": held}, quiet=True)
    await api.delete("configmaps", fieldSelector="metadata.name=a")
    await api.delete("configmaps", dryRun="All", quiet=True)
    await api.get("configmaps")
    await api.merge("configmaps", "a", {"metadata": {"finalizers": None}}, quiet=True)


CASES = (
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
    a_namespace_that_ends_takes_nothing_new,
    an_object_that_ends_takes_no_new_finalizer,
    a_collection_with_finalizers_is_marked,
)
