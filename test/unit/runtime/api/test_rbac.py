# SPDX-License-Identifier: Apache-2.0
"""Rules merge into as few as say the same, in one order."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dglop.errors import SchemaError
from dglop.runtime.api import CustomResource, Resource, Rule, Spec, Status, merge_rules, role_manifest

POD = Resource("", "v1", "Pod", "pods")


class Toy(CustomResource[Spec, Status], group="example.dev", version="v1"):
    """A toy."""


def test_a_rule_is_named_by_its_kind() -> None:
    assert Rule.of(Toy, "patch", subresource="status") == Rule(("example.dev",), ("toys/status",), ("patch",))
    assert Rule.of(POD, "get", names=("a",)) == Rule(("",), ("pods",), ("get",), ("a",))


def test_rules_merge_the_same_way_in_any_order() -> None:
    rules = [
        Rule.of(POD, "list", "get"),
        Rule.of(POD, "watch"),
        Rule(("",), ("services", "secrets"), ("get", "list", "watch")),
        Rule(("",), ("secrets",), ("get", "delete"), ("mine",)),
        Rule(("apps",), ("deployments",), ("*", "get")),
        Rule((), (), ("get",), urls=("/metrics",)),
    ]
    wanted = [
        Rule(("",), ("pods", "secrets", "services"), ("get", "list", "watch")),
        Rule(("",), ("secrets",), ("delete",), ("mine",)),
        Rule(("apps",), ("deployments",), ("*",)),
        Rule((), (), ("get",), (), ("/metrics",)),
    ]
    for order in permutations(rules):
        assert merge_rules(order) == wanted


_WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True).map(tuple)
_RULES = st.lists(st.builds(Rule, _WORDS, _WORDS, _WORDS, st.just(()) | _WORDS), max_size=6)


def _allowed(rules: list[Rule]) -> set[tuple[str, ...]]:
    """Every single right; what goes for all names goes for each of them."""
    return {
        (group, resource, verb, name)
        for rule in rules
        for group in rule.groups
        for resource in rule.resources
        for verb in rule.verbs
        for name in (rule.names or ("a", "b", "c", "any other"))
    }


@given(_RULES)
def test_merging_neither_adds_nor_drops_a_right(rules: list[Rule]) -> None:
    merged = merge_rules(rules)
    assert _allowed(merged) == _allowed(rules)
    assert merge_rules(merged) == merged


def test_a_role_has_no_paths_and_a_cluster_role_may() -> None:
    rules = [Rule((), (), ("get",), urls=("/metrics",))]
    manifest = role_manifest("reader", rules)
    assert manifest["rules"] == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
    with pytest.raises(SchemaError, match="put them in a ClusterRole"):
        role_manifest("reader", rules, "n")
