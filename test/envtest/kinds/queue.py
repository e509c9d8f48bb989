# SPDX-License-Identifier: Apache-2.0
"""The life of an XGBoostJob in a queue and in a gang, where the test is Kueue, Volcano and the kubelet."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from dglop.common import Volcano
from dglop.common.constants import LABEL_JOB_NAME, POD
from dglop.common.kueue.names import FLAVOR, LABEL_QUEUE, WORKLOAD
from examples.xgboostjob import XGBoostJob
from test.envtest.kinds.lives import LeadersEnd
from test.envtest.kinds.world import manifest

if TYPE_CHECKING:
    from dglop.runtime.client import Client

__all__ = ("QueueLife",)

_ROLES = ("master", "worker")
_SAID = {"reason": "Because", "message": "so", "lastTransitionTime": "2026-01-01T00:00:00Z"}
_CLASS = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 100,
}


class QueueLife:
    """One job, `g`: let in, thrown out, let in again, and done; another that leaves its queue."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.kubelet = LeadersEnd(client, namespace)
        self._client = client
        self._namespace = namespace

    async def live(self) -> None:
        await self._begin()
        async with asyncio.TaskGroup() as group, self.kubelet.at_work():
            work = group.create_task(self._schedule())
            await self._suspended("g")
            await self._let_in("g", ok=True)
            await self._until("g", "Running")
            await self._let_in("g", ok=False)
            await self._suspended("g")
            await self._let_in("g", ok=True)
            await self._until("g", "Running")
            self.kubelet.done.add("g")
            await self._until("g", "Succeeded")
            await self._groupless()
            await self._leave("left")
            work.cancel()

    async def _begin(self) -> None:
        await self._client.create(_CLASS)
        wire = {"apiVersion": FLAVOR.api_version, "kind": FLAVOR.kind, "metadata": {"name": "a"}, "spec": {}}
        await self._client.create(wire, resource=FLAVOR)
        for name in ("g", "left"):
            made = manifest("XGBoostJob", name, self._namespace)
            made["metadata"]["labels"] = {LABEL_QUEUE: "q"}
            for role in made["spec"]["xgbReplicaSpecs"].values():
                role["template"]["spec"]["priorityClassName"] = "high"
            await self._client.create(made)

    async def _schedule(self) -> None:
        """Be Volcano: take up every group that comes."""
        while True:
            for group in await self._client.list(Volcano.resource, self._namespace):
                if group.get("status", {}).get("phase") != "Inqueue":
                    body = {"status": {"phase": "Inqueue"}}
                    name = group["metadata"]["name"]
                    await self._client.patch(Volcano.resource, name, self._namespace, body)
            await asyncio.sleep(0.05)

    async def _let_in(self, job: str, *, ok: bool) -> None:
        """Be Kueue: admit the job, or evict it."""
        held = await self._workload(job)
        conditions = {"QuotaReserved": True, "Admitted": True, "Evicted": not ok}
        sets = [{"name": role, "flavors": {"cpu": "a"}} for role in _ROLES]
        status = {
            "conditions": [{"type": each, "status": str(on), **_SAID} for each, on in conditions.items()],
            "admission": {"clusterQueue": "cq", "podSetAssignments": sets},
        }
        name = held["metadata"]["name"]
        body = {"status": status}
        await self._client.patch(WORKLOAD, name, self._namespace, body, subresource="status")

    async def _leave(self, job: str) -> None:
        """A person takes a job out of its queue: its Workload goes."""
        await self._workload(job)
        body = {"metadata": {"labels": {LABEL_QUEUE: None}}}
        await self._client.patch(XGBoostJob, job, self._namespace, body)
        while await self._workloads(job):  # noqa: ASYNC110
            await asyncio.sleep(0.05)

    async def _workload(self, job: str) -> dict[str, Any]:
        while True:
            for found in await self._workloads(job):
                return found
            await asyncio.sleep(0.05)

    async def _workloads(self, job: str) -> list[dict[str, Any]]:
        listed = await self._client.list(WORKLOAD, self._namespace)
        return [each for each in listed if each["metadata"]["ownerReferences"][0]["name"] == job]

    async def _suspended(self, name: str) -> None:
        await self._until(name, "Suspended")
        while await self._pods(name):  # noqa: ASYNC110
            await asyncio.sleep(0.05)

    async def _pods(self, job: str) -> list[dict[str, Any]]:
        return await self._client.list(POD, self._namespace, labels=f"{LABEL_JOB_NAME}={job}")

    async def _groupless(self) -> None:
        while await self._client.list(Volcano.resource, self._namespace):  # noqa: ASYNC110
            await asyncio.sleep(0.05)

    async def _until(self, name: str, condition: str) -> None:
        while True:
            job = await self._client.get(XGBoostJob, name, self._namespace)
            if job.status.is_true(condition):
                return
            await asyncio.sleep(0.05)
