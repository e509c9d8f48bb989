# SPDX-License-Identifier: Apache-2.0
"""What a Manager and its controllers must be allowed to do, from what they are and what they declare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from dglop.runtime.api import (
    CustomResource,
    Resource,
    Rule,
    merge_rules,
    role_binding_manifest,
    role_manifest,
)
from dglop.runtime.controller import Controller
from dglop.runtime.environment import HOME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dglop.runtime.api import Kind
    from dglop.runtime.cache import CacheOptions
    from dglop.runtime.controlloop import ControlLoop

__all__ = ("declared_rules", "manifests_of", "needs", "own_rules", "rules_of")

F = TypeVar("F", bound="Callable[..., object]")

READS = ("get", "list", "watch")
EVENT = Resource("events.k8s.io", "v1", "Event", "events")
LEASE = Resource("coordination.k8s.io", "v1", "Lease", "leases")
CLUSTER_GROUPS = frozenset(
    (
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "authentication.k8s.io",
        "authorization.k8s.io",
    )
)
"""API groups of what is in no namespace, so that a Role cannot give a right to it."""


def needs(*rules: Rule) -> Callable[[F], F]:
    """Declare beside a reconciler what its calls to the API server must be allowed to do.

    What the controller does by itself, reading kinds and writing its status, need not be said.
    """

    def declare(function: F) -> F:
        function.__rbac_rules__ = (*declared_rules(function), *rules)  # type: ignore[attr-defined]
        return function

    return declare


def declared_rules(reconcile: Any) -> tuple[Rule, ...]:
    """The rules that `needs` declared on a function, a class or its `__call__`."""
    holders = (reconcile, getattr(reconcile, "__call__", None))  # noqa: B004 - the method itself is asked
    found = next((each for each in holders if hasattr(each, "__rbac_rules__")), None)
    return () if found is None else tuple(found.__rbac_rules__)


def rules_of(
    controllers: Iterable[ControlLoop[Any]],
    more: Iterable[Rule] = (),
    *,
    cluster: str = HOME,
    cache: CacheOptions,
) -> list[Rule]:
    """
    What the controllers need where their objects are in a cluster, and *more*.

    What *cache* looks for in some namespaces alone is read in these alone, and changed there.
    """
    rules = [Rule.of(EVENT, "create", "patch")]
    for controller in controllers:
        for kind in controller.kinds(cluster):
            # An informer of the program's own may look anywhere.
            anywhere = kind in controller.kinds_looked_for_otherwise(cluster)
            places = () if anywhere else cache.places_of(kind)
            rules += [Rule.of(kind, *READS, namespace=place) for place in places or ("",)]
        if cluster not in controller.clusters:
            continue
        if isinstance(controller, Controller):
            rules += _rules_of_own_kind(controller.kind, cache.places_of(controller.kind) or ("",))
        rules += [*controller.rules, *declared_rules(controller.reconcile)]
    return merge_rules([*rules, *more])


def _rules_of_own_kind(kind: Kind, places: Iterable[str]) -> Iterable[Rule]:
    for place in places:
        if isinstance(kind, type) and issubclass(kind, CustomResource):
            yield Rule.of(kind, "patch", subresource="status", namespace=place)
        # An owner reference that blocks deletion may be set by those only who may touch the finalizers.
        yield Rule.of(kind, "update", subresource="finalizers", namespace=place)


def own_rules(lease: str, more: Iterable[Rule] = ()) -> list[Rule]:
    """The rights in the Manager's own namespace: its lease, events about it, and *more*."""
    return merge_rules(
        [
            # A name cannot limit a creation: there is no object of that name to compare with yet.
            Rule.of(LEASE, "create"),
            Rule.of(LEASE, "get", "patch", "update", names=(lease,)),
            Rule.of(EVENT, "create", "patch"),
            *more,
        ]
    )


def manifests_of(
    name: str,
    rules: Iterable[Rule],
    own: Iterable[Rule],
    *,
    home: str,
    account: str,
    namespaces: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """
    Roles and bindings that give *rules* everywhere, or in *namespaces* alone, and *own* in *home*.

    *account* is the service account in *home* that the program runs under. With *namespaces*, the rights to
    what is in no namespace are a ClusterRole beside, if there are any. Rules of a namespace of their own are
    a Role there, which must exist when the manifests are applied.
    """
    listed = list(rules)
    places = sorted({rule.namespace for rule in listed} - {""})
    there = [
        each
        for place in places
        for each in _given(
            f"{name}-in-{place}", [rule for rule in listed if rule.namespace == place], account, home, place
        )
    ]
    own = list(own)
    rules = merge_rules([*(rule for rule in listed if not rule.namespace), *filter(_is_wide, own)])
    own = [rule for rule in own if not _is_wide(rule)]
    wide = [rule for rule in rules if namespaces and _is_wide(rule)]
    narrow = [rule for rule in rules if rule not in wide]
    found = [
        *(each for place in namespaces or (None,) for each in _given(name, narrow, account, home, place)),
        *_given(f"{name}-own", own, account, home, home),
        *there,
    ]
    return [*found, *_given(f"{name}-cluster", wide, account, home, None)] if wide else found


def _is_wide(rule: Rule) -> bool:
    return not rule.namespaced or CLUSTER_GROUPS.issuperset(rule.groups)


def _given(
    name: str, rules: Iterable[Rule], account: str, home: str, place: str | None
) -> list[dict[str, Any]]:
    return [role_manifest(name, rules, place), role_binding_manifest(name, name, account, home, place)]
