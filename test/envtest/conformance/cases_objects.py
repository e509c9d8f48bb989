# SPDX-License-Identifier: Apache-2.0
"""Cases: names, kinds and versions at creation, reading and replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from test.envtest.conformance.objects import page, service, widget

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
    await api.post("widgets", {**widget(), "apiVersion": "conformance.dglop.dev/v2"}, brief=True)


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


async def a_dry_run_changes_nothing(api: Api) -> None:
    await api.post("configmaps", page(a="1"), dryRun="All")
    await api.get("configmaps", "page")
    await api.post("widgets", widget())
    await api.merge("widgets", "widget", {"spec": {"text": "b"}}, dryRun="All")
    await api.delete("widgets", "widget", {"dryRun": ["All"]})
    await api.delete("widgets", "widget", dryRun="All")
    await api.get("widgets", "widget")
    await api.post("configmaps", page("other"), dryRun="Some")


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
    a_dry_run_changes_nothing,
)
