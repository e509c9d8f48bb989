# SPDX-License-Identifier: Apache-2.0
"""Cases: generations, status and scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from test.envtest.conformance.objects import gadget, pod, widget

if TYPE_CHECKING:
    from test.envtest.conformance.api import Api


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


async def the_scale_of_a_kind_is_read_and_written(api: Api) -> None:
    await api.post("widgets", widget(replicas=2))
    await api.get("widgets", "widget", "scale")
    await api.merge("widgets", "widget", {"spec": {"replicas": 5}}, "scale")
    await api.get("widgets", "widget")


async def a_deployments_scale_is_its_own(api: Api) -> None:
    await api.post("deployments", _deployment(), quiet=True)
    await api.get("deployments", "web", "scale")
    await api.merge("deployments", "web", {"spec": {"replicas": 4}}, "scale", fieldManager="scaler")
    await api.get("deployments", "web")
    await api.apply("deployments", "web", {**_scale(), "spec": {"replicas": 2}}, "one", "scale", force="true")
    old = {**_scale(), "metadata": {"name": "web", "resourceVersion": "1"}, "spec": {"replicas": 9}}
    await api.put("deployments", "web", old, "scale", brief=True)


def _scale() -> dict[str, Any]:
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}}


def _deployment() -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod()["spec"]}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


CASES = (
    only_a_change_of_the_spec_counts_as_a_generation,
    without_a_status_subresource_any_change_counts_as_a_generation,
    built_in_kinds_count_generations_by_their_spec,
    status_is_written_by_its_subresource_only,
    a_status_is_replaced_with_its_version,
    a_pods_status_is_apart_from_its_spec,
    the_scale_of_a_kind_is_read_and_written,
    a_deployments_scale_is_its_own,
)
