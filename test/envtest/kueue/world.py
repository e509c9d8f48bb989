# SPDX-License-Identifier: Apache-2.0
"""The world of the job tests with queues in it; who lets jobs in is told by the fixtures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dglop.common import ReplicaSpec, RestartPolicy, RunPolicy
from dglop.common.constants import POD
from dglop.common.kueue.names import LABEL_QUEUE, WORKLOAD
from dglop.testing.builders import pod_template
from dglop.testing.toyjob import ToyJob, ToyJobSpec
from test.envtest.common.world import World

if TYPE_CHECKING:
    from dglop.runtime.client import Client
    from dglop.runtime.manager import Manager

__all__ = ("QueueWorld", "asking")


def asking(cpu: str = "1", **spec: Any) -> dict[str, Any]:
    """A pod template that asks for so many cores."""
    template = pod_template(**spec)
    template["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return template


class QueueWorld(World):
    """Workloads as the Manager's cache shows them."""

    def __init__(self, manager: Manager, client: Client, namespace: str) -> None:
        super().__init__(manager, client, namespace)
        manager.cache.informer(WORKLOAD).add_handler(self)

    async def queue(
        self, name: str = "g", *, labels: dict[str, str] | None = None, gang: bool = False, **fields: Any
    ) -> ToyJob:
        """Submit a job of workers that each ask for a core, to the queue `q`."""
        workers, template = fields.pop("workers", 2), fields.pop("template", None) or asking()
        role = ReplicaSpec(replicas=workers, restart_policy=RestartPolicy.EXIT_CODE, template=template)
        spec = ToyJobSpec(replica_specs={"worker": role}, gang=gang, run_policy=RunPolicy(**fields))
        job = ToyJob(name=name, namespace=self.namespace, spec=spec)
        job.metadata.labels = {LABEL_QUEUE: "q"} if labels is None else labels
        return await self.client.create(job)

    def workloads(self, name: str = "g") -> list[dict[str, Any]]:
        """Those that the job of this name owns."""
        listed = [each.to_dict() for each in self.manager.cache.list(WORKLOAD, self.namespace)]
        return [each for each in listed if self._owner(each) == name]

    def workload(self, name: str = "g") -> Any:
        return next(iter(self.workloads(name)), None)

    def says(self, condition: str, name: str = "g") -> tuple[str, str]:
        """Status and reason of a condition of the job's Workload; empty where there is none."""
        status = (self.workload(name) or {}).get("status", {})
        listed = status.get("conditions", [])
        found: dict[str, str] = next((each for each in listed if each["type"] == condition), {})
        return found.get("status", ""), found.get("reason", "")

    def is_suspended(self, name: str = "g") -> bool:
        """Spec and status say so, and no pod is there."""
        job = self.job(name)
        spec = job is not None and job.spec.run_policy.suspend
        return bool(spec and self.is_true("Suspended", name) and not self.pods(name))

    async def selectors(self, name: str = "g") -> list[dict[str, str]]:
        """The nodeSelectors of the job's pods as the server has them."""
        return [
            (await self.client.get(POD, each, self.namespace))["spec"].get("nodeSelector", {})
            for each in self.pods(name)
        ]

    async def finish(self, name: str = "g") -> None:
        for pod in list(self.pods(name)):
            await self.set_pod(pod, "Succeeded", exit_code=0)
        await self.until(lambda: self.is_true("Succeeded", name))

    @staticmethod
    def _owner(workload: dict[str, Any]) -> str:
        owners = workload["metadata"].get("ownerReferences") or []
        return next((str(each["name"]) for each in owners if each.get("controller")), "")
