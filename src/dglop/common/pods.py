# SPDX-License-Identifier: Apache-2.0
"""The manifests of a job's children: pods from their templates, Services, and the kind's own objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.common.constants import DEFAULT_CONTAINER_ANNOTATION
from dglop.common.draft import controller_name
from dglop.common.kind import RestartScope
from dglop.common.names import job_labels, pod_labels, pod_name
from dglop.common.replica import Replica
from dglop.common.types import RestartPolicy
from dglop.runtime.api.meta import owner_reference
from dglop.runtime.api.rawpod import RawPod

if TYPE_CHECKING:
    from dglop.common.draft import Draft, Role
    from dglop.common.kind import JobKind

__all__ = ("extra_objects", "main_container", "pod_manifest", "pod_restart_policy", "services")


def pod_restart_policy(policy: RestartPolicy, scope: RestartScope) -> str:
    """The restartPolicy of the pod itself.

    A gang is restarted by the operator alone: a container that the kubelet starts again keeps its IP but has
    lost its peers. ExitCode is the operator's word; no pod knows it.
    """
    if scope is RestartScope.JOB or policy is RestartPolicy.EXIT_CODE:
        return "Never"
    return str(policy)


def pod_manifest(draft: Draft, role: Role, index: int) -> dict[str, Any]:
    """The pod of one replica in the present attempt.

    Raises SchemaError where the template is no pod template.
    """
    job, kind = draft.job, draft.kind
    pod = RawPod(role.spec.template).normalised()  # a deep copy
    main = main_container(kind, job, role.name, pod)
    replica = Replica(
        job=job,
        role=role.name,
        index=index,
        count=role.wanted,
        attempt=draft.status.attempt,
        main=main,
        leader=kind.leader if kind.leader in draft.roles else role.name,
    )
    name = pod_name(job.name, role.name, index)
    labels = pod_labels(controller_name(kind, job), job.name, role.name, index, draft.status.attempt)
    pod.labels.update(labels)
    if main:
        pod.annotations[DEFAULT_CONTAINER_ANNOTATION] = main
    _dress(pod, name, job.name, pod_restart_policy(role.policy, draft.scope))
    kind.configure(pod, replica)
    # Once more: what the base is found and decided by is not the kind's to change.
    pod.labels.update(labels)
    _dress(pod, name, job.name, pod_restart_policy(role.policy, draft.scope))
    _mark(draft, role, pod)
    admission = draft.observed.admission
    if admission and role.name.lower() in admission.pod_sets:
        admission.pod_sets[role.name.lower()].merge_into(pod)
    metadata = {
        "name": name,
        "namespace": job.namespace,
        "labels": pod.labels,
        "annotations": pod.annotations,
        "ownerReferences": [owner_reference(job)],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod.spec}


def services(draft: Draft) -> list[dict[str, Any]]:
    """The job's Services: the kind's, else one headless Service named as the job."""
    wanted = draft.kind.services(draft.job)
    if wanted is None:
        wanted = [_headless(draft)]
    return [_owned(draft, each) for each in wanted]


def extra_objects(draft: Draft) -> list[dict[str, Any]]:
    """The objects that the kind wants before the first pod."""
    return [_owned(draft, each) for each in draft.kind.extra_objects(draft.job)]


def _dress(pod: RawPod, name: str, job: str, restart_policy: str) -> None:
    pod.spec["hostname"] = name
    pod.spec["subdomain"] = job
    pod.spec["restartPolicy"] = restart_policy


def _mark(draft: Draft, role: Role, pod: RawPod) -> None:
    """Put the pod into its group, where pods are scheduled in groups."""
    gang = draft.observed.gang
    group = next((each for each in draft.groups() if role.name in each.roles), None) if gang else None
    if gang and group and not role.is_limited:
        gang.scheduler.mark(pod, group.name(draft.job.name), role.name)


def main_container(kind: JobKind[Any], job: Any, role: str, pod: RawPod) -> str:
    """The container that decides; "" where the template has none."""
    named = kind.main_container(job, role, pod)
    if named is None:
        named = pod.annotations.get(DEFAULT_CONTAINER_ANNOTATION) or ""
    names = [each.name for each in pod.containers]
    return named if named in names or not names else names[0]


def _headless(draft: Draft) -> dict[str, Any]:
    labels = job_labels(controller_name(draft.kind, draft.job), draft.job.name)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": draft.job.name},
        # Pods must find each other before they are ready: being ready means that they have met.
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": labels},
    }


def _owned(draft: Draft, manifest: dict[str, Any]) -> dict[str, Any]:
    metadata = dict(manifest.get("metadata") or {})
    labels = job_labels(controller_name(draft.kind, draft.job), draft.job.name)
    metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
    metadata.setdefault("namespace", draft.job.namespace)
    if "ownerReferences" not in metadata:
        metadata["ownerReferences"] = [owner_reference(draft.job)]
    return {**manifest, "metadata": metadata}
