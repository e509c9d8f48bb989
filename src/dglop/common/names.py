# SPDX-License-Identifier: Apache-2.0
"""Deterministic names of a job's children, and the labels they are found by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.common.constants import (
    LABEL_ATTEMPT,
    LABEL_JOB_NAME,
    LABEL_JOB_ROLE,
    LABEL_OPERATOR_NAME,
    LABEL_REPLICA_INDEX,
    LABEL_REPLICA_TYPE,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ("job_labels", "longest_pod_name", "pod_host", "pod_labels", "pod_name", "role_selector")


def pod_name(job: str, role: str, index: int) -> str:
    """`<job>-<type>-<index>`: the same at every try, so that a stale cache meets a 409 and makes no twin."""
    return f"{job}-{role.lower()}-{index}"


def longest_pod_name(job: str, replicas: Mapping[str, int]) -> str:
    """The longest name among the job's pods; the job's own where it has none."""
    names = [pod_name(job, role, count - 1) for role, count in replicas.items() if count > 0]
    return max(names, key=len, default=job)


def pod_host(job: str, namespace: str, role: str, index: int) -> str:
    """The pod's name in DNS, by the job's headless Service."""
    return f"{pod_name(job, role, index)}.{job}.{namespace}.svc"


def job_labels(controller: str, job: str) -> dict[str, str]:
    """The labels of everything that belongs to a job."""
    return {LABEL_OPERATOR_NAME: controller, LABEL_JOB_NAME: job}


def pod_labels(controller: str, job: str, role: str, index: int, attempt: int) -> dict[str, str]:
    """The labels of a pod; `role_selector` selects on a part of them."""
    return {
        **job_labels(controller, job),
        LABEL_REPLICA_TYPE: role.lower(),
        LABEL_REPLICA_INDEX: str(index),
        LABEL_JOB_ROLE: role.lower(),
        LABEL_ATTEMPT: str(attempt),
    }


def role_selector(controller: str, job: str, role: str) -> str:
    """The label selector of a role's pods."""
    labels = {**job_labels(controller, job), LABEL_REPLICA_TYPE: role.lower()}
    return ",".join(f"{key}={value}" for key, value in labels.items())
