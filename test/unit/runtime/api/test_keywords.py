# SPDX-License-Identifier: Apache-2.0
"""The keywords of a kind's class are checked at the class."""

import types
from typing import Any

import pytest

from dglop.errors import SchemaError
from dglop.runtime.api import CEL, Column, CustomResource, Scale, Spec, Status, crd_manifest


class PlainSpec(Spec):
    size: int = 0


def kind(**keywords: Any) -> type:
    whole = {"group": "example.dev", "version": "v1", **keywords}
    return types.new_class("Foo", (CustomResource[PlainSpec, Status],), whole)


@pytest.mark.parametrize(
    ("keywords", "why"),
    [
        ({"scope": "namespaced"}, "scope is 'namespaced'; write 'Namespaced' or 'Cluster'"),
        ({"scope": "Nope"}, "scope is 'Nope'"),
        ({"group": ""}, "group is ''; a kind needs both"),
        ({"version": ""}, "version is ''; a kind needs both"),
        ({"group": "Bad Group"}, "group is 'Bad Group'; write a domain"),
        ({"group": "nodot"}, "group is 'nodot'; write a domain"),
        ({"version": "1"}, "version is '1'; write at most 63 lower case letters"),
        ({"kind": "Foo Bar"}, "kind is 'Foo Bar'"),
        ({"kind": "É"}, "kind is 'É'"),
        ({"plural": "pods/status"}, "plural is 'pods/status'"),
        ({"singular": "Foo"}, "singular is 'Foo'"),
        ({"short_names": "foo"}, r"short_names is 'foo'; write a tuple of strings: short_names=\('foo',\)"),
        ({"short_names": ["Foo"]}, "short_names is 'Foo'"),
        ({"categories": "all"}, "categories is 'all'; write a tuple"),
        ({"selectable": ".spec.a"}, "selectable is '.spec.a'; write a tuple"),
        ({"selectable": ["spec.a"]}, "selectable is 'spec.a'; a JSON path starts with a dot"),
        ({"columns": ["A"]}, r"columns is \['A'\]; write a dict"),
        ({"columns": {"A": 5}}, r"columns\['A'\] is 5; write a JSON path, or a Column"),
        ({"columns": {"A": "status.x"}}, r"columns\['A'\] is 'status.x'; a JSON path starts with a dot"),
        ({"columns": {"": ".spec.a"}}, "each column needs a header"),
        ({"columns": {"A": Column(".spec.a", "text")}}, "'text'; its type is string or integer"),
        ({"scale": True}, r"scale is True; write scale=Scale\(\)"),
        ({"scale": Scale(spec_path="spec.x")}, "scale is 'spec.x'; a JSON path"),
        ({"rules": ("x",)}, r"rules is 'x'; write each rule as CEL"),
        ({"rules": CEL("true")}, "write a tuple"),
        ({"storage": "yes"}, "storage is 'yes'; write True or False"),
    ],
)
def test_a_keyword_that_no_server_takes_is_told_with_what_to_write(
    keywords: dict[str, Any], why: str
) -> None:
    with pytest.raises(SchemaError, match=f"^Foo: .*{why}"):
        kind(**keywords)


def test_rules_of_a_spec_are_checked_too() -> None:
    with pytest.raises(SchemaError, match="Odd: rules is 'x'"):
        types.new_class("Odd", (Spec,), {"rules": ("x",)})


def test_a_base_in_between_has_no_keywords_and_makes_no_crd() -> None:
    class Base(CustomResource[PlainSpec, Status]):
        """No kind yet."""

    with pytest.raises(SchemaError, match="Base is no kind: give its class a group and a version"):
        crd_manifest(Base)
