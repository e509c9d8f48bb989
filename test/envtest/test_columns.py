# SPDX-License-Identifier: Apache-2.0
"""What `kubectl get` shows of DGLJobs and of a user's own kind, as the server makes it of their columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dglop.dgljob import DGLJob
from test.envtest.test_crds import Vessel, here, make_vessel

if TYPE_CHECKING:
    from dglop.runtime.client import Client

__all__ = ("here",)

AGE = ("Age", "date", 0)
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


async def test_the_server_makes_a_users_columns(here: Client, namespace: str) -> None:
    await here.create(make_vessel("a", colour="red"))
    table = json.loads(await here.raw("GET", Vessel.resource.path(namespace), accept=TABLE))
    names = [(each["name"], each["type"], each["priority"]) for each in table["columnDefinitions"]]
    assert names == [("Name", "string", 0), ("Colour", "string", 0), ("Parts", "integer", 1), AGE]
    assert [row["cells"][:3] for row in table["rows"]] == [["a", "red", 5]]


async def make(client: Client, namespace: str, name: str, status: dict[str, Any]) -> None:
    metadata = {"name": name, "namespace": namespace}
    wire = {"apiVersion": "kubeflow.org/v1alpha1", "kind": "DGLJob", "metadata": metadata, "spec": SPEC}
    await client.create(wire)
    await client.patch(DGLJob.resource, name, namespace, {"status": status}, subresource="status")
