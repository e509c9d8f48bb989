# SPDX-License-Identifier: Apache-2.0
"""Jobs on an in-memory cluster, with a count of what the Manager sends and a moment at which it dies."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from dglop.common import CleanPodPolicy, JobReconciler, ReplicaSpec, RestartPolicy, RunPolicy
from dglop.common.constants import POD
from dglop.runtime.client import ClientConfig
from dglop.runtime.manager import Manager
from dglop.runtime.settings import Settings
from dglop.testing.builders import container_status, pod_template
from dglop.testing.toyjob import ToyJob, ToyJobKind, ToyJobSpec
from test.wire import Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from dglop.testing.memory import MemoryCluster

__all__ = ("Wire", "job", "job_manager", "outcome", "pods_of", "set_pods")


def job(name: str = "g", *, workers: int = 2) -> ToyJob:
    """One whose pods are all deleted at its end."""
    role = ReplicaSpec(replicas=workers, restart_policy=RestartPolicy.EXIT_CODE, template=pod_template())
    policy = RunPolicy(clean_pod_policy=CleanPodPolicy.ALL)
    spec = ToyJobSpec(replica_specs={"worker": role}, run_policy=policy)
    return ToyJob(name=name, namespace="default", spec=spec)


@asynccontextmanager
async def job_manager(cluster: MemoryCluster, wire: Wire) -> AsyncIterator[Manager]:
    """A Manager of jobs that runs, and whose requests go over *wire*."""
    settings = Settings(namespace="default", metrics_bind="0", health_bind="0", graceful_shutdown_seconds=0.0)
    client = cluster.client.intercepted(wire.carry)
    config = ClientConfig(host=client.host)
    manager = Manager(settings, name="jobs", client=client, config=config, clock=cluster.clock)
    manager.controller(ToyJob, JobReconciler(ToyJobKind()))
    async with manager:
        await cluster.settle()
        yield manager


async def pods_of(cluster: MemoryCluster) -> list[dict[str, Any]]:
    return await cluster.client.list(POD, "default")


async def set_pods(
    cluster: MemoryCluster, phase: str = "Running", *, names: Sequence[str] = (), **state: Any
) -> None:
    """Say as the kubelet would how these pods are, or all."""
    status = {"phase": phase, "containerStatuses": [container_status(ready=phase == "Running", **state)]}
    for name in names or [each["metadata"]["name"] for each in await pods_of(cluster)]:
        await cluster.client.patch(POD, name, "default", {"status": status}, subresource="status")


async def outcome(cluster: MemoryCluster) -> dict[str, Any]:
    """What is left of it all, without times and names that chance gives."""
    found = await cluster.client.get(ToyJob, "g", "default")
    return {
        "pods": sorted(each["metadata"]["name"] for each in await pods_of(cluster)),
        "conditions": sorted((each.type, each.status, each.reason) for each in found.status.conditions),
        "restarts": found.status.restart_count,
        "attempt": found.status.attempt,
        "failed": found.status.replica_statuses["worker"].failed,
    }
