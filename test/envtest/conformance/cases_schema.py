# SPDX-License-Identifier: Apache-2.0
"""Cases: what a schema says: pruning, defaults, validation, unknown fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from test.envtest.conformance.objects import WIDGET_CRD, event, page, pod, relic_crd, widget

if TYPE_CHECKING:
    from test.envtest.conformance.api import Api


async def defaults_are_set_and_unknown_fields_dropped(api: Api) -> None:
    spec: dict[str, Any] = {
        "unknown": 1,
        "raw": {"any": {"thing": [1]}},
        "nested": {"must": "a", "other": 1},
        "items": [{"name": "a"}],
    }
    await api.post("widgets", {**widget(**spec), "extra": True})
    await api.get("widgets", "widget")


async def nulls_are_dropped_unless_they_are_allowed(api: Api) -> None:
    await api.post("widgets", widget(mode=None, size=None, maybe=None, nested={"must": "a", "may": None}))


async def types_are_checked(api: Api) -> None:
    for spec in (
        {"size": "big"},
        {"size": 1.5},
        {"text": 1},
        {"flag": "yes"},
        {"plain": "a"},
        {"plain": [1]},
        {"labels": ["a"]},
        {"labels": {"a": 1}},
        {"nested": 1},
        {"items": [1]},
        {"port": True},
        {"raw": "x"},
        {"ratio": "x"},
        {"replicas": 99999999999},
    ):
        await api.post("widgets", widget(**spec))


async def values_are_checked(api: Api) -> None:
    bad: tuple[dict[str, Any], ...] = (
        {"text": ""},
        {"text": "toolong"},
        {"text": "A"},
        {"size": 0},
        {"size": 11},
        {"ratio": 0},
        {"mode": "odd"},
        {"plain": []},
        {"items": [{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}]},
        {"items": [{"name": "a"}, {"name": "a"}]},
        {"items": [{"value": 1}]},
        {"tags": ["a", "a"]},
        {"counts": {"a": 1, "b": 2, "c": 3}},
        {"nested": {}},
        {"when": "yesterday"},
        {"step": 7},
        {"key": "none"},
        {"block": "1.2.3"},
        {"inner": {"no": "kind"}},
    )
    for spec in bad:
        await api.post("widgets", widget(**spec))


async def all_problems_are_told_at_once(api: Api) -> None:
    await api.post("widgets", widget(text="", size=99, mode="odd"))


async def required_fields_are_asked_for(api: Api) -> None:
    await api.post("widgets", {**widget(), "spec": {}})
    body = widget()
    del body["spec"]
    await api.post("widgets", body)


async def integers_are_of_64_bits(api: Api) -> None:
    await api.post("widgets", widget(counts={"a": 2**63}))
    await api.post("widgets", widget(counts={"a": -(2**70)}))
    await api.post("widgets", widget(port=2**63))
    await api.post("widgets", widget(counts={"a": 2**63 - 1, "b": -(2**63)}))


async def patterns_are_those_of_go(api: Api) -> None:
    for spec in ({"letter": "1"}, {"digits": "\u0663"}, {"digits": "1\n"}):
        await api.post("widgets", widget(**spec))
    await api.post("widgets", widget(letter="\u00e4", digits="12"))


async def nulls_in_maps_and_lists_stay_where_they_are_allowed(api: Api) -> None:
    await api.post("widgets", widget(counts={"a": None, "b": 1}, holes={"a": None}, row=[None, 1]))
    await api.post("widgets", widget("other", plain=[None]))


async def a_type_that_json_has_and_crds_have_not_is_refused(api: Api) -> None:
    await api.post("customresourcedefinitions", relic_crd({"type": "null"}, "Nothing"), brief=True)


async def events_are_checked(api: Api) -> None:
    changes: tuple[dict[str, Any], ...] = (
        {"type": "Loud"},
        {"action": "\u00e9" * 300},
        {"action": ""},
        {"reason": ""},
        {"reason": "r" * 129},
        {"note": "n" * 1025},
        {"reportingController": "a b"},
        {"reportingInstance": ""},
    )
    about = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "namespace": api._namespace}
    for change in changes:
        await api.post("events", event(regarding=about, **change), brief=True)
    await api.post("events", event(regarding=about))


async def what_is_right_passes(api: Api) -> None:
    spec: dict[str, Any] = {
        "size": 10,
        "ratio": 0.5,
        "mode": "slow",
        "port": "http",
        "maybe": "x",
        "step": 10,
    }
    spec |= {"when": "2026-01-01T00:00:00Z", "counts": {"a": 1}, "flag": False, "replicas": 0}
    await api.post("widgets", widget(**spec))
    await api.merge("widgets", "widget", {"spec": {"port": 80, "ratio": 2}})


async def a_change_is_checked_like_a_creation(api: Api) -> None:
    await api.post("widgets", widget())
    await api.merge("widgets", "widget", {"spec": {"size": 99}})
    await api.merge("widgets", "widget", {"spec": {"text": None}})
    await api.merge("widgets", "widget", {"status": {"phase": 1}}, "status")
    await api.apply("widgets", "widget", widget(size=99), "one")
    await api.apply("widgets", "widget", widget(size="x"), "one")


async def unknown_fields_are_refused_where_that_is_asked(api: Api) -> None:
    await api.post("widgets", widget(unknown=1), fieldValidation="Strict")
    await api.post("configmaps", {**page(), "unknown": 1}, fieldValidation="Strict")
    await api.post("configmaps", {**page(), "unknown": 1}, fieldValidation="Ignore")


async def apply_refuses_unknown_fields_of_built_in_kinds(api: Api) -> None:
    await api.apply("configmaps", "page", {**page(), "unknown": 1}, "one")
    await api.apply("widgets", "widget", widget(unknown=1), "one")


async def built_in_kinds_drop_what_they_do_not_know(api: Api) -> None:
    await api.post("configmaps", {**page(), "unknown": 1})
    body = pod()
    body["spec"]["unknown"] = 1
    await api.post("pods", body)


async def built_in_kinds_ask_for_their_required_fields(api: Api) -> None:
    body = pod()
    body["spec"]["containers"] = []
    await api.post("pods", body)
    await api.post("pods", {**pod(), "spec": {"containers": [{"name": "main"}]}})
    await api.post("pods", {**pod(), "spec": {"containers": [{"image": "a"}]}})
    await api.post("pods", pod(restartPolicy="Sometimes"))


async def built_in_kinds_check_types(api: Api) -> None:
    await api.post("configmaps", {**page(), "data": {"a": 1}}, quiet=True)
    body = pod()
    body["spec"]["containers"][0]["command"] = "sleep"
    answer = await api.post("pods", body, quiet=True)
    assert answer is None


async def a_pod_gets_its_defaults(api: Api) -> None:
    body = pod(volumes=[{"name": "v", "emptyDir": {}}, {"name": "c", "configMap": {"name": "x"}}])
    container = body["spec"]["containers"][0]
    container["ports"] = [{"containerPort": 80}]
    container["readinessProbe"] = {"httpGet": {"port": 80}}
    container["resources"] = {"limits": {"nvidia.com/gpu": 1, "memory": "1Gi"}}
    container["env"] = [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]
    body["spec"]["initContainers"] = [{"name": "init", "image": "example.dev/any"}]
    await api.post("pods", body)


async def a_crd_is_established_and_completed(api: Api) -> None:
    crd = await api.get("customresourcedefinitions", WIDGET_CRD["metadata"]["name"], quiet=True)
    conditions = {each["type"]: each["status"] for each in crd["status"]["conditions"]}
    api.answers.append([conditions, crd["status"]["acceptedNames"], crd["status"]["storedVersions"]])
    api.answers.append([crd["spec"]["names"], crd["spec"]["conversion"], crd["spec"]["scope"]])


async def a_crd_must_be_structural_and_named_after_its_plural(api: Api) -> None:
    await api.post("customresourcedefinitions", {**WIDGET_CRD, "metadata": {"name": "wrong.example.dev"}})


CASES = (
    defaults_are_set_and_unknown_fields_dropped,
    nulls_are_dropped_unless_they_are_allowed,
    types_are_checked,
    values_are_checked,
    all_problems_are_told_at_once,
    required_fields_are_asked_for,
    integers_are_of_64_bits,
    patterns_are_those_of_go,
    nulls_in_maps_and_lists_stay_where_they_are_allowed,
    a_type_that_json_has_and_crds_have_not_is_refused,
    events_are_checked,
    what_is_right_passes,
    a_change_is_checked_like_a_creation,
    unknown_fields_are_refused_where_that_is_asked,
    apply_refuses_unknown_fields_of_built_in_kinds,
    built_in_kinds_drop_what_they_do_not_know,
    built_in_kinds_ask_for_their_required_fields,
    built_in_kinds_check_types,
    a_pod_gets_its_defaults,
    a_crd_is_established_and_completed,
    a_crd_must_be_structural_and_named_after_its_plural,
)
