# SPDX-License-Identifier: Apache-2.0
"""RBAC manifests from the rules a program needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from dglop.errors import SchemaError
from dglop.runtime.api.resource import resource_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dglop.runtime.api.resource import Kind

__all__ = ("Rule", "merge_rules", "role_binding_manifest", "role_manifest")

_Verbs = dict[tuple[str, str, str, tuple[str, ...]], set[str]]
_API = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Rule:
    """What may be done to which resources; `names` limits it to objects of these names.

    With `namespace` it holds there alone, and is a Role of its own in the manifests. With `urls` it is about
    paths that are no resources, such as /metrics; only a ClusterRole can have it. The same goes for what is
    in no namespace, which `namespaced` says.
    """

    groups: Sequence[str]
    resources: Sequence[str]
    verbs: Sequence[str]
    names: Sequence[str] = ()
    urls: Sequence[str] = ()
    namespace: str = ""
    namespaced: bool = field(default=True, compare=False)

    @classmethod
    def of(
        cls,
        kind: Kind,
        *verbs: str,
        subresource: str = "",
        names: Sequence[str] = (),
        namespace: str = "",
    ) -> Self:
        """The rule for one kind, or for one of its subresources.

        Raises SchemaError for a namespace of a kind that is in none.
        """
        resource = resource_of(kind)
        if namespace and not resource.namespaced:
            raise SchemaError(
                f"{resource.group_resource} is in no namespace, so no rule holds in {namespace}"
            )
        plural = f"{resource.plural}/{subresource}" if subresource else resource.plural
        return cls(
            (resource.group,), (plural,), verbs, names, namespace=namespace, namespaced=resource.namespaced
        )

    def to_wire(self) -> dict[str, Any]:
        if self.urls:
            return {"nonResourceURLs": list(self.urls), "verbs": list(self.verbs)}
        wire: dict[str, Any] = {
            "apiGroups": list(self.groups),
            "resources": list(self.resources),
            "verbs": list(self.verbs),
        }
        if self.names:
            wire["resourceNames"] = list(self.names)
        return wire


def merge_rules(rules: Iterable[Rule]) -> list[Rule]:
    """The same rights in as few rules as one reads easily, whatever order they were declared in.

    Verbs for one resource add up, and resources of a group with the same verbs share a rule. What is
    allowed for all names is left out of the rules for some, and what is allowed in all namespaces out of
    those for one.
    """
    verbs: _Verbs = {}
    urls: dict[str, set[str]] = {}
    wide: set[tuple[str, str]] = set()
    for rule in rules:
        for url in rule.urls:
            urls.setdefault(url, set()).update(rule.verbs)
        for group in rule.groups:
            for resource in rule.resources:
                key = (rule.namespace, group, resource, tuple(sorted(rule.names)))
                verbs.setdefault(key, set()).update(rule.verbs)
                if not rule.namespaced:
                    wide.add((group, resource))
    shared: dict[tuple[str, str, tuple[str, ...], tuple[str, ...], bool], list[str]] = {}
    for (place, group, resource, names), allowed in sorted(verbs.items()):
        general = _general(verbs, (place, group, resource, names))
        left = allowed - general if "*" not in general else set()
        if left:
            kept = ("*",) if "*" in left else tuple(sorted(left))
            placed = (group, resource) not in wide
            shared.setdefault((place, group, names, kept, placed), []).append(resource)
    merged = [
        Rule((group,), tuple(resources), kept, names, namespace=place, namespaced=placed)
        for (place, group, names, kept, placed), resources in shared.items()
    ]
    return [
        *merged,
        *(Rule((), (), tuple(sorted(allowed)), (), (url,)) for url, allowed in sorted(urls.items())),
    ]


def _general(verbs: _Verbs, key: tuple[str, str, str, tuple[str, ...]]) -> set[str]:
    """What is allowed of a resource beyond the names and the namespace of *key*."""
    place, group, resource, names = key
    wider = {("", group, resource, ()), ("", group, resource, names), (place, group, resource, ())} - {key}
    return {verb for each in wider for verb in verbs.get(each, ())}


def role_manifest(name: str, rules: Iterable[Rule], namespace: str | None = None) -> dict[str, Any]:
    """A Role in `namespace`, or a ClusterRole without one; rules sorted so that the output is stable.

    Raises SchemaError for paths in a Role, which has none, and for a rule of another namespace.
    """
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    rules = list(rules)
    other = next((each.namespace for each in rules if each.namespace not in ("", namespace)), "")
    if other:
        raise SchemaError(f"{name}: a rule of namespace {other} belongs in a Role there")
    wires = [rule.to_wire() for rule in rules]
    if namespace and any("nonResourceURLs" in each for each in wires):
        raise SchemaError(f"Role {name} cannot allow paths that are no resources; put them in a ClusterRole")
    return {
        "apiVersion": f"{_API}/v1",
        "kind": "Role" if namespace else "ClusterRole",
        "metadata": metadata,
        "rules": sorted(wires, key=_order),
    }


def role_binding_manifest(
    name: str, role: str, service_account: str, account_namespace: str, namespace: str | None = None
) -> dict[str, Any]:
    """Binds a Role in `namespace`, or a ClusterRole without one, to a service account."""
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {
        "apiVersion": f"{_API}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _API, "kind": "Role" if namespace else "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": service_account, "namespace": account_namespace}],
    }


def _order(wire: dict[str, Any]) -> tuple[Any, ...]:
    paths = wire.get("nonResourceURLs", [])
    return paths, wire.get("apiGroups", []), wire.get("resources", []), wire["verbs"]
