# SPDX-License-Identifier: Apache-2.0
"""Cases: merge, JSON and strategic merge patches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from test.envtest.conformance.objects import page, pod, service, widget

if TYPE_CHECKING:
    from test.envtest.conformance.api import Api


async def a_merge_patch_sets_removes_and_replaces_lists(api: Api) -> None:
    await api.post("widgets", widget(plain=["a", "b"], labels={"x": "1", "y": "2"}))
    await api.merge("widgets", "widget", {"spec": {"plain": ["c"], "labels": {"x": None, "z": "3"}}})


async def a_merge_patch_with_a_version_is_conditional(api: Api) -> None:
    made = await api.post("widgets", widget())
    version = made["metadata"]["resourceVersion"]
    await api.merge("widgets", "widget", {"metadata": {"resourceVersion": version}, "spec": {"text": "b"}})
    await api.merge("widgets", "widget", {"metadata": {"resourceVersion": version}, "spec": {"text": "c"}})
    await api.merge("widgets", "widget", {"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}})


async def a_json_patch_tests_adds_moves_and_removes(api: Api) -> None:
    await api.post("widgets", widget(plain=["a", "b"], labels={"x": "1"}))
    patch = [
        {"op": "test", "path": "/spec/text", "value": "a"},
        {"op": "add", "path": "/spec/plain/-", "value": "c"},
        {"op": "add", "path": "/spec/plain/0", "value": "z"},
        {"op": "copy", "from": "/spec/labels/x", "path": "/spec/labels/y~1w"},
        {"op": "move", "from": "/spec/labels/x", "path": "/spec/labels/q"},
        {"op": "replace", "path": "/spec/text", "value": "b"},
        {"op": "remove", "path": "/spec/plain/1"},
    ]
    await api.json_patch("widgets", "widget", patch)


async def a_json_patch_whose_test_fails_is_refused(api: Api) -> None:
    await api.post("widgets", widget())
    await api.json_patch("widgets", "widget", [{"op": "test", "path": "/spec/text", "value": "b"}])
    await api.json_patch("widgets", "widget", [{"op": "remove", "path": "/spec/labels"}])
    await api.json_patch("widgets", "widget", [{"op": "replace", "path": "/spec/labels", "value": {}}])


async def a_strategic_patch_merges_lists_by_their_key(api: Api) -> None:
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "a:1", "env": env}]},
    }
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    await api.post("deployments", body)
    change = [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}, {"name": "A", "$patch": "delete"}]
    containers = [{"name": "main", "env": change}, {"name": "side", "image": "b:1"}]
    await api.strategic("deployments", "web", {"spec": {"template": {"spec": {"containers": containers}}}})


async def a_strategic_patch_merges_plain_lists_with_merge_strategy(api: Api) -> None:
    await api.post("pods", {**pod(), "metadata": {"name": "pod", "finalizers": ["a.dev/x"]}})
    await api.strategic("pods", "pod", {"metadata": {"finalizers": ["a.dev/y"]}})
    await api.strategic("pods", "pod", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.dev/x"]}})
    await api.merge("pods", "pod", {"metadata": {"finalizers": None}})


async def a_strategic_patch_merges_conditions_by_type(api: Api) -> None:
    await api.post("pods", pod())
    ready = {"type": "Ready", "status": "False"}
    await api.strategic("pods", "pod", {"status": {"conditions": [ready]}}, "status")
    more = [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "True"}]
    await api.strategic("pods", "pod", {"status": {"conditions": more}}, "status")


async def a_strategic_patch_replaces_where_it_is_told_to(api: Api) -> None:
    await api.post("services", service())
    await api.strategic("services", "web", {"spec": {"selector": {"$patch": "replace", "b": "1"}}})
    await api.strategic("services", "web", {"spec": {"ports": [{"port": 81, "name": "more"}]}})


async def a_strategic_patch_is_for_built_in_kinds(api: Api) -> None:
    await api.post("widgets", widget())
    await api.strategic("widgets", "widget", {"spec": {"text": "b"}})


async def an_unknown_kind_of_patch_is_refused(api: Api) -> None:
    await api.post("configmaps", page())
    path = api.path("configmaps", "page")
    await api.send("PATCH", path, {"data": {}}, how="application/json")


async def an_objects_owners_and_labels_are_checked_at_every_write(api: Api) -> None:
    await api.post("configmaps", page(a="1"))
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "u", "controller": True}
    two = {"ownerReferences": [owner, {**owner, "uid": "v"}]}
    await api.merge("configmaps", "page", {"metadata": two})
    for field in ("apiVersion", "kind", "name", "uid"):
        await api.merge("configmaps", "page", {"metadata": {"ownerReferences": [{**owner, field: ""}]}})
    await api.merge("configmaps", "page", {"metadata": {"labels": {"a": "not good!"}}})
    await api.merge("widgets", "gone", {"metadata": two})


CASES = (
    a_merge_patch_sets_removes_and_replaces_lists,
    a_merge_patch_with_a_version_is_conditional,
    a_json_patch_tests_adds_moves_and_removes,
    a_json_patch_whose_test_fails_is_refused,
    a_strategic_patch_merges_lists_by_their_key,
    a_strategic_patch_merges_plain_lists_with_merge_strategy,
    a_strategic_patch_merges_conditions_by_type,
    a_strategic_patch_replaces_where_it_is_told_to,
    a_strategic_patch_is_for_built_in_kinds,
    an_unknown_kind_of_patch_is_refused,
    an_objects_owners_and_labels_are_checked_at_every_write,
)
