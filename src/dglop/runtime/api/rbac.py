# SPDX-License-Identifier: Apache-2.0
"""RBAC manifests from the rules a program needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ("Rule", "role_binding_manifest", "role_manifest")

_API = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Rule:
    """What may be done to which resources; `names` limits it to objects of these names."""

    groups: Sequence[str]
    resources: Sequence[str]
    verbs: Sequence[str]
    names: Sequence[str] = ()

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {
            "apiGroups": list(self.groups),
            "resources": list(self.resources),
            "verbs": list(self.verbs),
        }
        if self.names:
            wire["resourceNames"] = list(self.names)
        return wire


def role_manifest(name: str, rules: Iterable[Rule], namespace: str | None = None) -> dict[str, Any]:
    """A Role in `namespace`, or a ClusterRole without one; rules sorted so that the output is stable."""
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    wires = [rule.to_wire() for rule in rules]
    return {
        "apiVersion": f"{_API}/v1",
        "kind": "Role" if namespace else "ClusterRole",
        "metadata": metadata,
        "rules": sorted(wires, key=lambda each: (each["apiGroups"], each["resources"], each["verbs"])),
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
