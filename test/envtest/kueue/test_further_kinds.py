# SPDX-License-Identifier: Apache-2.0
"""PyTorchJobs and MPIJobs in a real queue, under the shipped operator with the rights of their components."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from dglop.common.constants import POD
from dglop.common.kueue.names import LABEL_QUEUE, WORKLOAD
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from test.envtest.kinds.lives import LeadersEnd
from test.envtest.kinds.world import KINDS, manifest
from test.envtest.shipped import OVERLAYS, operator_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest
    from test.envtest.kueue.queues import Queues

_SECONDS = 90  # only ends what hangs
_WAITS = {"PyTorchJob": {}, "MPIJob": {"launcherCreationPolicy": "WaitForWorkersReady"}}


def _job(kind: str, namespace: str) -> dict[str, Any]:
    """A pod that decides and a Worker, of a core each."""
    made = manifest(kind, "g", namespace, **_WAITS[kind])
    made["metadata"]["labels"] = {LABEL_QUEUE: "q"}
    specs = next(each for key, each in made["spec"].items() if key.endswith("ReplicaSpecs"))
    for spec in specs.values():
        spec["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    return made


class _Seen:
    """What the server has of the one job of a namespace."""

    def __init__(self, client: Client, kind: str, namespace: str) -> None:
        self._client = client
        self._resource = KINDS[kind].resource
        self._namespace = namespace

    async def pools(self) -> list[str]:
        """Where each pod wants to run, once there are pods."""
        pods = await self._client.list(POD, self._namespace)
        return [each["spec"]["nodeSelector"]["pool"] for each in pods]

    async def is_suspended(self) -> bool:
        job = await self._client.get(self._resource, "g", self._namespace)
        return bool(job["spec"]["runPolicy"]["suspend"]) and not await self.pools()

    async def says(self, condition: str) -> tuple[str, str]:
        for workload in await self._client.list(WORKLOAD, self._namespace):
            for each in workload.get("status", {}).get("conditions", []):
                if each["type"] == condition:
                    return each["status"], each["reason"]
        return "", ""

    async def until(self, look: Callable[[], Any], wanted: Any) -> None:
        while True:
            if await look() == wanted:
                return
            await asyncio.sleep(0.1)

    async def until_says(self, condition: str, status: str, reason: str = "") -> None:
        """The Workload's condition, and its reason where that matters."""

        async def look() -> bool:
            said = await self.says(condition)
            return said[0] == status and reason in ("", said[1])

        await self.until(look, True)


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("kind", ["PyTorchJob", "MPIJob"])
async def test_a_job_is_let_in_thrown_out_and_let_in_again_where_the_queue_says(
    server: Envtest,
    client: Client,
    namespace: str,
    queues: Queues,
    tmp_path: Path,
    *,
    kind: str,
    overlay: str,
):
    await install_crds(client, [*KINDS.values()], SystemClock())
    kubelet, seen = LeadersEnd(client, namespace), _Seen(client, kind, namespace)
    async with (
        operator_with(
            "kueue", server, client, tmp_path, namespace=namespace, overlay=overlay, kind=kind
        ) as flags,
        kubelet.at_work(),
        asyncio.timeout(_SECONDS),
    ):
        assert flags == [f"--kinds=DGLJob,{kind}", "--kueue"]
        await queues.stop("Hold")
        await client.create(_job(kind, namespace))
        await seen.until_says("QuotaReserved", "False")
        await seen.until(seen.is_suspended, True)
        await queues.stop("None")
        await seen.until_says("PodsReady", "True", "Started")
        await seen.until(seen.pools, ["a", "a"])
        await queues.stop()
        await seen.until_says("QuotaReserved", "False")
        await seen.until(seen.is_suspended, True)
        await queues.set_flavors("b")
        await queues.stop("None")
        await seen.until(seen.pools, ["b", "b"])
        kubelet.done.add("g")
        await seen.until_says("Finished", "True", "Succeeded")
