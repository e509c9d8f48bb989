# SPDX-License-Identifier: Apache-2.0
"""Carries out what was decided about a job's Workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.common.kueue.names import WORKLOAD
from dglop.common.watching import WORKLOADS
from dglop.errors import AlreadyExistsError

if TYPE_CHECKING:
    from dglop.common.kueue.decide import QueuePlan
    from dglop.common.kueue.views import WorkloadView
    from dglop.common.writes import Writes
    from dglop.runtime.context import Context

__all__ = ("QueueWriter",)


class QueueWriter:
    """Writes for one job; every patch is made on the condition that nothing has changed since."""

    def __init__(self, ctx: Context, job: Any, writes: Writes) -> None:
        self._ctx = ctx
        self._client = ctx.client
        self._job = job
        self._writes = writes
        self._key = (job.uid, WORKLOADS)

    async def carry_out(self, made: QueuePlan) -> None:
        """
        The job's suspension first: what is written of its Workload rests on it.

        Raises ConflictError where something has changed since, and ApiError.
        """
        if made.suspend is not None:
            await self._suspend(made.suspend)
        for doomed in made.delete:
            await self._delete(doomed)
        if made.create is not None:
            await self._create(made.create)
        if made.workload is not None and made.patch is not None:
            await self._patch(made.workload, made.patch)
        elif made.workload is not None and made.status_patch is not None:
            await self._patch(made.workload, {"status": made.status_patch}, subresource="status")

    async def _suspend(self, value: bool) -> None:
        body = {
            "metadata": {"uid": self._job.uid, "resourceVersion": self._ctx.resource_version},
            "spec": {"runPolicy": {"suspend": value}},
        }
        resource = type(self._job).resource
        written = await self._client.patch(resource, self._job.name, self._job.namespace, body)
        # The status is written on the condition that the job is as it is known here.
        self._ctx.resource_version = str(written["metadata"]["resourceVersion"])
        self._job.spec.run_policy.suspend = value
        self._job.metadata.generation = written["metadata"].get("generation", self._job.metadata.generation)

    async def _create(self, manifest: dict[str, Any]) -> None:
        try:
            await self._writes.create(self._key, manifest, resource=WORKLOAD)
        except AlreadyExistsError:
            return  # ours from before: the cache will show it

    async def _delete(self, doomed: WorkloadView) -> None:
        await self._writes.delete(self._key, WORKLOAD, doomed.name, doomed.metadata.uid)

    async def _patch(
        self, workload: WorkloadView, body: dict[str, Any], subresource: str | None = None
    ) -> None:
        at = {"uid": workload.metadata.uid, "resourceVersion": workload.metadata.resource_version}
        metadata = {**body.get("metadata", {}), **at}
        await self._client.patch(
            WORKLOAD,
            workload.name,
            self._job.namespace,
            {**body, "metadata": metadata},
            subresource=subresource,
        )
