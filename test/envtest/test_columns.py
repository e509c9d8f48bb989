# SPDX-License-Identifier: Apache-2.0
"""What `kubectl get dgljobs -o wide` shows, as the server makes it of the shipped CRD's columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dglop.dgljob import DGLJob

if TYPE_CHECKING:
    from dglop.runtime.client import Client

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
SPEC = {"dglReplicaSpecs": {"Worker": {"replicas": 1, "template": {"spec": {"containers": []}}}}}


async def test_why_a_job_waits_or_failed_is_shown_apart_from_its_last_failure(
    client: Client, namespace: str
) -> None:
    created = {"type": "Created", "status": "True", "reason": "DGLJobCreated", "message": "it is"}
    moment = {"lastTransitionTime": "2026-01-01T00:00:00Z"}
    await make(client, namespace, "new", {})
    await make(client, namespace, "runs", {"conditions": [{**created, **moment}]})
    await make(client, namespace, "waits", {"reason": "ImagePullBackOff"})
    await make(client, namespace, "bad", {"reason": "InvalidSpec"})
    await make(client, namespace, "again", {"lastFailure": {"reason": "OOMKilled"}})
    path = DGLJob.resource.path(namespace)
    table = json.loads(await client.raw("GET", path, accept=TABLE))
    names = [each["name"] for each in table["columnDefinitions"]]
    rows = {row["cells"][0]: dict(zip(names, row["cells"], strict=True)) for row in table["rows"]}
    shown = {name: (row["Reason"], row["Last Failure"]) for name, row in rows.items()}
    assert shown == {
        "new": ("", None),
        "runs": ("", None),
        "waits": ("ImagePullBackOff", None),
        "bad": ("InvalidSpec", None),
        "again": ("", "OOMKilled"),
    }


async def make(client: Client, namespace: str, name: str, status: dict[str, Any]) -> None:
    metadata = {"name": name, "namespace": namespace}
    wire = {"apiVersion": "kubeflow.org/v1alpha1", "kind": "DGLJob", "metadata": metadata, "spec": SPEC}
    await client.create(wire)
    await client.patch(DGLJob.resource, name, namespace, {"status": status}, subresource="status")
