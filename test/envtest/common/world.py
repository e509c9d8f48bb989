# SPDX-License-Identifier: Apache-2.0
"""A Manager with the TestJob kind on a real API server, where the test is the kubelet."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from dglop.common import ReplicaSpec, RestartPolicy, RunPolicy
from dglop.common.constants import POD, SERVICE
from dglop.common.views import PodView
from dglop.errors import NotFoundError
from dglop.runtime.api import Resource
from dglop.testing.builders import container_status, pod_template
from dglop.testing.toyjob import ToyJob, ToyJobSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from dglop.runtime.client import Client
    from dglop.runtime.manager import Manager

EVENT = Resource("events.k8s.io", "v1", "Event", "events")
SECONDS = 30.0


class World:
    """What the Manager's cache shows, conditions to wait for, and the kubelet's writes."""

    def __init__(self, manager: Manager, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace
        self._changed = asyncio.Event()
        self.follow(manager)

    def follow(self, manager: Manager) -> None:
        """Look at what this Manager's cache shows."""
        self.manager = manager
        for kind in (ToyJob, POD, SERVICE, EVENT):
            manager.cache.informer(kind).add_handler(self)

    def on_add(self, obj: Any, is_initial: bool) -> None:
        self._changed.set()

    def on_update(self, old: Any, new: Any) -> None:
        self._changed.set()

    def on_delete(self, obj: Any, final_state_unknown: bool) -> None:
        self._changed.set()

    async def until(self, what: Callable[[], Any]) -> Any:
        """The first true answer of *what*, which is asked again at every change."""
        async with asyncio.timeout(SECONDS):
            while not (answer := what()):
                self._changed.clear()
                await self._changed.wait()
            return answer

    async def submit(self, name: str = "g", *, workers: int = 2, gang: bool = False, **policy: Any) -> ToyJob:
        template = policy.pop("template", None) or pod_template()
        role = ReplicaSpec(replicas=workers, restart_policy=RestartPolicy.EXIT_CODE, template=template)
        spec = ToyJobSpec(replica_specs={"worker": role}, gang=gang, run_policy=RunPolicy(**policy))
        return await self.client.create(ToyJob(name=name, namespace=self.namespace, spec=spec))

    def job(self, name: str = "g") -> ToyJob | None:
        found = self.manager.cache.get(ToyJob, name, self.namespace)
        return found.to(ToyJob) if found else None

    def is_true(self, condition: str, name: str = "g") -> bool:
        job = self.job(name)
        return job is not None and job.status.is_true(condition)

    def pods(self, name: str = "g") -> dict[str, PodView]:
        listed = [each.view(PodView) for each in self.manager.cache.list(POD, self.namespace)]
        return {each.name: each for each in listed if each.name.startswith(f"{name}-")}

    def event_reasons(self) -> list[str]:
        return [each["reason"] for each in self.events()]

    def events(self, reason: str = "") -> list[dict[str, Any]]:
        """All events, or those for one reason."""
        if not self.manager.cache.informer(EVENT).has_synced():
            return []
        listed = [each.to_dict() for each in self.manager.cache.list(EVENT, self.namespace)]
        return [each for each in listed if reason in ("", each["reason"])]

    def reconciled(self) -> float:
        """How often jobs were reconciled, with whatever result."""
        name = "controller_runtime_reconcile_total"
        families = self.manager.metrics.registry.collect()
        return sum(each.value for family in families for each in family.samples if each.name == name)

    async def set_pod(self, name: str, phase: str = "Running", **state: Any) -> None:
        ready = phase == "Running"
        status = {"phase": phase, "containerStatuses": [container_status(ready=ready, **state)]}
        await self.client.patch(POD, name, self.namespace, {"status": status}, subresource="status")

    async def run_all(self, count: int, name: str = "g") -> None:
        """Wait for so many pods, then let each of them run."""
        await self.until(lambda: len(self.pods(name)) == count)
        for pod in list(self.pods(name)):
            await self.set_pod(pod)

    async def exists(self, kind: Any, name: str) -> bool:
        try:
            await self.client.get(kind, name, self.namespace)
        except NotFoundError:
            return False
        return True
