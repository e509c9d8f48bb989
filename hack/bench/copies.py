# SPDX-License-Identifier: Apache-2.0
"""Pods like those that an operator made, for other jobs and by no operator."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ("copies",)

# What the API server, the scheduler and the garbage collector put into a pod or judge it by.
_SET_BY_OTHERS = frozenset(
    {
        "creationTimestamp",
        "finalizers",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "uid",
    }
)


def copies(pods: Iterable[dict[str, Any]], job: str, names: Iterable[str]) -> list[dict[str, Any]]:
    """The pods of *job*, as read, once for each of *names*: to be created, with its name in *job*'s place.

    They have all else that the job's have, so that one costs the cluster what one of a job costs it.
    """
    texts = [json.dumps(_fresh(pod)) for pod in pods]
    return [json.loads(text.replace(job, name)) for name in names for text in texts]


def _fresh(pod: dict[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in pod["metadata"].items() if key not in _SET_BY_OTHERS}
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
