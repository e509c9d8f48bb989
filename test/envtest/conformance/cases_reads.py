# SPDX-License-Identifier: Apache-2.0
"""Cases: lists, selectors, pages and discovery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from test.envtest.conformance.api import GROUP
from test.envtest.conformance.objects import event, page, pod, widget

if TYPE_CHECKING:
    from test.envtest.conformance.api import Api

_PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
_PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


async def _pages(api: Api) -> None:
    for name, labels in (("a", {"x": "1", "y": "1"}), ("b", {"x": "2"}), ("c", {"y": "3"})):
        await api.post("configmaps", page(name, labels=labels), quiet=True)


def _names(answer: Any) -> list[str]:
    return [each["metadata"]["name"] for each in answer["items"]]


async def a_list_has_no_kind_in_its_items(api: Api) -> None:
    await _pages(api)
    await api.get("configmaps")
    await api.get("widgets")
    await api.post("widgets", widget(), quiet=True)
    await api.get("widgets")


async def label_selectors_choose(api: Api) -> None:
    await _pages(api)
    for selector in (
        "x=1",
        "x==2",
        "x!=1",
        "x",
        "!x",
        "x in (1,2)",
        "x notin (1)",
        "x=1,y=1",
        "x>1",
        "x<2",
        "z",
    ):
        found = await api.get("configmaps", labelSelector=selector, quiet=True)
        api.answers.append([selector, _names(found)])


async def a_bad_label_selector_is_refused(api: Api) -> None:
    answer = await api.get("configmaps", labelSelector="x in", quiet=True)
    assert answer is None


async def field_selectors_choose_by_name_and_namespace(api: Api) -> None:
    await _pages(api)
    await api.get("configmaps", fieldSelector="metadata.name=b")
    await api.get("configmaps", fieldSelector="metadata.name!=b")
    await api.get("configmaps", fieldSelector="metadata.namespace=elsewhere")
    await api.get("configmaps", fieldSelector="data.x=1")


async def pods_are_selected_by_phase_and_node(api: Api) -> None:
    await api.post("pods", pod("a", nodeName="n1"), quiet=True)
    await api.post("pods", pod("b"), quiet=True)
    await api.merge("pods", "a", {"status": {"phase": "Running"}}, "status", quiet=True)
    for selector in ("status.phase=Running", "spec.nodeName=n1", "spec.nodeName=", "status.phase!=Running"):
        found = await api.get("pods", fieldSelector=selector, quiet=True)
        api.answers.append([selector, _names(found)])
    for name in ("a", "b"):
        await api.delete("pods", name, {"gracePeriodSeconds": 0}, quiet=True)


async def a_crds_selectable_fields_choose(api: Api) -> None:
    await api.post("widgets", widget("a", mode="slow"), quiet=True)
    await api.post("widgets", widget("b", size=3), quiet=True)
    for selector in ("spec.mode=slow", "spec.mode=fast", "spec.size=3", "spec.mode!=slow,metadata.name=b"):
        found = await api.get("widgets", fieldSelector=selector, quiet=True)
        api.answers.append([selector, _names(found)])
    await api.get("widgets", fieldSelector="spec.text=a")


async def a_list_comes_in_pages_of_one_state(api: Api) -> None:
    await _pages(api)
    first = await api.get("configmaps", limit="2")
    await api.post("configmaps", page("d"), quiet=True)
    token = first["metadata"]["continue"]
    second = await api.get("configmaps", **{"limit": "2", "continue": token})
    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    await api.get("configmaps", **{"limit": "2", "continue": token, "resourceVersion": "1"})
    await api.get("configmaps", brief=True, **{"limit": "2", "continue": "nonsense"})


async def a_list_can_be_of_a_version(api: Api) -> None:
    await _pages(api)
    now = await api.get("configmaps", quiet=True)
    version = now["metadata"]["resourceVersion"]
    await api.post("configmaps", page("d"), quiet=True)
    exact = await api.get("configmaps", resourceVersion=version, resourceVersionMatch="Exact", quiet=True)
    api.answers.append([_names(exact), exact["metadata"]["resourceVersion"] == version])
    newer = await api.get(
        "configmaps", resourceVersion=version, resourceVersionMatch="NotOlderThan", quiet=True
    )
    api.answers.append(_names(newer))
    await api.get("configmaps", resourceVersionMatch="Exact")
    await api.get("configmaps", resourceVersion="nonsense")


async def a_version_of_the_future_is_too_large(api: Api) -> None:
    answer = await api.get("configmaps", resourceVersion="99999999999", quiet=True)
    assert answer is None
    answer = await api.get("configmaps", "x", resourceVersion="99999999999", quiet=True)
    assert answer is None


async def metadata_alone_can_be_asked_for(api: Api) -> None:
    await api.post("configmaps", page(labels={"a": "1"}, x="1"), quiet=True)
    await api.get("configmaps", "page", accept=_PARTIAL)
    await api.get("configmaps", accept=_PARTIAL_LIST)
    await api.post("widgets", widget(), quiet=True)
    await api.get("widgets", "widget", accept=_PARTIAL)
    await api.get("widgets", accept=_PARTIAL_LIST)


async def discovery_lists_groups_and_resources(api: Api) -> None:
    groups = await api.send("GET", "/apis", quiet=True)
    api.answers.append([each for each in groups["groups"] if each["name"] == GROUP])
    listed = await api.send("GET", f"/apis/{GROUP}/v1", quiet=True)
    kept = [{k: v for k, v in each.items() if k != "storageVersionHash"} for each in listed["resources"]]
    api.answers.append(sorted(kept, key=lambda each: each["name"]))
    core = await api.send("GET", "/api/v1", quiet=True)
    pods = [each for each in core["resources"] if each["name"] in ("pods", "pods/status", "configmaps")]
    api.answers.append([{k: v for k, v in each.items() if k != "storageVersionHash"} for each in pods])
    versions = await api.send("GET", "/api", quiet=True)
    api.answers.append(versions["versions"])


async def events_are_one_resource_in_two_groups(api: Api) -> None:
    about = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "namespace": api._namespace}
    await api.post("events", event(note="Made it", reportingController="c", regarding=about))
    await api.merge(
        "events", "e", {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:01:00.000000Z"}}
    )


CASES = (
    a_list_has_no_kind_in_its_items,
    label_selectors_choose,
    a_bad_label_selector_is_refused,
    field_selectors_choose_by_name_and_namespace,
    pods_are_selected_by_phase_and_node,
    a_crds_selectable_fields_choose,
    a_list_comes_in_pages_of_one_state,
    a_list_can_be_of_a_version,
    a_version_of_the_future_is_too_large,
    metadata_alone_can_be_asked_for,
    discovery_lists_groups_and_resources,
    events_are_one_resource_in_two_groups,
)
