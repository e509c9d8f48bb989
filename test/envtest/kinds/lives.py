# SPDX-License-Identifier: Apache-2.0
"""Lives of jobs of several kinds in which the operator does all that it ever does to the API server."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from dglop.common.constants import LABEL_JOB_NAME, LABEL_REPLICA_TYPE, POD, SERVICE
from dglop.errors import NotFoundError
from dglop.testing.builders import container_status, pod_template
from test.envtest.kinds.world import KINDS_AND_ONE, manifest
from test.envtest.kubelet import Kubelet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dglop.runtime.client import Client

__all__ = ("KindLives", "LeadersEnd")

_KINDS = ("PyTorchJob", "MPIJob")
_LEADERS = {"PyTorchJob": "master", "MPIJob": "launcher", "XGBoostJob": "master"}
# Each of all kinds, so that no two have a name in common: they would stand in each other's way.
_JOBS = ("plain", "podless", "nameless")


class LeadersEnd(Kubelet):
    """Masters and Launchers end when their job is in `done`, Workers never."""

    def _status(self, pod: dict[str, Any]) -> dict[str, Any]:
        labels, names = pod["metadata"]["labels"], [each["name"] for each in pod["spec"]["containers"]]
        ends = labels[LABEL_REPLICA_TYPE] != "worker" and labels[LABEL_JOB_NAME] in self.done
        code = 0 if ends else None
        return {
            "phase": "Succeeded" if ends else "Running",
            "containerStatuses": [container_status(each, exit_code=code, ready=not ends) for each in names],
        }


def _name(kind: str, job: str) -> str:
    return f"{kind.lower()}-{job}"


class KindLives:
    """The jobs of one namespace, and who does something to them."""

    def __init__(self, client: Client, namespace: str, kinds: tuple[str, ...] = _KINDS) -> None:
        self.kinds = kinds
        self.kubelet = LeadersEnd(client, namespace)
        self._client = client
        self._namespace = namespace

    def _jobs(self, *names: str) -> Iterator[tuple[str, str]]:
        return ((kind, _name(kind, job)) for kind in self.kinds for job in names or _JOBS)

    async def begin(self) -> None:
        """Submit the jobs, some of which find somebody else's objects in their place."""
        for kind in self.kinds:
            pod = {"apiVersion": "v1", "kind": "Pod", **pod_template()}
            service = {"apiVersion": "v1", "kind": "Service", "spec": {"clusterIP": "None"}}
            await self._make(pod, f"{_name(kind, 'podless')}-{_LEADERS[kind]}-0")
            await self._make(service, _name(kind, "nameless"))
        for kind, name in self._jobs():
            policy = {"ttlSecondsAfterFinished": 0, "cleanPodPolicy": "All"} if "plain" in name else {}
            await self._client.create(manifest(kind, name, self._namespace, runPolicy=policy))

    async def _make(self, made: dict[str, Any], name: str) -> None:
        await self._client.create({**made, "metadata": {"name": name, "namespace": self._namespace}})

    async def until_met(self, seen: Callable[[], bool]) -> None:
        """Jobs are suspended and resumed while others change them, until the operator has met a change."""
        for kind, name in self._jobs("plain"):
            await self._until(kind, name, "Running")
        for kind, name in self._jobs("podless", "nameless"):
            await self._until_reason(kind, name, "ErrResourceExists")
        async with asyncio.TaskGroup() as group:
            hands = [group.create_task(self._hand(kind, name)) for kind, name in self._jobs("plain")]
            rounds = 0
            while rounds < 2 or not seen():
                rounds += 1
                for on, word in ((True, "Suspended"), (False, "Running")):
                    for kind, name in self._jobs("plain"):
                        await self._suspend(kind, name, on=on)
                    for kind, name in self._jobs("plain"):
                        await self._until(kind, name, word)
            for hand in hands:
                hand.cancel()

    async def until_suspended(self) -> None:
        for kind, name in self._jobs("plain"):
            await self._suspend(kind, name, on=True)
            await self._until(kind, name, "Suspended")

    async def to_the_end(self) -> None:
        """What stood in the way is gone, and all jobs succeed; those with a ttl of nothing go then."""
        for kind in self.kinds:
            await self._client.delete(POD, f"{_name(kind, 'podless')}-{_LEADERS[kind]}-0", self._namespace)
            await self._client.delete(SERVICE, _name(kind, "nameless"), self._namespace)
            await self._suspend(kind, _name(kind, "plain"), on=False)
        for kind, name in self._jobs():
            await self._until(kind, name, "Running")
        self.kubelet.done |= {name for _, name in self._jobs()}
        for kind, name in self._jobs("podless", "nameless"):
            await self._until(kind, name, "Succeeded")
        for kind, name in self._jobs("plain"):
            with contextlib.suppress(NotFoundError):
                while await self._client.get(KINDS_AND_ONE[kind].resource, name, self._namespace):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)

    async def _hand(self, kind: str, name: str) -> None:
        number = 0
        while True:
            number += 1
            change = {"metadata": {"annotations": {"example.dev/hand": str(number)}}}
            await self._client.patch(KINDS_AND_ONE[kind].resource, name, self._namespace, change)

    async def _suspend(self, kind: str, name: str, *, on: bool) -> None:
        change = {"spec": {"runPolicy": {"suspend": on}}}
        await self._client.patch(KINDS_AND_ONE[kind].resource, name, self._namespace, change)

    async def _until(self, kind: str, name: str, condition: str) -> None:
        await self._until_so(kind, name, lambda each: (each["type"], each["status"]) == (condition, "True"))

    async def _until_reason(self, kind: str, name: str, reason: str) -> None:
        await self._until_so(kind, name, lambda each: each["reason"] == reason)

    async def _until_so(self, kind: str, name: str, is_so: Callable[[dict[str, Any]], bool]) -> None:
        while True:
            job = await self._client.get(KINDS_AND_ONE[kind].resource, name, self._namespace)
            if any(is_so(each) for each in job.get("status", {}).get("conditions", [])):
                return
            await asyncio.sleep(0.05)
