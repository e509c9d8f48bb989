# SPDX-License-Identifier: Apache-2.0
"""Cases: watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from test.envtest.conformance.objects import page, pod, widget

if TYPE_CHECKING:
    from test.envtest.conformance.api import Api


async def _pages(api: Api) -> None:
    for name, labels in (("a", {"x": "1", "y": "1"}), ("b", {"x": "2"}), ("c", {"y": "3"})):
        await api.post("configmaps", page(name, labels=labels), quiet=True)


async def a_watch_from_a_version_tells_what_came_after(api: Api) -> None:
    made = await api.post("configmaps", page("a"), quiet=True)
    await api.merge("configmaps", "a", {"data": {"x": "1"}}, quiet=True)
    await api.post("configmaps", page("b"), quiet=True)
    await api.delete("configmaps", "a", quiet=True)
    await api.watch("configmaps", 3, resourceVersion=made["metadata"]["resourceVersion"])


async def a_watch_without_a_version_begins_with_what_is_there(api: Api) -> None:
    await api.post("widgets", widget("a"), quiet=True)
    await api.watch("widgets", 1)
    await api.watch("widgets", 1, resourceVersion="0")


async def a_watch_from_before_all_history_has_expired(api: Api) -> None:
    seen = await api.watch("widgets", 1, resourceVersion="1", quiet=True)
    status = seen[0]["object"]
    api.answers.append([seen[0]["type"], status["code"], status["reason"], status["kind"]])


async def a_deleted_pod_is_seen_as_it_was_last(api: Api) -> None:
    made = await api.post("pods", pod("a"), quiet=True)
    await api.post("pods", pod("b", nodeName="n"), quiet=True)
    for name in ("a", "b", "b"):
        await api.delete("pods", name, {"gracePeriodSeconds": 3 if name == "b" else 0}, quiet=True)
    await api.delete("pods", "b", {"gracePeriodSeconds": 0}, quiet=True)
    await api.watch("pods", 6, resourceVersion=made["metadata"]["resourceVersion"])


async def a_watch_tells_what_happens(api: Api) -> None:
    listed = await api.get("widgets", quiet=True)

    async def work() -> None:
        await api.post("widgets", widget("a"), quiet=True)
        await api.merge("widgets", "a", {"spec": {"text": "b"}}, quiet=True)
        await api.delete("widgets", "a", quiet=True)

    await api.watch("widgets", 3, work, resourceVersion=listed["metadata"]["resourceVersion"])


async def a_watch_by_labels_tells_of_coming_and_going(api: Api) -> None:
    listed = await api.get("configmaps", quiet=True)
    await api.post("configmaps", page("a"), quiet=True)
    await api.merge("configmaps", "a", {"metadata": {"labels": {"x": "1"}}}, quiet=True)
    await api.merge("configmaps", "a", {"data": {"k": "v"}}, quiet=True)
    await api.merge("configmaps", "a", {"metadata": {"labels": {"x": "2"}}}, quiet=True)
    version = listed["metadata"]["resourceVersion"]
    await api.watch("configmaps", 3, resourceVersion=version, labelSelector="x=1")


async def a_watch_by_name_sees_no_other(api: Api) -> None:
    listed = await api.get("configmaps", quiet=True)
    await _pages(api)
    version = listed["metadata"]["resourceVersion"]
    await api.watch("configmaps", 1, resourceVersion=version, fieldSelector="metadata.name=b")


async def initial_events_end_with_a_bookmark(api: Api) -> None:
    await api.post("configmaps", page("a"), quiet=True)
    seen = await api.watch(
        "configmaps",
        2,
        sendInitialEvents="true",
        resourceVersionMatch="NotOlderThan",
        allowWatchBookmarks="true",
    )
    assert seen[-1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"] == "true"


async def initial_events_need_the_right_match(api: Api) -> None:
    await api.watch("configmaps", 1, sendInitialEvents="true", allowWatchBookmarks="true")
    await api.watch("configmaps", 1, resourceVersionMatch="NotOlderThan", resourceVersion="1")


async def a_watch_of_metadata_has_metadata_alone(api: Api) -> None:
    await api.post("configmaps", page("a", x="1"), quiet=True)
    await api.watch("configmaps", 1)


async def a_watch_ends_by_its_timeout(api: Api) -> None:
    listed = await api.get("configmaps", quiet=True)
    version = listed["metadata"]["resourceVersion"]
    await api.watch("configmaps", 1, resourceVersion=version, timeoutSeconds="1")


async def a_finalized_deletion_is_seen_as_a_change_and_then_a_deletion(api: Api) -> None:
    metadata = {"name": "a", "finalizers": ["example.dev/hold"]}
    made = await api.post("widgets", {**widget(), "metadata": metadata}, quiet=True)
    await api.delete("widgets", "a", quiet=True)
    await api.merge("widgets", "a", {"metadata": {"finalizers": None}}, quiet=True)
    await api.watch("widgets", 2, resourceVersion=made["metadata"]["resourceVersion"])


CASES = (
    a_watch_from_a_version_tells_what_came_after,
    a_watch_without_a_version_begins_with_what_is_there,
    a_watch_from_before_all_history_has_expired,
    a_deleted_pod_is_seen_as_it_was_last,
    a_watch_tells_what_happens,
    a_watch_by_labels_tells_of_coming_and_going,
    a_watch_by_name_sees_no_other,
    initial_events_end_with_a_bookmark,
    initial_events_need_the_right_match,
    a_watch_of_metadata_has_metadata_alone,
    a_watch_ends_by_its_timeout,
    a_finalized_deletion_is_seen_as_a_change_and_then_a_deletion,
)
