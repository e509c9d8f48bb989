# SPDX-License-Identifier: Apache-2.0
"""One headless Service a replica, for kinds whose replicas are met one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.common.constants import LABEL_REPLICA_INDEX, LABEL_REPLICA_TYPE
from dglop.common.draft import controller_name
from dglop.common.names import job_labels, pod_name
from dglop.common.pods import main_container
from dglop.errors import SchemaError
from dglop.runtime.api.rawpod import RawPod

if TYPE_CHECKING:
    from dglop.common.kind import JobKind

__all__ = ("replica_services",)


def replica_services(kind: JobKind[Any], job: Any) -> list[dict[str, Any]]:
    """
    What `JobKind.services` gives for a Service a replica: named as the pod, and gone with it.

    Each selects its pod alone, whether ready or not, and has the ports of the main container, in their
    order. Raises SchemaError where a template is no pod template.
    """
    found = []
    labels = job_labels(controller_name(kind, job), job.name)
    for role, spec in kind.replicas(job).items():
        try:
            ports = _ports(kind, job, role, RawPod(spec.template).copy())
        except SchemaError as problem:
            raise SchemaError(f"{role}.template: {problem}") from problem
        for index in range(spec.replicas):
            replica = {LABEL_REPLICA_TYPE: role.lower(), LABEL_REPLICA_INDEX: str(index)}
            found.append(
                {
                    "apiVersion": "v1",
                    "kind": "Service",
                    "metadata": {"name": pod_name(job.name, role, index), "labels": replica},
                    "spec": {
                        "clusterIP": "None",
                        "publishNotReadyAddresses": True,
                        "selector": {**labels, **replica},
                        **({"ports": ports} if ports else {}),
                    },
                }
            )
    return found


def _ports(kind: JobKind[Any], job: Any, role: str, pod: RawPod) -> list[dict[str, Any]]:
    """A headless Service may do without any."""
    main = main_container(kind, job, role, pod)
    if not main:
        return []
    found = []
    for each in pod.container(main).ports:
        if not isinstance(each, dict) or not isinstance(each.get("containerPort"), int):
            raise SchemaError(f"container {main} has a port without a containerPort: {each}")
        number = each["containerPort"]
        port = {"name": each.get("name") or f"port-{number}", "port": number, "targetPort": number}
        found.append({**port, "protocol": each.get("protocol") or "TCP"})
    return found
