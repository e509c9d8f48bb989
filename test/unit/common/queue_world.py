# SPDX-License-Identifier: Apache-2.0
"""One job in a queue, in memory: the test is Kueue, the kubelet and the clock."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from dglop.common.kueue import QueueSeen, queue_plan
from dglop.common.kueue.manifest import Priority
from dglop.common.kueue.views import FlavorView, WorkloadView
from dglop.runtime.api.times import format_time
from dglop.testing.simulation import Simulation

__all__ = ("FLAVORS", "QUEUE", "QueueWorld", "running")

QUEUE = "kueue.x-k8s.io/queue-name"

_TAINT = {"key": "pool", "operator": "Exists"}
FLAVORS: dict[str, dict[str, Any]] = {
    "a": {"nodeLabels": {"pool": "a"}, "tolerations": [_TAINT]},
    "b": {"nodeLabels": {"pool": "b"}},
    "plain": {},
}


class QueueWorld(Simulation[Any]):
    """A simulation that decides about the queue before each plan, as the shell does."""

    def __init__(self, job: Any, kind: Any, *, is_remote: bool = False) -> None:
        self.workloads: dict[str, dict[str, Any]] = {}
        self.priority: Priority | None = Priority()
        self.flavors = dict(FLAVORS)
        self.is_remote = is_remote
        self.queue_events: list[str] = []
        self.suspensions: list[bool] = []
        self.unsettled: frozenset[str] = frozenset()
        super().__init__(job, kind)

    @property
    def workload(self) -> dict[str, Any]:
        (only,) = self.workloads.values()
        return only

    def seen(self) -> QueueSeen:
        views = tuple(msgspec.convert(each, WorkloadView) for each in self.workloads.values())
        flavors = {
            name: msgspec.convert({"metadata": {"name": name}, "spec": spec}, FlavorView)
            for name, spec in self.flavors.items()
        }
        return QueueSeen(views, flavors, self.priority)

    def observed(self) -> Any:
        plain = replace(super().observed(), unsettled=self.unsettled)
        made = queue_plan(self.job, self.seen(), plain, self.now, self.kind, is_remote=self.is_remote)
        self._carry(made)
        return replace(plain, admission=made.admission)

    def _carry(self, made: Any) -> None:
        if made.suspend is not None:
            self.suspensions.append(made.suspend)
            self.job.spec.run_policy.suspend = made.suspend
        for doomed in made.delete:
            del self.workloads[doomed.name]
        if made.create is not None:
            self.workloads[made.create["metadata"]["name"]] = {**self._born(made.create), "status": {}}
        if made.workload is not None:
            held = self.workloads[made.workload.name]
            for part in ("metadata", "spec"):
                changes = (made.patch or {}).get(part, {})
                merged = {**held[part], **changes}
                held[part] = {key: value for key, value in merged.items() if value is not None}
            held["status"].update(made.status_patch or {})
            self.writes += [made] if made.patch or made.status_patch else []
        self.queue_events += [each.reason for each in made.events]

    # --- what Kueue does -------------------------------------------------------------------------------
    def condition(self, type_: str, value: bool, reason: str = "Because", message: str = "") -> None:
        listed = [each for each in self.workload["status"].get("conditions", []) if each["type"] != type_]
        made = {"type": type_, "status": str(value), "reason": reason, "message": message}
        self.workload["status"]["conditions"] = [
            *listed,
            {**made, "lastTransitionTime": format_time(self.now)},
        ]

    def says(self, type_: str) -> tuple[str, str]:
        listed = self.workload["status"].get("conditions", [])
        return next(((each["status"], each["reason"]) for each in listed if each["type"] == type_), ("", ""))

    def reserve(self, flavor: str = "a") -> None:
        names = [each["name"] for each in self.workload["spec"]["podSets"]]
        assigned = [{"name": name, "flavors": {"cpu": flavor, "memory": flavor}} for name in names]
        self.workload["status"]["admission"] = {"clusterQueue": "cq", "podSetAssignments": assigned}
        self.condition("Evicted", False)
        self.condition("QuotaReserved", True)

    def admit(self, flavor: str = "a") -> None:
        self.reserve(flavor)
        self.condition("Admitted", True)
        self.settle()

    def evict(self, reason: str = "Preempted") -> None:
        self.condition("Evicted", True, reason, "make room")
        self.settle()


def running(world: QueueWorld) -> QueueWorld:
    """The world, once every pod that waits runs."""
    world.run_all()
    world.settle()
    return world
