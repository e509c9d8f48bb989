# SPDX-License-Identifier: Apache-2.0
"""Rights that job kinds need, and the roles of people who work with jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dglop.common.constants import POD, SERVICE
from dglop.common.gang.rights import GANG_CLUSTER_RULES, gang_rules
from dglop.common.kueue.rights import KUEUE_CLUSTER_RULES, kueue_rules
from dglop.runtime.api import Rule, role_manifest

if TYPE_CHECKING:
    from dglop.common.gang.schedulers import GangScheduler
    from dglop.runtime.api import Resource

__all__ = ("job_rules", "people_roles", "scheduling_rules")

_EDIT: Final = ("create", "delete", "get", "list", "patch", "update", "watch")
_VIEW: Final = ("get", "list", "watch")
_RANKS: Final = {"admin": ("admin", ("*",)), "editor": ("edit", _EDIT), "viewer": ("view", _VIEW)}


def job_rules(job: Resource) -> tuple[Rule, ...]:
    """What the base job controller does to jobs of this kind and to their pods and Services."""
    children = (POD.plural, SERVICE.plural)
    return (
        Rule.of(job, "delete", "get", "list", "watch"),
        Rule.of(job, "patch", subresource="status"),
        # an owner reference that blocks deletion may be set by those only who may touch the finalizers
        Rule.of(job, "update", subresource="finalizers"),
        Rule(("",), children, ("create", "delete", "get", "list", "watch")),
        Rule(("events.k8s.io",), ("events",), ("create", "patch")),
    )


def scheduling_rules(job: Resource, *, gang: GangScheduler | None, kueue: bool) -> tuple[Rule, ...]:
    """What it does besides where pods are scheduled in groups, or jobs wait in queues."""
    return (
        *((*gang_rules(type(gang)), *GANG_CLUSTER_RULES) if gang else ()),
        *((*kueue_rules(job), *KUEUE_CLUSTER_RULES) if kueue else ()),
    )


def people_roles(job: Resource) -> dict[str, dict[str, Any]]:
    """ClusterRoles for people, by name; each becomes part of the cluster's own role of that rank."""
    roles = {}
    for word, (rank, verbs) in _RANKS.items():
        name = f"{job.kind.lower()}-{word}-role"
        role = role_manifest(name, (Rule.of(job, *verbs), Rule.of(job, "get", subresource="status")))
        role["metadata"]["labels"] = {f"rbac.authorization.k8s.io/aggregate-to-{rank}": "true"}
        roles[name] = role
    return roles
