# SPDX-License-Identifier: Apache-2.0
"""What a Project is made of; pure functions."""

from typing import Any

from kubernetes.aio.client import V1ResourceQuota, V1Secret
from project_kind import Project, QuotaUse

from dglop.runtime.api import parse_quantity

SHARED = "shared"
"""The namespace of the Secrets that are shared, and of the ledger."""
SHARE = "example.dev/share"
"""The label of Secrets: `projects` on originals, `copy` on copies."""
PROJECT = "example.dev/project"
"""The label of all that belongs to a project; its value is the project's name."""
PART = "project"
"""The name of each part in its namespace."""
LEDGER = "project-ledger"


def namespace_of(project: Project) -> dict[str, Any]:
    about = {"name": project.name, "labels": {PROJECT: project.name}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": about}


def about(project: Project, name: str = PART, **labels: str) -> dict[str, Any]:
    return {"name": name, "namespace": project.name, "labels": {PROJECT: project.name} | labels}


def quota_of(project: Project) -> dict[str, Any]:
    quota = project.spec.quota
    hard = {"cpu": quota.cpu, "memory": quota.memory, "pods": str(quota.pods)}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": about(project), "spec": {"hard": hard}}


def binding_of(project: Project) -> dict[str, Any]:
    group = "rbac.authorization.k8s.io"
    subjects = [{"apiGroup": group, "kind": each.kind, "name": each.name} for each in project.spec.members]
    return {
        "apiVersion": f"{group}/v1",
        "kind": "RoleBinding",
        "metadata": about(project),
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "edit"},
        "subjects": subjects,
    }


def isolation_of(project: Project) -> dict[str, Any]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": about(project),
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    }


def copy_of(name: str, secret: V1Secret, project: Project) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": about(project, name, **{SHARE: "copy"}),
        "type": secret.type,
        "data": dict(secret.data or {}),
    }


def is_as(secret: V1Secret, wanted: dict[str, Any]) -> bool:
    return ((secret.data or {}), secret.type) == (wanted["data"], wanted["type"])


def use_of(quota: V1ResourceQuota | None) -> dict[str, QuotaUse]:
    if quota is None or quota.status is None:
        return {}
    used, hard = quota.status.used or {}, quota.status.hard or {}
    return {what: QuotaUse(used=used.get(what, "0"), hard=hard[what]) for what in sorted(hard)}


def exceeded(use: dict[str, QuotaUse]) -> list[str]:
    """What is used beyond the quota, which happens where the quota was lowered."""
    over = {what: each for what, each in use.items() if parse_quantity(each.used) > parse_quantity(each.hard)}
    return [f"{each.used} of {each.hard} {what}" for what, each in over.items()]
