# SPDX-License-Identifier: Apache-2.0
"""CRDs of other projects' kinds that take anything, where their own are not at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dglop.runtime.api import Resource

__all__ = ("loose_crd",)


def loose_crd(resource: Resource, *, has_status: bool = True) -> dict[str, Any]:
    """A CRD of the kind without a schema for spec and status; with a status subresource unless told not."""
    names = {"kind": resource.kind, "plural": resource.plural, "singular": resource.kind.lower()}
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    properties = {"spec": anything, "status": anything, "value": {"type": "integer"}}
    served: dict[str, Any] = {
        "name": resource.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
    }
    if has_status:
        served["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": resource.group_resource},
        "spec": {
            "group": resource.group,
            "names": names,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [served],
        },
    }
