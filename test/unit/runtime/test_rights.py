# SPDX-License-Identifier: Apache-2.0
"""What a Manager must be allowed follows from its controllers and from what is declared beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop.runtime.api import CustomResource, Resource, Rule, Spec, Status
from dglop.runtime.crdinstall import versions_of
from dglop.runtime.manager import Manager
from dglop.runtime.rights import declared_rules, needs
from dglop.runtime.settings import Settings

if TYPE_CHECKING:
    from dglop.runtime.context import Context

POD = Resource("", "v1", "Pod", "pods")
SECRET = Resource("", "v1", "Secret", "secrets")


class Toy(CustomResource[Spec, Status], group="example.dev", version="v1"):
    """A toy."""


class ToyBeta(CustomResource[Spec, Status], group="example.dev", version="v1beta1", kind="Toy"):
    """A toy, earlier."""


@needs(Rule.of(POD, "create", "delete"))
@needs(Rule.of(SECRET, "get", names=("mine",)))
async def reconcile(toy: Toy, ctx: Context) -> None:
    """Does nothing."""


class Whole:
    """A reconciler that is an object."""

    @needs(Rule.of(SECRET, "create"))
    async def __call__(self, toy: Toy, ctx: Context) -> None:
        """Does nothing."""


def _manager(**settings: Any) -> Manager:
    return Manager(Settings(**settings))


def test_rules_come_from_kinds_from_declarations_and_from_the_registration() -> None:
    manager = _manager(install_crds=True)
    manager.controller(Toy, reconcile, owns=[POD], rules=[Rule.of(SECRET, "delete", names=("mine",))])
    reads = ("get", "list", "watch")
    assert manager.rules() == [
        Rule(("",), ("pods",), ("create", "delete", *reads)),
        Rule(("",), ("secrets",), ("delete", "get"), ("mine",)),
        Rule(("apiextensions.k8s.io",), ("customresourcedefinitions",), ("create", "patch", "watch")),
        Rule(("events.k8s.io",), ("events",), ("create", "patch")),
        Rule(("example.dev",), ("toys",), reads),
        Rule(("example.dev",), ("toys/finalizers",), ("update",)),
        Rule(("example.dev",), ("toys/status",), ("patch",)),
    ]


def test_its_own_namespace_needs_the_lease_by_name_and_events() -> None:
    rules = _manager(leader_election_id="toys").own_rules()
    assert Rule(("coordination.k8s.io",), ("leases",), ("create",)) in rules
    assert Rule(("coordination.k8s.io",), ("leases",), ("get", "patch", "update"), ("toys",)) in rules


@pytest.mark.parametrize(("given", "lease"), [("", "team"), ("shared", "shared")])
def test_the_lease_is_named_as_the_manager_unless_the_settings_name_it(
    given: str, lease: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DGLOP_LEADER_ELECTION_ID", given)
    named = [names for rule in Manager(name="team").own_rules() if (names := rule.names)]
    assert named == [(lease,)]


def test_the_manifests_give_all_rights_to_one_account() -> None:
    manager = Manager(Settings(namespace="team"), name="toys")
    manager.controller(Toy, reconcile)
    role, binding, own, own_binding = manager.rights("system", "worker")
    assert (role["kind"], role["metadata"]) == ("Role", {"name": "toys", "namespace": "team"})
    assert (own["kind"], own["metadata"]) == ("Role", {"name": "toys-own", "namespace": "system"})
    subject = {"kind": "ServiceAccount", "name": "worker", "namespace": "system"}
    assert binding["subjects"] == own_binding["subjects"] == [subject]
    assert (binding["roleRef"]["name"], own_binding["roleRef"]["name"]) == ("toys", "toys-own")
    everywhere = Manager(Settings(), name="toys").rights("system")
    assert [each["kind"] for each in everywhere] == [
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
    ]


def test_in_several_namespaces_the_rights_are_given_in_each() -> None:
    manager = Manager(Settings(namespace="red, blue"), name="toys")
    manager.controller(Toy, reconcile)
    places = [each["metadata"]["namespace"] for each in manager.rights("system") if each["kind"] == "Role"]
    assert places == ["red", "blue", "system"]
    assert list(manager.home_options().namespaces) == ["red", "blue"]


def test_declarations_are_found_on_functions_and_on_objects() -> None:
    assert declared_rules(Whole()) == (Rule.of(SECRET, "create"),)
    assert len(declared_rules(reconcile)) == 2
    assert declared_rules(lambda _toy, _ctx: None) == ()


def test_versions_of_one_kind_make_one_crd() -> None:
    assert versions_of([Toy, ToyBeta, Toy, dict]) == [(Toy, ToyBeta)]
