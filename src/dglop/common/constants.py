# SPDX-License-Identifier: Apache-2.0
"""Labels, annotations and resources that every job kind shares."""

from __future__ import annotations

from typing import Final

from dglop.runtime.api.resource import Resource

__all__ = (
    "DEFAULT_CONTAINER_ANNOTATION",
    "LABEL_ATTEMPT",
    "LABEL_JOB_NAME",
    "LABEL_JOB_ROLE",
    "LABEL_OPERATOR_NAME",
    "LABEL_REPLICA_INDEX",
    "LABEL_REPLICA_TYPE",
    "MANAGED_BY_MULTIKUEUE",
    "MAX_MESSAGE",
    "MAX_NAME",
    "POD",
    "PRIORITY_CLASS",
    "SECRET",
    "SERVICE",
)

LABEL_OPERATOR_NAME: Final = "training.kubeflow.org/operator-name"
LABEL_JOB_NAME: Final = "training.kubeflow.org/job-name"
LABEL_JOB_ROLE: Final = "training.kubeflow.org/job-role"
LABEL_REPLICA_TYPE: Final = "training.kubeflow.org/replica-type"
LABEL_REPLICA_INDEX: Final = "training.kubeflow.org/replica-index"
LABEL_ATTEMPT: Final = "training.kubeflow.org/attempt"

# kubectl logs and exec read it as well, so they go to the container that decides.
DEFAULT_CONTAINER_ANNOTATION: Final = "kubectl.kubernetes.io/default-container"

MANAGED_BY_MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"

MAX_MESSAGE: Final = 1024
MAX_NAME: Final = 63

POD: Final = Resource("", "v1", "Pod", "pods")
SERVICE: Final = Resource("", "v1", "Service", "services")
SECRET: Final = Resource("", "v1", "Secret", "secrets")
PRIORITY_CLASS: Final = Resource(
    "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False
)
