# SPDX-License-Identifier: Apache-2.0
"""Plays the kubelet for the pods of DGLJobs: it says what they do, and nothing runs."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from dglop.common.constants import DEFAULT_CONTAINER_ANNOTATION, LABEL_JOB_NAME, LABEL_REPLICA_TYPE
from dglop.dgljob.pods.names import SERVE
from dglop.errors import NotFoundError
from dglop.runtime.api import Resource
from dglop.testing.builders import container_status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dglop.runtime.client import Client

__all__ = ("Kubelet",)

_POD = Resource("", "v1", "Pod", "pods")
_RESULT = json.dumps({"result": {"progressPercentage": 98, "metrics": [{"name": "loss", "value": "0.1"}]}})
_SAID = json.dumps({"manifest": "abc", "parts": 2, "bytes": 1000, "nodes": 10, "edges": 20})


class Kubelet:
    """Partitioners make their parts at once, Workers train for as long as their job is not in `done`."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.done: set[str] = set()
        self._client = client
        self._namespace = namespace

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            work = group.create_task(self._run(), name="kubelet")
            try:
                yield
            finally:
                work.cancel()

    async def _run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(0.1)

    async def look(self) -> None:
        """Say of each pod once how it is; what has ended stays as it is."""
        for pod in await self._client.list(_POD, self._namespace, labels=LABEL_JOB_NAME):
            if pod["status"].get("phase") not in ("Succeeded", "Failed"):
                await self._tell(pod)

    async def _tell(self, pod: dict[str, Any]) -> None:
        wanted = self._status(pod)
        if pod["status"].get("phase") == wanted["phase"] and "containerStatuses" in pod["status"]:
            return
        try:
            name = pod["metadata"]["name"]
            await self._client.patch(_POD, name, self._namespace, {"status": wanted}, subresource="status")
        except NotFoundError:
            return  # deleted meanwhile

    def _status(self, pod: dict[str, Any]) -> dict[str, Any]:
        labels = pod["metadata"]["labels"]
        main = pod["metadata"]["annotations"][DEFAULT_CONTAINER_ANNOTATION]
        is_worker = labels[LABEL_REPLICA_TYPE] == "worker"
        ends = not is_worker or labels[LABEL_JOB_NAME] in self.done
        names = [each["name"] for each in pod["spec"]["containers"]]
        inits = [each["name"] for each in pod["spec"].get("initContainers", [])]
        serves = SERVE in names
        words = _RESULT if is_worker else _SAID
        return {
            "phase": "Succeeded" if ends and not serves else "Running",
            "initContainerStatuses": [container_status(name, exit_code=0) for name in inits],
            "containerStatuses": [
                container_status(name, exit_code=0, message=words if name == main else "")
                if ends and name != SERVE
                else container_status(name, ready=True)
                for name in names
            ],
        }
