# SPDX-License-Identifier: Apache-2.0
"""A ClusterQueue of one test with two flavors of nodes, and changes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dglop.common.kueue.names import FLAVOR, WORKLOAD_PRIORITY
from dglop.runtime.api import Resource

if TYPE_CHECKING:
    from dglop.runtime.client import Client

__all__ = ("CLUSTER_QUEUE", "Queues", "make_queues")

CLUSTER_QUEUE = Resource("kueue.x-k8s.io", "v1beta2", "ClusterQueue", "clusterqueues", namespaced=False)
LOCAL_QUEUE = Resource("kueue.x-k8s.io", "v1beta2", "LocalQueue", "localqueues")


def _object(resource: Resource, name: str, spec: dict[str, Any], namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "spec": spec}


@dataclass(frozen=True, slots=True)
class Queues:
    """The queue of one test; flavors and classes are named after its namespace, since they are in none."""

    client: Client
    namespace: str

    def flavor(self, letter: str) -> str:
        return f"{self.namespace}-{letter}"

    async def set_flavors(self, *letters: str) -> None:
        """Give the queue two cores of each of these flavors, the first one first."""
        await self._change({"resourceGroups": _groups([self.flavor(each) for each in letters])})

    async def stop(self, policy: str = "HoldAndDrain") -> None:
        """Let nobody in; with HoldAndDrain those that are in have to leave. `None` opens it again."""
        await self._change({"stopPolicy": policy})

    async def priority(self, name: str, value: int) -> str:
        """Make a WorkloadPriorityClass, and give its name."""
        made = f"{self.namespace}-{name}"
        wire = {
            "apiVersion": WORKLOAD_PRIORITY.api_version,
            "kind": WORKLOAD_PRIORITY.kind,
            "metadata": {"name": made},
            "value": value,
        }
        await self.client.create(wire, resource=WORKLOAD_PRIORITY)
        return made

    async def _change(self, spec: dict[str, Any]) -> None:
        await self.client.patch(CLUSTER_QUEUE, self.namespace, None, {"spec": spec})


def _groups(flavors: list[str]) -> list[dict[str, Any]]:
    quota = [{"name": "cpu", "nominalQuota": "2"}, {"name": "memory", "nominalQuota": "1Gi"}]
    return [
        {
            "coveredResources": ["cpu", "memory"],
            "flavors": [{"name": each, "resources": quota} for each in flavors],
        }
    ]


async def make_queues(client: Client, namespace: str) -> Queues:
    """The LocalQueue `q` of the namespace, whose jobs may preempt those of lower priority."""
    made = Queues(client, namespace)
    for letter in ("a", "b"):
        toleration = {"key": "pool", "operator": "Equal", "value": letter, "effect": "NoSchedule"}
        spec: dict[str, Any] = {"nodeLabels": {"pool": letter}, "tolerations": [toleration]}
        await client.create(_object(FLAVOR, made.flavor(letter), spec), resource=FLAVOR)
    spec = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "preemption": {"withinClusterQueue": "LowerPriority"},
        "resourceGroups": _groups([made.flavor("a")]),
    }
    await client.create(_object(CLUSTER_QUEUE, namespace, spec), resource=CLUSTER_QUEUE)
    local = _object(LOCAL_QUEUE, "q", {"clusterQueue": namespace}, namespace)
    await client.create(local, resource=LOCAL_QUEUE)
    return made
