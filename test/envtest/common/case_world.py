# SPDX-License-Identifier: Apache-2.0
"""A Manager of TestJobs and DGLJobs for the acceptance cases: what it sends is taken down."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dglop.common import JobReconciler, ReplicaSpec, RestartPolicy, RunPolicy
from dglop.common.constants import LABEL_JOB_NAME, POD, SERVICE
from dglop.dgljob import DGLJob, DGLJobKind, KindOptions, Tokens
from dglop.errors import NotFoundError
from dglop.testing.builders import container_status, pod_template
from dglop.testing.toyjob import ToyJob, ToyJobKind, ToyJobSpec
from test.envtest.common.world import World
from test.envtest.kubelet import Kubelet

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.common.gang import GangScheduler
    from dglop.runtime.client import Client
    from dglop.runtime.manager import Manager
    from test.wire import Wire

__all__ = ("Cases", "control_both")

_HELD = "example.dev/held"


def control_both(manager: Manager, gang: GangScheduler | None = None) -> None:
    """Have *manager* run TestJobs and DGLJobs, in groups where there is a scheduler of these."""
    options = KindOptions(Tokens(b"k" * 32), "operator:test")
    manager.controller(ToyJob, JobReconciler(ToyJobKind(), gang=gang), concurrency=4)
    manager.controller(DGLJob, JobReconciler(DGLJobKind(options), gang=gang), concurrency=4)


class Cases(World):
    """
    The world of the acceptance cases: jobs are named g, and the test is kubelet, person and queue.

    Attributes
    ----------
        wire: what the Manager sends, watches aside.
        history: each state of a job that the Manager's cache was shown, in order.
    """

    def __init__(self, manager: Manager, client: Client, namespace: str, wire: Wire) -> None:
        self.wire = wire
        self.history: list[Any] = []
        super().__init__(manager, client, namespace)
        self.kubelet = Kubelet(client, namespace)

    def follow(self, manager: Manager) -> None:
        super().follow(manager)
        manager.cache.informer(DGLJob).add_handler(self)

    def on_add(self, obj: Any, is_initial: bool) -> None:
        self._note(obj)
        super().on_add(obj, is_initial)

    def on_update(self, old: Any, new: Any) -> None:
        self._note(new)
        super().on_update(old, new)

    def _note(self, obj: Any) -> None:
        for kind in (ToyJob, DGLJob):
            if obj.resource == kind.resource:
                self.history.append(obj.to(kind))

    # --- what people do --------------------------------------------------------------------------------
    async def toy(
        self,
        name: str = "g",
        *,
        workers: int = 2,
        roles: dict[str, int] | None = None,
        restart: str = "ExitCode",
        gang: bool = False,
        template: dict[str, Any] | None = None,
        **policy: Any,
    ) -> ToyJob:
        """Submit a TestJob."""
        specs = {
            role: ReplicaSpec(
                replicas=count, restart_policy=RestartPolicy(restart), template=template or pod_template()
            )
            for role, count in (roles or {"worker": workers}).items()
        }
        spec = ToyJobSpec(replica_specs=specs, gang=gang, run_policy=RunPolicy(**policy))
        return await self.client.create(ToyJob(name=name, namespace=self.namespace, spec=spec))

    async def dgl(self, name: str = "g", *, workers: int = 2, **policy: Any) -> DGLJob:
        """Submit a DGLJob; of the fields, `restart` and `template` are the Workers', the rest runPolicy's."""
        worker = {"replicas": workers, "template": policy.pop("template", None) or pod_template("dgl")}
        worker["restartPolicy"] = policy.pop("restart", "ExitCode")
        partitioner = {"template": pod_template("dgl")}
        spec = {"dglReplicaSpecs": {"Worker": worker, "Partitioner": partitioner}, "runPolicy": policy}
        kind = {"apiVersion": DGLJob.resource.api_version, "kind": "DGLJob", "spec": spec}
        metadata = {"name": name, "namespace": self.namespace}
        return DGLJob.from_wire(await self.client.create({**kind, "metadata": metadata}))

    async def change(self, kind: type, name: str = "g", **policy: Any) -> None:
        """Change a job's runPolicy."""
        await self.client.patch(kind, name, self.namespace, {"spec": {"runPolicy": policy}})

    async def touch(self, kind: type, name: str = "g") -> None:
        """Have the job looked at again, with nothing changed that matters."""
        self._touches = getattr(self, "_touches", 0) + 1
        note = {"metadata": {"annotations": {"example.dev/touched": str(self._touches)}}}
        await self.client.patch(kind, name, self.namespace, note)
        await self.rest()

    # --- what is seen ----------------------------------------------------------------------------------
    def dgljob(self, name: str = "g") -> Any:
        found = self.manager.cache.get(DGLJob, name, self.namespace)
        return found.to(DGLJob) if found else None

    def either(self, name: str = "g") -> Any:
        return self.job(name) or self.dgljob(name)

    def has(self, condition: str, status: str = "True", name: str = "g") -> bool:
        """Whether the job, of whichever kind, has the condition so."""
        job = self.either(name)
        found = job.status.get(condition) if job else None
        return found is not None and found.status == status

    def count(self, role: str = "worker", name: str = "g") -> dict[str, int]:
        """The counts of a role that are not 0."""
        found = self.either(name).status.replica_statuses[role].model_dump()
        return {key: value for key, value in found.items() if value and isinstance(value, int)}

    def services(self) -> set[str]:
        return {each.name for each in self.manager.cache.list(SERVICE, self.namespace)}

    def vectors(self) -> list[dict[str, str]]:
        """The conditions of the job over its whole life, each vector once in a row."""
        found = [{each.type: each.status for each in job.status.conditions} for job in self.history]
        return [each for number, each in enumerate(found) if number == 0 or each != found[number - 1]]

    async def rest(self) -> None:
        """Return when the cache shows all that the server has, and no job is looked at any more."""
        queues = [each.queue for each in self.manager.controllers]
        # The server is another process, which may have more to say.
        while not all(each.is_idle for each in queues) or self._shown() != await self._versions():  # noqa: ASYNC110
            await asyncio.sleep(0.05)

    async def _versions(self) -> dict[tuple[str, str], str]:
        found = {}
        for kind in (ToyJob.resource, DGLJob.resource, POD, SERVICE):
            labels = LABEL_JOB_NAME if kind in (POD, SERVICE) else ""
            for each in await self.client.list(kind, self.namespace, labels=labels):
                found[kind.kind, each["metadata"]["name"]] = each["metadata"]["resourceVersion"]
        return found

    def _shown(self) -> dict[tuple[str, str], str]:
        kinds = (ToyJob.resource, DGLJob.resource, POD, SERVICE)
        listed = [
            (kind.kind, each) for kind in kinds for each in self.manager.cache.list(kind, self.namespace)
        ]
        return {(kind, each.name): each.resource_version for kind, each in listed}

    # --- what the kubelet, the scheduler and the garbage collector do ----------------------------------
    async def bind(self, name: str) -> None:
        """Give a pod a node: from then on its deletion has a grace period."""
        target = {"apiVersion": "v1", "kind": "Node", "name": "n"}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        path = f"/api/v1/namespaces/{self.namespace}/pods/{name}/binding"
        await self.client.raw("POST", path, body=json.dumps(body).encode())

    async def remove_pod(self, name: str) -> None:
        """The pod is torn down."""
        with suppress(NotFoundError):
            await self.client.delete(POD, name, self.namespace, grace_seconds=0)

    async def hold(self, name: str) -> None:
        """Keep a deleted pod there until `free`."""
        held = {"metadata": {"finalizers": [_HELD]}}
        await self.client.patch(POD, name, self.namespace, held)

    async def free(self, name: str) -> None:
        await self.client.patch(POD, name, self.namespace, {"metadata": {"finalizers": None}})

    async def collect(self, owner: str) -> None:
        """Be the garbage collector of an object that is gone."""
        for kind in (POD, SERVICE):
            for each in await self.client.list(kind, self.namespace):
                owners = each["metadata"].get("ownerReferences") or []
                if any(one["uid"] == owner for one in owners):
                    await self.client.delete(kind, each["metadata"]["name"], self.namespace, grace_seconds=0)

    async def train(self, name: str = "g") -> None:
        """Be the kubelet until the Workers of a DGLJob train."""
        await self.played_until(lambda: (job := self.dgljob(name)) and job.status.phase == "Training")

    async def played_until(self, what: Callable[[], Any]) -> None:
        """Be the kubelet of DGLJobs until *what* is true."""
        async with self.kubelet.at_work():
            await self.until(what)

    async def fail(self, pod: str, code: int, container: str = "dgl") -> None:
        """The main container of a DGLJob's pod ends with *code*."""
        status = {"phase": "Failed", "containerStatuses": [container_status(container, exit_code=code)]}
        await self.client.patch(POD, pod, self.namespace, {"status": status}, subresource="status")

    async def run(self, name: str = "g") -> None:
        """Be the kubelet until all pods of a TestJob run."""
        job = await self.until(lambda: self.job(name))
        await self.run_all(sum(each.replicas for each in job.spec.replica_specs.values()), name)
        await self.until(lambda: self.has("Running", name=name))
