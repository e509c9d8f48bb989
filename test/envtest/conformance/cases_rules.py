# SPDX-License-Identifier: Apache-2.0
"""Cases: the rules of a CRD, written in CEL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from test.envtest.conformance.objects import gauge, relic, relic_crd

if TYPE_CHECKING:
    from test.envtest.conformance.api import Api


async def rules_are_asked_at_creation(api: Api) -> None:
    await api.post("gauges", gauge())
    for name, spec in (
        ("a-name-that-is-too-long", {}),
        ("a", {"low": 5, "high": 1}),
        ("b", {"low": 200}),
        ("c", {"kind": "odd"}),
        ("d", {"only": "x", "other": "y"}),
        ("e", {"marks": [{"name": "a", "at": 1}, {"name": "b", "at": -1}]}),
        ("f", {"named": {"k": 0}}),
        ("g", {"port": 0}),
        ("h", {"port": "http"}),
        ("i", {"low": 0, "step": 0}),
        ("j", {"words": ["a", "bb", "ccc"]}),
    ):
        await api.post("gauges", gauge(name, **spec))


async def rules_about_changes_are_asked_of_changes(api: Api) -> None:
    await api.post("gauges", gauge(serial=5, fixed="a", marks=[{"name": "a", "at": 5}]))
    for spec in (
        {"fixed": "b"},
        {"fixed": None},
        {"serial": 4},
        {"serial": 6},
        {"serial": None},
        {"marks": [{"name": "b", "at": 1}, {"name": "a", "at": 4}]},
        {"marks": [{"name": "b", "at": 1}, {"name": "a", "at": 6}]},
    ):
        await api.merge("gauges", "gauge", {"spec": spec})
    await api.post("gauges", gauge("early", serial=0))


async def rules_are_not_asked_of_what_is_of_another_type(api: Api) -> None:
    await api.post("gauges", gauge(low="a", high=-1))
    await api.post("gauges", gauge(low=5, high=1, mode="odd"))
    await api.post("gauges", {**gauge(), "spec": {"low": 5}})


async def rules_go_for_apply_and_for_the_status(api: Api) -> None:
    await api.apply("gauges", "gauge", gauge(low=5, high=1), "one")
    await api.apply("gauges", "gauge", gauge(low=0, high=1), "one")
    await api.apply("gauges", "gauge", gauge(low=2, high=1), "one")
    await api.merge("gauges", "gauge", {"status": {"seen": 9, "most": 5}}, "status")
    await api.merge("gauges", "gauge", {"status": {"seen": 4, "most": 5}}, "status")


async def what_was_wrong_before_its_schema_may_stay(api: Api) -> None:
    first = relic_crd({"type": "integer"})
    await api.post("customresourcedefinitions", first, quiet=True)
    await api.until(200, "POST", api.path("relics"), relic())
    await api.post("relics", relic())
    rule: dict[str, Any] = {"rule": "self < 20", "message": "too much"}
    tighter = relic_crd({"type": "integer", "maximum": 30, "x-kubernetes-validations": [rule]})
    name = first["metadata"]["name"]
    await api.merge("customresourcedefinitions", name, tighter, quiet=True)
    await api.until(422, "POST", api.path("relics"), relic("other"))
    await api.merge("relics", "relic", {"metadata": {"labels": {"a": "b"}}})
    await api.merge("relics", "relic", {"spec": {"more": 60}})
    await api.merge("relics", "relic", {"spec": {"more": 5}})
    # The server may have looked at an older state first, and warns of that too.
    await api.merge("relics", "relic", {"spec": {"size": 25}}, brief=True)
    await api.post("relics", relic("new"))
    await api.delete("customresourcedefinitions", name, quiet=True)


async def a_kind_ends_with_its_crd(api: Api) -> None:
    crd = relic_crd({"type": "integer"}, "Fossil")
    await api.post("customresourcedefinitions", crd, quiet=True)
    await api.until(200, "POST", api.path("fossils"), relic(kind="Fossil"))
    await api.post("fossils", relic(kind="Fossil"))
    await api.delete("customresourcedefinitions", crd["metadata"]["name"], quiet=True)
    await api.until(404, "POST", api.path("fossils"), relic(kind="Fossil"))
    await api.get("fossils", "relic")


CASES = (
    rules_are_asked_at_creation,
    rules_about_changes_are_asked_of_changes,
    rules_are_not_asked_of_what_is_of_another_type,
    rules_go_for_apply_and_for_the_status,
    what_was_wrong_before_its_schema_may_stay,
    a_kind_ends_with_its_crd,
)
