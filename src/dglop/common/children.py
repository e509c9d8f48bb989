# SPDX-License-Identifier: Apache-2.0
"""Which children a running job lacks and which it has too many of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.actions import CreatePod, DeleteService
from dglop.common.kind import Gate
from dglop.common.pods import extra_objects, pod_manifest, services
from dglop.common.stuck import PATIENCE, stuck_in

if TYPE_CHECKING:
    from dglop.common.draft import Draft, Role

__all__ = ("settle_children",)


def settle_children(draft: Draft) -> None:
    """Delete the pods whose time is over, then create those that are missing.

    Raises SchemaError where a pod cannot be built from its template.
    """
    _delete_superfluous(draft)
    _create_services(draft)
    if draft.is_gang and _has_old_gang(draft):
        return  # two attempts of a gang never live side by side
    for role in draft.roles.values():
        if role.gate is Gate.OPEN and role.is_settled and role.name not in draft.held:
            for index in _missing(role):
                draft.creates.append(CreatePod(role.name, index, pod_manifest(draft, role, index)))
    _recheck_objects(draft)
    if draft.creates or draft.recheck:
        draft.objects.extend(extra_objects(draft))


def _recheck_objects(draft: Draft) -> None:
    """Objects are not watched: that one was deleted shows in a pod that waits for its volumes."""
    left = stuck_in((pod for role in draft.roles.values() for pod in draft.current(role)), draft.now)
    if left is not None:
        draft.recheck = not left
        draft.wake(left or PATIENCE)


def _missing(role: Role) -> list[int]:
    """Free slots within range; a finished index is never run again, nor one above a gap."""
    taken = role.slots | role.completed
    return [index for index in range(role.limit) if index not in taken]


def _delete_superfluous(draft: Draft) -> None:
    by_label = {name.lower(): role for name, role in draft.roles.items()}
    services_by_name = {service.name: service for service in draft.observed.services}
    for pod in draft.observed.pods:
        role = by_label.get(pod.replica_type)
        if role is None or not 0 <= pod.index < role.wanted:
            draft.delete(pod)
            service = services_by_name.get(pod.name)
            if service:
                draft.delete_services.append(DeleteService(service.name, service.uid))
        elif role.gate is Gate.CLOSED or not draft.is_current(role, pod) or _is_failed_kept(role, pod.name):
            draft.delete(pod)


def _is_failed_kept(role: Role, name: str) -> bool:
    """A role that outlives restarts is made anew without counting, while its pods are wanted at all."""
    if not role.is_kept or role.gate is not Gate.OPEN:
        return False
    return any(pod.name == name and pod.is_failed for pod in role.pods)


def _has_old_gang(draft: Draft) -> bool:
    kept = {name.lower() for name, role in draft.roles.items() if role.is_kept}
    return any(
        pod.attempt < draft.status.attempt for pod in draft.observed.pods if pod.replica_type not in kept
    )


def _create_services(draft: Draft) -> None:
    there = {service.name for service in draft.observed.services}
    out_of_range = {each.name for each in draft.delete_services}
    for manifest in services(draft):
        name = manifest["metadata"]["name"]
        if name not in there and name not in out_of_range:
            draft.services.append(manifest)
