# SPDX-License-Identifier: Apache-2.0
"""Rights that hold in one namespace alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kubernetes.aio.client import V1ConfigMap, V1Namespace

from dglop import (
    Context,
    CustomResource,
    Manager,
    Rule,
    SchemaError,
    Settings,
    Spec,
    Status,
    Watch,
    needs,
)
from dglop.runtime.api import merge_rules, role_manifest
from dglop.runtime.cache import ALL_NAMESPACES, CacheOptions, KindOptions, Selection
from dglop.runtime.handler import mapped

if TYPE_CHECKING:
    from collections.abc import Sequence


class Book(CustomResource[Spec, Status], group="example.dev", version="v1", scope="Cluster"):
    """A kind whose ledger is in one namespace."""


@needs(
    Rule.of(V1ConfigMap, "create", namespace="shared"),
    Rule.of(V1ConfigMap, "patch", names=["ledger"], namespace="shared"),
)
async def reconcile(book: Book, ctx: Context) -> None:
    """Nothing."""


def rights(**settings: Any) -> dict[tuple[str, str, str], Any]:
    manager = Manager(Settings(**settings), name="books")
    manager.controller(Book, reconcile)
    found = manager.rights("home")
    return {
        (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each
        for each in found
    }


@pytest.mark.parametrize("namespace", ["", "red,shared"])
def test_rules_of_a_namespace_are_a_role_and_a_binding_there(namespace: str) -> None:
    found = rights(namespace=namespace)
    role = found["Role", "shared", "books-in-shared"]
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"], "resourceNames": ["ledger"]},
    ]
    binding = found["RoleBinding", "shared", "books-in-shared"]
    assert binding["roleRef"]["name"] == "books-in-shared"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "books", "namespace": "home"}]
    others = [each for key, each in found.items() if key[2] != "books-in-shared"]
    assert "configmaps" not in str(others)


def test_what_is_allowed_everywhere_is_left_out_of_the_rules_of_a_namespace() -> None:
    rules = [
        Rule.of(V1ConfigMap, "get"),
        Rule.of(V1ConfigMap, "get", "create", namespace="shared"),
        Rule.of(V1ConfigMap, "create", "patch", names=["ledger"], namespace="shared"),
    ]
    assert merge_rules(rules) == [
        Rule(("",), ("configmaps",), ("get",)),
        Rule(("",), ("configmaps",), ("create",), namespace="shared"),
        Rule(("",), ("configmaps",), ("patch",), ("ledger",), namespace="shared"),
    ]


def test_a_rule_that_cannot_hold_where_it_is_put_is_refused() -> None:
    with pytest.raises(SchemaError, match="namespaces is in no namespace"):
        Rule.of(V1Namespace, "get", namespace="shared")
    with pytest.raises(SchemaError, match="belongs in a Role there"):
        role_manifest("a", [Rule.of(V1ConfigMap, "get", namespace="shared")])


class Note(CustomResource[Spec, Status], group="example.dev", version="v1"):
    """A kind that has a namespace."""


async def read(note: Note, ctx: Context) -> None:
    """Nothing."""


def places(cache: CacheOptions, *, watches: Sequence[Watch] = (), **settings: Any) -> dict[str, set[str]]:
    """In which namespaces what may be done to which resources."""
    manager = Manager(Settings(**settings), name="notes", cache=cache)
    manager.controller(Note, read, owns=[V1ConfigMap], watches=watches)
    found: dict[str, set[str]] = {}
    for role in manager.rights("home"):
        for rule in role.get("rules", ()):
            for resource in rule["resources"]:
                found.setdefault(f"{resource} {rule['verbs'][0]}", set()).add(
                    role["metadata"].get("namespace", "")
                )
    return found


def test_what_the_cache_looks_for_in_some_namespaces_may_be_read_in_these_alone() -> None:
    kinds = {V1ConfigMap: KindOptions(namespaces=("blue", "red"))}
    found = places(CacheOptions(kinds=kinds))
    assert found["configmaps get"] == {"blue", "red"}
    assert found["notes get"] == found["notes/status patch"] == {""}
    found = places(CacheOptions(namespaces=("green",), kinds=kinds))
    assert found["configmaps get"] == {"blue", "red"}
    assert found["notes get"] == found["notes/status patch"] == found["notes/finalizers update"] == {"green"}


def test_a_setting_goes_before_the_namespaces_of_the_cache_but_not_of_a_kind() -> None:
    kinds = {V1ConfigMap: KindOptions(namespaces=("blue",))}
    found = places(CacheOptions(namespaces=("green",), kinds=kinds), namespace="red")
    assert (found["notes get"], found["configmaps get"]) == ({"red"}, {"blue"})


def test_a_kind_that_is_looked_for_everywhere_as_well_may_be_read_everywhere() -> None:
    rest = CacheOptions(
        kinds={V1ConfigMap: KindOptions(namespaces={"blue": Selection(), ALL_NAMESPACES: Selection()})}
    )
    assert places(rest)["configmaps get"] == {""}
    only = CacheOptions(kinds={V1ConfigMap: KindOptions(namespaces=("blue",))})
    own = Watch(V1ConfigMap, mapped(lambda _: ()), informer=lambda cache: cache.informer(V1ConfigMap))
    assert places(only, watches=[own])["configmaps get"] == {""}
