# SPDX-License-Identifier: Apache-2.0
"""What the operator may do, and no more; the manifests in config/ are generated from this."""

from __future__ import annotations

from typing import Any, Final

from dglop.runtime.api import Rule, role_manifest

__all__ = ("KEY_SECRET", "LEASE", "MANAGER_RULES", "OWN_RULES", "people_roles")

KEY_SECRET: Final = "dglop-operator-key"  # noqa: S105 - the Secret's name
LEASE: Final = "dglop"

MANAGER_RULES: Final = (
    Rule(("kubeflow.org",), ("dgljobs",), ("delete", "get", "list", "watch")),
    Rule(("kubeflow.org",), ("dgljobs/status",), ("patch",)),
    # an owner reference that blocks deletion may be set by those only who may touch the finalizers
    Rule(("kubeflow.org",), ("dgljobs/finalizers",), ("update",)),
    Rule(("",), ("pods", "services"), ("create", "delete", "get", "list", "watch")),
    # Secrets are made, never read: their names carry the job's UID
    Rule(("",), ("secrets",), ("create",)),
    Rule(("",), ("persistentvolumeclaims",), ("create", "get")),
    Rule(("networking.k8s.io",), ("networkpolicies",), ("create", "get")),
    Rule(("events.k8s.io",), ("events",), ("create", "patch")),
)
"""Where jobs are: in the whole cluster, or in the one namespace."""

OWN_RULES: Final = (
    Rule(("",), ("secrets",), ("create",)),
    Rule(("",), ("secrets",), ("get",), names=(KEY_SECRET,)),
    Rule(("coordination.k8s.io",), ("leases",), ("create",)),
    Rule(("coordination.k8s.io",), ("leases",), ("get", "patch"), names=(LEASE,)),
)
"""In the operator's own namespace: its key and its lease."""

_EDIT = ("create", "delete", "get", "list", "patch", "update", "watch")
_VIEW = ("get", "list", "watch")


def people_roles() -> dict[str, dict[str, Any]]:
    """ClusterRoles for people, by name; each becomes part of the cluster's own role of that rank."""
    return {
        "dgljob-admin-role": _role("admin", ("*",)),
        "dgljob-editor-role": _role("edit", _EDIT),
        "dgljob-viewer-role": _role("view", _VIEW),
    }


def _role(rank: str, verbs: tuple[str, ...]) -> dict[str, Any]:
    name = {"admin": "admin", "edit": "editor", "view": "viewer"}[rank]
    rules = (
        Rule(("kubeflow.org",), ("dgljobs",), verbs),
        Rule(("kubeflow.org",), ("dgljobs/status",), ("get",)),
    )
    role = role_manifest(f"dgljob-{name}-role", rules)
    role["metadata"]["labels"] = {f"rbac.authorization.k8s.io/aggregate-to-{rank}": "true"}
    return role
