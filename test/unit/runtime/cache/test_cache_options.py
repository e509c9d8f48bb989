# SPDX-License-Identifier: Apache-2.0
"""What a cache keeps of each kind in each namespace, and how much of it."""

from __future__ import annotations

import pytest

from dglop.errors import ConfigError
from dglop.runtime.cache import ALL_NAMESPACES, CacheOptions, KindOptions, Selection, without
from dglop.runtime.cache.entry import read_object
from dglop.runtime.cache.options import scopes_of
from dglop.runtime.cache.transform import transformed
from test.unit.runtime.cache.informers import NODE, POD

OBJECT = b"""{"kind": "Pod", "metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "5",
"annotations": {"a.b/c": "long"}, "labels": {"app": "x"}}, "spec": {"nodeName": "n1", "volumes": [1]}}"""


def test_without_options_all_of_all_namespaces_is_kept() -> None:
    (scope,) = scopes_of(POD, CacheOptions())
    assert (scope.path, scope.query()) == ("/api/v1/pods", {})


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        (CacheOptions(labels="all"), "all"),
        (CacheOptions(labels="all", namespaces={"n": Selection(labels="place")}), "place"),
        (
            CacheOptions(
                namespaces={"n": Selection(labels="place")}, kinds={POD: KindOptions(labels="kind")}
            ),
            "kind",
        ),
        (
            CacheOptions(kinds={POD: KindOptions(labels="kind", namespaces={"n": Selection(labels="both")})}),
            "both",
        ),
        (CacheOptions(labels="all", kinds={POD: KindOptions(labels="")}), ""),
    ],
    ids=["all", "namespace", "kind", "kind in a namespace", "nothing on purpose"],
)
def test_what_is_said_more_closely_goes_first(options: CacheOptions, labels: str) -> None:
    (scope,) = scopes_of(POD, options)
    assert scope.labels == labels
    assert scopes_of(POD, options, labels="asked")[0].labels == "asked"


def test_a_kind_may_be_in_other_namespaces_than_the_rest() -> None:
    options = CacheOptions(namespaces=("a", "b"), kinds={POD: KindOptions(namespaces=("c",))})
    assert [each.namespace for each in scopes_of(POD, options)] == ["c"]
    everywhere = CacheOptions(namespaces=("a", "b"), kinds={POD: KindOptions(namespaces=())})
    assert [each.namespace for each in scopes_of(POD, everywhere)] == [None]
    assert [each.namespace for each in scopes_of(NODE, options)] == [None]


def test_all_other_namespaces_are_seen_without_those_that_are_named() -> None:
    places = {ALL_NAMESPACES: Selection(labels="app"), "a": Selection(), "b": Selection()}
    rest, *named = scopes_of(POD, CacheOptions(namespaces=places))
    assert rest.query() == {
        "labelSelector": "app",
        "fieldSelector": "metadata.namespace!=a,metadata.namespace!=b",
    }
    assert [each.query() for each in named] == [{}, {}]
    assert (rest.covers("c"), rest.covers("a"), named[0].covers("a"), named[0].covers("c")) == (
        True,
        False,
        True,
        False,
    )


def test_a_program_limited_to_namespaces_keeps_what_is_said_of_them() -> None:
    options = CacheOptions(
        namespaces={"a": Selection(labels="app=a"), ALL_NAMESPACES: Selection(labels="app")}
    )
    only = options.only_in(("a", "c"))
    assert [(each.namespace, each.labels) for each in scopes_of(POD, only)] == [("a", "app=a"), ("c", "app")]
    assert [each.namespace for each in scopes_of(POD, CacheOptions().only_in(("a",)))] == ["a"]


def test_a_kind_in_no_namespace_cannot_be_limited_to_one() -> None:
    with pytest.raises(ConfigError, match="nodes is in no namespace"):
        scopes_of(NODE, CacheOptions(kinds={NODE: KindOptions(namespaces=("a",))}))


def test_two_selectors_of_one_kind_are_refused_and_one_limit_keeps_the_others() -> None:
    options = CacheOptions().limited(POD, labels="app").limited(POD, metadata_only=True)
    assert options.of(POD) == KindOptions(labels="app", metadata_only=True)
    with pytest.raises(ConfigError, match="selected by 'app' already"):
        options.limited(POD, labels="other")
    with pytest.raises(ConfigError, match="cannot be transformed"):
        CacheOptions(kinds={POD: KindOptions(transform=without("spec"))}).limited(POD, metadata_only=True)


def test_fields_are_dropped_before_an_object_is_kept() -> None:
    obj, _ = read_object(OBJECT, POD)
    drop = without("spec.volumes", ("metadata", "annotations", "a.b/c"), "status.phase", "spec.nodeName.x")
    kept = transformed(obj, drop)
    assert kept.to_dict()["spec"] == {"nodeName": "n1"}
    assert (kept.meta.annotations, kept.meta.labels) == ({}, {"app": "x"})
    assert len(kept.raw) < len(obj.raw)


def test_a_transform_cannot_make_another_object() -> None:
    obj, _ = read_object(OBJECT, POD)
    with pytest.raises(ValueError, match="must leave name, namespace, uid and resourceVersion alone"):
        transformed(obj, without("metadata.uid"))
