# SPDX-License-Identifier: Apache-2.0
"""Lives of DGLJobs in which the operator does all that it ever does to the API server."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import socket
import urllib.error
import urllib.request
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dglop.common.constants import POD, SECRET, SERVICE
from dglop.dgljob import DGLJob
from dglop.dgljob.secret import STATUS_TOKEN
from dglop.errors import AlreadyExistsError
from dglop.testing.builders import pod_template
from test.envtest.kubelet import Kubelet

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.client import Client

__all__ = ("Lives",)

_KIND = {"apiVersion": DGLJob.resource.api_version, "kind": DGLJob.resource.kind}
_CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
# Parts on an emptyDir and on a claim; and two jobs that find a name taken by somebody else's object.
_JOBS: dict[str, dict[str, Any]] = {
    "served": {"network": {"policy": "JobOnly"}},
    "claimed": {
        "network": {"policy": "JobOnly"},
        "storage": {"type": "PVC", "claimTemplate": _CLAIM},
        "runPolicy": {"ttlSecondsAfterFinished": 0},
    },
    "podless": {},
    "nameless": {},
}

_HANDS = 4  # that change a job at the same time


def _job(spec: dict[str, Any]) -> dict[str, Any]:
    specs: dict[str, Any] = {"Worker": {"replicas": 2, "template": pod_template("dgl")}}
    specs["Partitioner"] = {"template": pod_template("dgl")}
    return {**_KIND, "spec": {"partitionMode": "SSP", "dglReplicaSpecs": specs, **spec}}


def _is_done(status: dict[str, Any]) -> bool:
    """Whether the last figures are shown, whatever reports there were."""
    trainer = status.get("trainer", {})
    return trainer.get("progress") == "100%" and {"name": "loss", "value": "0.1"} in trainer["metrics"]


class Lives:
    """The jobs of one namespace, and who does something to them; one in `other` is none of theirs."""

    def __init__(self, client: Client, namespace: str, other: str = "") -> None:
        self.kubelet = Kubelet(client, namespace)
        self._client = client
        self._namespace = namespace
        self._other = other
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._progress = f"127.0.0.1:{free.getsockname()[1]}"

    @property
    def flags(self) -> tuple[str, ...]:
        """For the operator of these jobs."""
        bind, url = f"--progress-bind={self._progress}", f"--progress-url=http://{self._progress}"
        return ("--metrics-bind=0", "--health-bind=0", bind, url)

    async def begin(self) -> None:
        """Submit the jobs, some of which find somebody else's objects in their place."""
        for namespace in filter(None, (self._namespace, self._other)):
            place = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            with contextlib.suppress(AlreadyExistsError):
                await self._client.create(place)
        pod = {"apiVersion": "v1", "kind": "Pod", **pod_template()}
        service = {"apiVersion": "v1", "kind": "Service", "spec": {"clusterIP": "None"}}
        await self._make(pod, "podless-partitioner-0")
        await self._make(service, "nameless")
        for name, spec in _JOBS.items():
            await self._make(_job(spec), name)
        if self._other:
            await self._client.create({**_job({}), "metadata": {"name": "served", "namespace": self._other}})

    async def is_other_untouched(self) -> bool:
        """Whether the job in the other namespace has neither status nor pods after all this time."""
        job = await self._client.get(DGLJob.resource, "served", self._other)
        return "status" not in job and not await self._client.list(POD, self._other)

    async def _make(self, manifest: dict[str, Any], name: str) -> None:
        await self._client.create({**manifest, "metadata": {"name": name, "namespace": self._namespace}})

    async def until_suspended(self) -> None:
        """Both jobs train and are suspended, one of them twice, so that an event is told again."""
        for name in ("served", "claimed"):
            await self._until(name, "Training")
        for name in ("served", "claimed", "served"):
            await self._suspend(name, on=True)
            await self._until(name, "Suspended")
            if name == "served":
                await self._suspend(name, on=False)
                await self._until(name, "Training")
        for name in ("podless", "nameless"):
            await self._until_blocked(name)

    async def report_progress_until(self, seen: Callable[[], bool]) -> None:
        """Report progress of jobs that others change at the same time, until the two have met."""
        tokens = {name: await self._token(name) for name in _JOBS}
        number = 0
        while not seen():
            number += 1
            async with asyncio.TaskGroup() as group:
                for name, token in tokens.items():
                    group.create_task(asyncio.to_thread(self._report, name, token, number))
                    for hand in range(_HANDS):
                        change = {"metadata": {"annotations": {f"example.dev/hand-{hand}": str(number)}}}
                        patch = self._client.patch(DGLJob.resource, name, self._namespace, change)
                        group.create_task(patch)

    async def _token(self, name: str) -> str:
        job = await self._client.get(DGLJob.resource, name, self._namespace)
        secret = f"{name}-dglrun-{job['metadata']['uid'][:8]}"
        found = await self._client.get(SECRET, secret, self._namespace)
        return base64.b64decode(found["data"][STATUS_TOKEN]).decode()

    def _report(self, name: str, token: str, number: int) -> None:
        """Post what is written at once, or at the end of a window in which something was written."""
        moment = datetime.now(UTC).isoformat()
        body = {"progressPercentage": number % 100, "final": True, "reportTime": moment}
        url = f"http://{self._progress}/v1/namespaces/{self._namespace}/dgljobs/{name}/progress"
        request = urllib.request.Request(
            url, json.dumps(body).encode(), {"Authorization": f"Bearer {token}"}, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                assert answer.status in (200, 202)
        except urllib.error.HTTPError as problem:
            # Where others change the job at each try it gives up; that is not what is looked at here.
            assert problem.code == 503, problem  # noqa: PT017

    async def to_the_end(self) -> None:
        """What stood in the way is gone, and all jobs complete; one is removed then."""
        await self._client.delete(POD, "podless-partitioner-0", self._namespace)
        await self._client.delete(SERVICE, "nameless", self._namespace)
        await self._suspend("claimed", on=False)
        await self._until("claimed", "Training")
        self.kubelet.done |= set(_JOBS)
        for name in ("served", "podless", "nameless"):
            await self._until(name, "Completed")
            await self._until_status(name, _is_done)
        while "claimed" in await self._names():  # noqa: ASYNC110 - the server is another process
            await asyncio.sleep(0.05)

    async def _names(self) -> list[str]:
        return [
            each["metadata"]["name"] for each in await self._client.list(DGLJob.resource, self._namespace)
        ]

    async def _suspend(self, name: str, *, on: bool) -> None:
        change = {"spec": {"runPolicy": {"suspend": on}}}
        await self._client.patch(DGLJob.resource, name, self._namespace, change)

    async def _until(self, name: str, phase: str) -> None:
        await self._until_status(name, lambda status: status.get("phase") == phase)

    async def _until_blocked(self, name: str) -> None:
        def is_blocked(status: dict[str, Any]) -> bool:
            return any(each["reason"] == "ErrResourceExists" for each in status.get("conditions", []))

        await self._until_status(name, is_blocked)

    async def _until_status(self, name: str, is_so: Callable[[dict[str, Any]], bool]) -> None:
        while True:
            job = await self._client.get(DGLJob.resource, name, self._namespace)
            if is_so(job.get("status", {})):
                return
            await asyncio.sleep(0.05)
