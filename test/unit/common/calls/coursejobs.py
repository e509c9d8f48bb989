# SPDX-License-Identifier: Apache-2.0
"""The jobs whose courses are random, and the owner of what is not theirs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dglop.common import CleanPodPolicy, ReplicaSpec, RestartPolicy, RunPolicy
from dglop.common.constants import LABEL_JOB_NAME
from dglop.errors import AlreadyExistsError
from dglop.testing.builders import pod_template
from dglop.testing.toyjob import ToyJob, ToyJobSpec
from test.unit.common.calls.operator import NAMESPACE

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from test.unit.common.calls.watchman import Watchman

__all__ = ("LIMIT", "OTHER", "WORKERS", "job", "place_service")

LIMIT, WORKERS = 2, 3
OTHER: dict[str, Any] = {
    "apiVersion": "example.dev/v1",
    "kind": "TestJob",
    "name": "g",
    "uid": "another",
    "controller": True,
}


def job(*, gang: bool, policy: str, restart: str) -> ToyJob:
    """A job of three workers, which two restarts are allowed."""
    role = ReplicaSpec(replicas=WORKERS, restart_policy=RestartPolicy(restart), template=pod_template())
    rules = RunPolicy(backoff_limit=LIMIT, clean_pod_policy=CleanPodPolicy(policy))
    spec = ToyJobSpec(replica_specs={"worker": role}, gang=gang, run_policy=rules)
    return ToyJob(name="g", namespace=NAMESPACE, spec=spec)


async def place_service(client: Client, watchman: Watchman, name: str) -> None:
    """Make a Service that has the label of the job's, and another owner."""
    metadata = {"name": name, "namespace": NAMESPACE, "labels": {LABEL_JOB_NAME: "g"}}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {**metadata, "ownerReferences": [OTHER]}}
    with suppress(AlreadyExistsError):
        await client.create({**service, "spec": {"clusterIP": "None"}})
        watchman.foreign_services.add(name)
