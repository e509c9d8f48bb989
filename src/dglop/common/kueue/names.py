# SPDX-License-Identifier: Apache-2.0
"""Labels, annotations, kinds and conditions of Kueue, as its 0.17 has them."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Any, Final

from dglop.common.constants import MAX_NAME
from dglop.runtime.api.resource import Resource

__all__ = (
    "ANNOTATION_POD_SETS",
    "FLAVOR",
    "GATE_TOPOLOGY",
    "LABEL_JOB_UID",
    "LABEL_MAX_SECONDS",
    "LABEL_PREBUILT",
    "LABEL_PRIORITY",
    "LABEL_QUEUE",
    "WORKLOAD",
    "WORKLOAD_PRIORITY",
    "WorkloadCondition",
    "workload_name",
)

_GROUP: Final = "kueue.x-k8s.io"
WORKLOAD: Final = Resource(_GROUP, "v1beta2", "Workload", "workloads")
FLAVOR: Final = Resource(_GROUP, "v1beta2", "ResourceFlavor", "resourceflavors", namespaced=False)
WORKLOAD_PRIORITY: Final = Resource(
    _GROUP, "v1beta2", "WorkloadPriorityClass", "workloadpriorityclasses", namespaced=False
)

LABEL_QUEUE: Final = f"{_GROUP}/queue-name"
LABEL_PRIORITY: Final = f"{_GROUP}/priority-class"
LABEL_PREBUILT: Final = f"{_GROUP}/prebuilt-workload-name"
LABEL_MAX_SECONDS: Final = f"{_GROUP}/max-exec-time-seconds"
LABEL_JOB_UID: Final = f"{_GROUP}/job-uid"
GATE_TOPOLOGY: Final = f"{_GROUP}/topology"

ANNOTATION_POD_SETS: Final = "training.kubeflow.org/pod-sets-hash"
"""What the pod sets of a Workload were made from: the API server may have added to the sets themselves."""

_HASH: Final = 5


class WorkloadCondition(StrEnum):
    """The conditions of a Workload that are read or written here."""

    QUOTA_RESERVED = "QuotaReserved"
    ADMITTED = "Admitted"
    EVICTED = "Evicted"
    FINISHED = "Finished"
    PODS_READY = "PodsReady"
    REQUEUED = "Requeued"


def workload_name(job: Any) -> str:
    """`<kind>-<job>-<hash>`, as Kueue names the Workloads of jobs that it knows itself."""
    resource = type(job).resource
    told = f"{resource.kind}\n{resource.group}\n{job.name}\n{job.uid}"
    digest = hashlib.sha1(told.encode(), usedforsecurity=False).hexdigest()[:_HASH]
    prefix = f"{resource.kind.lower()}-{job.name}"[: MAX_NAME - 1 - _HASH]
    return f"{prefix}-{digest}"
