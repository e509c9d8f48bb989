# SPDX-License-Identifier: Apache-2.0
"""A DGLJob in a queue, under the shipped operator with the rights of config/components/kueue."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from dglop.common.constants import POD
from dglop.common.kueue.names import LABEL_QUEUE, WORKLOAD
from dglop.dgljob import DGLJob
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from test.envtest.kubelet import Kubelet
from test.envtest.kueue.world import asking
from test.envtest.shipped import OVERLAYS, operator_with

if TYPE_CHECKING:
    from pathlib import Path

    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest
    from test.envtest.kueue.queues import Queues

_SECONDS = 60  # only ends what hangs


def _job(namespace: str) -> dict[str, Any]:
    template = asking("500m")
    specs = {"Worker": {"replicas": 2, "template": template}, "Partitioner": {"template": template}}
    storage = {"type": "PVC", "claimName": "parts"}
    return {
        "apiVersion": DGLJob.resource.api_version,
        "kind": "DGLJob",
        "metadata": {"name": "g", "namespace": namespace, "labels": {LABEL_QUEUE: "q"}},
        "spec": {"partitionMode": "SSP", "dglReplicaSpecs": specs, "storage": storage},
    }


async def _until(client: Client, namespace: str, condition: str) -> dict[str, Any]:
    """The job's Workload, once it says so."""
    while True:
        for workload in await client.list(WORKLOAD, namespace):
            listed = workload.get("status", {}).get("conditions", [])
            if any(each["type"] == condition and each["status"] == "True" for each in listed):
                return workload
        await asyncio.sleep(0.1)


@pytest.mark.parametrize("overlay", OVERLAYS)
async def test_a_dgljob_is_let_in_with_all_its_pods_and_gives_back_what_has_partitioned(
    server: Envtest, client: Client, namespace: str, queues: Queues, tmp_path: Path, *, overlay: str
):
    await install_crds(client, [DGLJob], SystemClock())
    kubelet = Kubelet(client, namespace)
    async with (
        operator_with("kueue", server, client, tmp_path, namespace=namespace, overlay=overlay) as flags,
        kubelet.at_work(),
        asyncio.timeout(_SECONDS),
    ):
        assert flags == ["--kueue"]
        await client.create(_job(namespace))
        workload = await _until(client, namespace, "PodsReady")
        sets = [(each["name"], each["count"]) for each in workload["spec"]["podSets"]]
        assert sets == [("partitioner", 1), ("worker", 2)]
        assert workload["status"]["reclaimablePods"] == [{"name": "partitioner", "count": 1}]
        pods = await client.list(POD, namespace)
        assert len(pods) == 3
        assert all(each["spec"]["nodeSelector"] == {"pool": "a"} for each in pods)
        kubelet.done.add("g")
        await _until(client, namespace, "Finished")
        job = await client.get(DGLJob.resource, "g", namespace)
        assert job["status"]["phase"] == "Completed"
