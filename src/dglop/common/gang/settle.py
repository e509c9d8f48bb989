# SPDX-License-Identifier: Apache-2.0
"""Which PodGroups a job lacks, which are too many, and whose pods have to wait for theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dglop.common.actions import DeleteGroup, WriteGroup
from dglop.common.draft import controller_name
from dglop.common.gang.resources import least_resources
from dglop.common.kind import Gate
from dglop.common.names import job_labels
from dglop.common.pods import pod_manifest
from dglop.common.reasons import Reason
from dglop.common.types import SchedulingPolicy
from dglop.runtime.api.meta import owner_reference

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.common.draft import Draft, Role
    from dglop.common.gang.group import Group
    from dglop.common.gang.seen import Gang
    from dglop.common.types import ReplicaSpec, RunPolicy

__all__ = ("GENERATION", "drop_groups", "priority_classes", "settle_groups")

GENERATION: Final = "training.kubeflow.org/generation"
"""Annotation of a group: the generation of the job that it was reckoned from."""


def settle_groups(draft: Draft) -> None:
    """
    Make the groups whose roles run now, end those of roles that do not, and hold back what must wait.

    Raises SchemaError where a pod cannot be built from its template.
    """
    gang = draft.observed.gang
    if gang is None:
        return
    every = {each.name(draft.job.name): each for each in draft.groups()}
    wanted = {name: each for name, each in every.items() if _is_wanted(draft, each)}
    for name in every.keys() - wanted.keys():
        draft.held.update(every[name].late)  # there is no group that they could be in
    if gang.is_settled:
        draft.delete_groups += [
            DeleteGroup(gang.scheduler.resource, each.name, each.uid)
            for each in gang.groups
            if each.name not in wanted and not each.is_terminating
        ]
    for name, group in wanted.items():
        _settle(draft, gang, name, group)


def drop_groups(draft: Draft) -> None:
    """End all groups, as of a job that is over or suspended: they take room in a queue."""
    gang = draft.observed.gang
    if gang is None or not gang.is_settled:
        return
    draft.delete_groups += [
        DeleteGroup(gang.scheduler.resource, each.name, each.uid)
        for each in gang.groups
        if not each.is_terminating
    ]


def priority_classes(policy: RunPolicy, replicas: Iterable[ReplicaSpec]) -> frozenset[str]:
    """The classes whose values decide which pods of a group are the first; empty where all are alike."""
    wish = policy.scheduling_policy
    if wish is None or wish.min_available is None or wish.min_resources is not None:
        return frozenset()
    names = {_class_of(spec) for spec in replicas}
    return frozenset(names - {""}) if len(names) > 1 else frozenset()


def _is_wanted(draft: Draft, group: Group) -> bool:
    """Whether its pods may be made now, or still run."""
    for role in _roles(draft, group):
        if role.is_limited:
            continue  # its pods come one after the other, so the group would never be complete
        unfinished = len(role.completed) < role.wanted
        if role.gate is Gate.OPEN and unfinished and role.name not in group.late:
            return True
        if any(not pod.is_over for pod in role.pods):
            return True
    return False


def _settle(draft: Draft, gang: Gang, name: str, group: Group) -> None:
    seen = gang.group(name)
    if gang.is_settled and (seen is None or _is_outdated(draft, seen.metadata.annotations)):
        draft.groups_to_write.append(_group(draft, gang, name, group, uid=seen.uid if seen else ""))
    if seen is None:
        # The scheduler-plugins want the pods at once, but not before there is a group to name.
        ready = gang.is_watched and gang.is_settled and not gang.scheduler.queues
    else:
        ready = gang.scheduler.admits(seen)
    if ready:
        return
    draft.held.update(role.name for role in _roles(draft, group))
    if any(draft.current(role) for role in _roles(draft, group)):
        return  # there are pods, and they tell more
    said = (seen.trouble if seen else "") or "the scheduler has not taken it up yet"
    note = f"{gang.scheduler.resource.kind} {name}: {said}"
    draft.conditions.waiting(str(Reason.POD_GROUP_PENDING), note)


def _is_outdated(draft: Draft, annotations: dict[str, str]) -> bool:
    return annotations.get(GENERATION) != str(draft.job.generation)


def _group(draft: Draft, gang: Gang, name: str, group: Group, *, uid: str) -> WriteGroup:
    policy = draft.policy.scheduling_policy or SchedulingPolicy()
    roles = [role for role in _roles(draft, group) if role.name not in group.late]
    total = sum(role.wanted for role in roles)
    least = min(policy.min_available or total, total)
    stated = policy.min_resources
    if stated is not None:
        resources = {key: str(value) for key, value in stated.items()}
    else:
        values = gang.priorities
        pods = [(values.get(_class_of(role.spec), 0), role.wanted, _spec(draft, role)) for role in roles]
        resources = least_resources(pods, least)
    classes = [policy.priority_class or "", *(_class_of(role.spec) for role in roles)]
    chosen = next((each for each in classes if each), "")
    spec = gang.scheduler.spec(policy, least=least, resources=resources, priority_class=chosen)
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": draft.job.namespace,
        "labels": job_labels(controller_name(draft.kind, draft.job), draft.job.name),
        "annotations": {**_annotations(draft.job), GENERATION: str(draft.job.generation)},
        "ownerReferences": [owner_reference(draft.job)],
    }
    if not uid:
        first = gang.scheduler.first_spec(policy, draft.job.metadata.annotations or {})
        spec = {key: value for key, value in {**spec, **first}.items() if value is not None}
    resource = gang.scheduler.resource
    manifest = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "spec": spec}
    return WriteGroup(resource, manifest, uid)


def _annotations(job: Any) -> dict[str, str]:
    """The job's own: schedulers read theirs from the group. Those of kubectl hold the job as a whole."""
    every = job.metadata.annotations or {}
    return {key: value for key, value in every.items() if not key.startswith("kubectl.kubernetes.io/")}


def _roles(draft: Draft, group: Group) -> list[Role]:
    return [draft.roles[name] for name in group.roles if name in draft.roles]


def _spec(draft: Draft, role: Role) -> dict[str, Any]:
    spec: dict[str, Any] = pod_manifest(draft, role, 0)["spec"]
    return spec


def _class_of(replica: ReplicaSpec) -> str:
    spec = replica.template.get("spec")
    return str(spec.get("priorityClassName") or "") if isinstance(spec, dict) else ""
