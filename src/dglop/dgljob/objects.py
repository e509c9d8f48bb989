# SPDX-License-Identifier: Apache-2.0
"""Objects of a job besides its pods: the Secret, the claim of the parts, the network policy, the Service."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from dglop.common.names import job_labels
from dglop.dgljob.enums import NetworkPolicyMode
from dglop.dgljob.exec.objects import account_objects
from dglop.dgljob.secret import secret_manifest
from dglop.dgljob.shape import Shape

if TYPE_CHECKING:
    from dglop.dgljob.api import DGLJob
    from dglop.dgljob.tokens import TokenSource

__all__ = ("CONTROLLER_NAME", "headless_service", "job_objects")

CONTROLLER_NAME = "dgljob-controller"


def job_objects(job: DGLJob, tokens: TokenSource) -> list[dict[str, Any]]:
    """What must exist before the first pod."""
    shape = Shape.of(job)
    objects: list[dict[str, Any]] = []
    if not shape.launcher_only:
        objects.append(secret_manifest(job, tokens))
    if job.spec.storage.claim_template is not None:
        objects.append(_claim(job, shape))
    objects += account_objects(job)
    if job.spec.network.policy is NetworkPolicyMode.JOB_ONLY:
        objects.append(_network_policy(job))
    return objects


def headless_service(job: DGLJob) -> dict[str, Any]:
    """The Service that gives every pod of the job its name."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": job.name},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": job.spec.network.publish_not_ready_addresses,
            "selector": job_labels(CONTROLLER_NAME, job.name),
        },
    }


def _claim(job: DGLJob, shape: Shape) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": shape.claim}
    if job.spec.storage.retention_policy == "Retain":
        metadata["ownerReferences"] = []
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": copy.deepcopy(job.spec.storage.claim_template),
    }


def _network_policy(job: DGLJob) -> dict[str, Any]:
    """DGL's processes listen on ports of their own choice, so the job's pods reach each other on all."""
    own = {"matchLabels": job_labels(CONTROLLER_NAME, job.name)}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": job.name},
        "spec": {
            "podSelector": own,
            "policyTypes": ["Ingress"],
            "ingress": [{"from": [{"podSelector": own}]}],
        },
    }
