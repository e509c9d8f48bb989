# SPDX-License-Identifier: Apache-2.0
"""The API server of the bench, and what is in it."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.errors import NotFoundError
from dglop.runtime.api import Resource
from dglop.runtime.api.resource import resource_of
from dglop.runtime.client import Client, ClientConfig
from dglop.runtime.clock import SystemClock
from dglop.runtime.crdinstall import install_crds
from dglop.testing.envtest import Envtest
from hack.bench.runtime.pods import NAMESPACES, ROUND, pod
from hack.bench.runtime.programs.kinds import Widget

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

__all__ = ("World", "world")

_AT_ONCE = 16
_SERVED_SECONDS = 120.0
_POD = Resource("", "v1", "Pod", "pods")
_WIDGET = resource_of(Widget)


class World:
    """A running API server; `admin` is the bench's own client."""

    def __init__(self, server: Envtest, admin: Client) -> None:
        self.server = server
        self.pods = 0
        self.widgets = 0
        self.round = 0
        """How often the pods were changed."""
        self._admin = admin

    @property
    def kubeconfig(self) -> str:
        return str(self.server.kubeconfig)

    async def version(self) -> str:
        """The API server's version."""
        told = msgspec.json.decode(await self._admin.raw("GET", "/version"))
        return str(told["gitVersion"])

    async def prepare(self) -> None:
        """Namespaces, the bench's kind and the one by which kopf's replicas know of each other."""
        for number in range(NAMESPACES):
            name = {"name": f"bench-{number}"}
            await self._admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": name})
        await install_crds(self._admin, [Widget], SystemClock())
        await self._admin.create(_peering_crd())
        await self._serves("/apis/kopf.dev/v1/clusterkopfpeerings")
        await self._admin.create(
            {"apiVersion": "kopf.dev/v1", "kind": "ClusterKopfPeering", "metadata": {"name": "bench"}}
        )

    async def _serves(self, path: str) -> None:
        """Until the API server serves a kind that was made just now."""
        while True:
            try:
                await self._admin.raw("GET", path)
            except NotFoundError:
                await asyncio.sleep(0.1)
            else:
                return

    async def fill(self, pods: int) -> None:
        """Have so many pods, those that there are among them."""
        await _at_once(self._admin.create, (pod(number) for number in range(self.pods, pods)))
        self.pods = max(self.pods, pods)

    async def finish_widgets(self, count: int) -> None:
        """Have so many Widgets that are Done."""
        await _at_once(self._finished, range(self.widgets, count))
        self.widgets = max(self.widgets, count)

    async def _finished(self, number: int) -> None:
        name, namespace = f"widget-{number:05}", f"bench-{number % NAMESPACES}"
        await self.create_widget(name, namespace)
        path = f"{_WIDGET.path(namespace)}/{name}/status"
        body = b'{"status": {"phase": "Done"}}'
        await self._admin.raw("PATCH", path, body=body, content_type="application/merge-patch+json")

    async def create_widget(self, name: str, namespace: str = "bench-0") -> None:
        """One that is not Done yet."""
        await self._admin.create(
            {
                "apiVersion": _WIDGET.api_version,
                "kind": _WIDGET.kind,
                "metadata": {"name": name, "namespace": namespace},
                "spec": {"size": 1},
            }
        )

    async def served(self, name: str) -> float:
        """When the Widget is Done, by the machine's monotonic clock. Raises TimeoutError."""
        query = {"watch": "true", "fieldSelector": f"metadata.name={name}"}
        async with asyncio.timeout(_SERVED_SECONDS):
            stream = self._admin.stream(_WIDGET.path("bench-0"), query=query, read_idle=2 * _SERVED_SECONDS)
            async with aclosing(stream) as lines:
                async for line in lines:
                    found = msgspec.json.decode(line)["object"]
                    if found.get("status", {}).get("phase") == "Done":
                        return time.monotonic()
        raise TimeoutError(f"the watch of {name} ended")

    async def delete_widget(self, name: str) -> None:
        """Nothing if there is none."""
        with suppress(NotFoundError):
            await self._admin.raw("DELETE", f"{_WIDGET.path('bench-0')}/{name}")

    async def change_pods(self, count: int) -> None:
        """Change each of the first `count` pods once, in a new round of changes."""
        self.round += 1
        body = msgspec.json.encode({"metadata": {"annotations": {ROUND: str(self.round)}}})

        async def change(number: int) -> None:
            known = pod(number)["metadata"]
            path = f"{_POD.path(known['namespace'])}/{known['name']}"
            await self._admin.raw("PATCH", path, body=body, content_type="application/merge-patch+json")

        await _at_once(change, range(count))

    async def pod_bytes(self) -> float:
        """The mean size of a pod as it is served, of the first hundred."""
        page = await self._admin.raw("GET", "/api/v1/pods", query={"limit": "100"})
        return len(page) / min(100, self.pods)


async def _at_once(work: Callable[[Any], Awaitable[Any]], items: Iterable[Any]) -> None:
    """Do the work for each item, a few at a time."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_ONCE):
            group.create_task(worker())


def _peering_crd() -> dict[str, Any]:
    """As kopf's documentation has it."""
    names = {"kind": "ClusterKopfPeering", "plural": "clusterkopfpeerings", "singular": "clusterkopfpeering"}
    unknown = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"status": unknown}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "clusterkopfpeerings.kopf.dev"},
        "spec": {
            "scope": "Cluster",
            "group": "kopf.dev",
            "names": names,
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    """An API server with nothing in it but what `prepare` makes."""
    async with (
        Envtest() as server,
        await Client.connect(ClientConfig(kubeconfig=str(server.kubeconfig))) as admin,
    ):
        made = World(server, admin)
        await made.prepare()
        yield made
