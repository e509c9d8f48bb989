# SPDX-License-Identifier: Apache-2.0
"""A DGLJob in PodGroups, under the shipped operator with the rights of one of the gang components."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from dglop.common.gang.schedulers import SchedulerPlugins, Volcano
from dglop.dgljob import DGLJob
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from dglop.testing.builders import pod_template
from hack.crds import SCHEDULER_PLUGINS, VOLCANO, crds_of
from test.envtest.kubelet import Kubelet
from test.envtest.shipped import OVERLAYS, operator_with

if TYPE_CHECKING:
    from pathlib import Path

    from dglop.runtime.api import Resource
    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest

_SECONDS = 60  # only ends what hangs
_SCHEDULERS = {"volcano": (Volcano, VOLCANO), "scheduler-plugins": (SchedulerPlugins, SCHEDULER_PLUGINS)}


def _job(namespace: str) -> dict[str, Any]:
    low, high = pod_template(priorityClassName="low"), pod_template(priorityClassName="high")
    specs = {"Worker": {"replicas": 2, "template": low}, "Partitioner": {"template": high}}
    return {
        "apiVersion": DGLJob.resource.api_version,
        "kind": "DGLJob",
        "metadata": {"name": "g", "namespace": namespace},
        "spec": {
            "partitionMode": "SSP",
            "dglReplicaSpecs": specs,
            "storage": {"type": "PVC", "claimName": "parts"},
            "runPolicy": {"schedulingPolicy": {"minAvailable": 2}},
        },
    }


class _Patient(Kubelet):
    """Runs no pod before the scheduler has seen its group."""

    def __init__(self, client: Client, namespace: str, seen: set[str]) -> None:
        super().__init__(client, namespace)
        self._seen = seen

    async def _tell(self, pod: dict[str, Any]) -> None:
        marks = {**pod["metadata"]["labels"], **pod["metadata"]["annotations"]}
        group = marks.get("scheduling.x-k8s.io/pod-group") or marks["scheduling.k8s.io/group-name"]
        if any(each.startswith(f"{group}:") for each in self._seen):
            await super()._tell(pod)


async def _schedule(client: Client, kind: Resource, namespace: str, seen: set[str]) -> None:
    """Be the scheduler: take up every group that comes."""
    while True:
        for group in await client.list(kind, namespace):
            name = group["metadata"]["name"]
            if group.get("status", {}).get("phase") != "Inqueue":
                seen.add(f"{name}: {group['spec']['minMember']}")
                body = {"status": {"phase": "Inqueue"}}
                sub = None if "volcano" in kind.group else "status"
                await client.patch(kind, name, namespace, body, subresource=sub)
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("component", list(_SCHEDULERS))
async def test_a_dgljob_partitions_in_one_group_and_trains_in_another(
    server: Envtest, client: Client, namespace: str, tmp_path: Path, *, component: str, overlay: str
):
    scheduler, source = _SCHEDULERS[component]
    await install_crds(client, [], SystemClock(), manifests=crds_of(source, print))
    kind, seen = scheduler.resource, set[str]()
    kubelet = _Patient(client, namespace, seen)
    for name, value in (("low", 1), ("high", 2)):
        made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
        await client.apply({**made, "value": value})
    async with (
        operator_with(component, server, client, tmp_path, namespace=namespace, overlay=overlay) as flags,
        kubelet.at_work(),
        asyncio.timeout(_SECONDS),
    ):
        assert flags == [f"--gang-scheduler={component}"]
        playing = asyncio.create_task(_schedule(client, kind, namespace, seen))
        await client.create(_job(namespace))
        kubelet.done.add("g")
        while True:
            job = await client.get(DGLJob.resource, "g", namespace)
            if job.get("status", {}).get("phase") == "Completed" and not await client.list(kind, namespace):
                break
            await asyncio.sleep(0.1)
        playing.cancel()
    assert seen == {"g-partition: 1", "g: 2"}
