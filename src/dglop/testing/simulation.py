# SPDX-License-Identifier: Apache-2.0
"""One job in a cluster in memory: plans are carried out at once; the test is kubelet and clock."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic

import msgspec

from dglop.common.gang import Gang, GroupView
from dglop.common.observed import Observed
from dglop.common.plan import plan
from dglop.common.replica import JobT
from dglop.common.views import PodView, ServiceView
from dglop.runtime.api.times import format_time
from dglop.testing.builders import T0, container_status, stored

if TYPE_CHECKING:
    from dglop.common.actions import JobEvent, Plan
    from dglop.common.gang import GangScheduler
    from dglop.common.kind import JobKind

__all__ = ("Simulation",)

_MOST_STEPS = 50


class Simulation(Generic[JobT]):
    """
    One job, its children and a clock.

    `step` is one reconcile; `settle` is as many as find something to do. Status goes through its wire form
    between them, as in a cluster. Deleted pods stay as terminating until `finish_deletions`, unless
    `deletes_at_once`.
    """

    def __init__(
        self,
        job: JobT,
        kind: JobKind[JobT],
        *,
        deletes_at_once: bool = True,
        gang: GangScheduler | None = None,
    ) -> None:
        self.kind = kind
        self.gang = gang
        self.priorities: dict[str, int] = {}
        self.groups: dict[str, dict[str, Any]] = {}
        self.now: datetime = T0
        self.pods: dict[str, dict[str, Any]] = {}
        self.services: dict[str, dict[str, Any]] = {}
        self.objects: dict[str, dict[str, Any]] = {}
        self.creates: list[str] = []
        self.deletes: list[str] = []
        self.events: list[JobEvent] = []
        self.writes: list[Any] = []
        self.is_deleted: bool = False
        self.wakes_at: datetime | None = None
        self._deletes_at_once = deletes_at_once
        self._serial = 0
        self.job: JobT = stored(job, "t")

    @property
    def status(self) -> Any:
        return self.job.status

    @property
    def conditions(self) -> dict[str, str]:
        """Each condition's status by type, in order."""
        return {each.type: each.status for each in self.job.status.conditions}

    def observed(self) -> Observed:
        groups = tuple(msgspec.convert(each, GroupView) for each in self.groups.values())
        return Observed(
            gang=Gang(self.gang, groups, priorities=self.priorities) if self.gang else None,
            pods=tuple(msgspec.convert(each, PodView) for each in self.pods.values()),
            services=tuple(msgspec.convert(each, ServiceView) for each in self.services.values()),
        )

    def step(self) -> Plan:
        """One reconcile: plan, carry out, write the status if it changed."""
        made = plan(self.job, self.observed(), self.now, self.kind)
        self._carry_out(made)
        before = self.job.to_wire()
        written = self.job.model_copy(update={"status": made.status})
        self.job = stored(written)
        if self.job.to_wire() != before:
            self.writes.append(self.job.status)
        self.events.extend(made.events)
        self.wakes_at = self.now + made.requeue_after if made.requeue_after is not None else None
        return made

    def settle(self) -> None:
        """Reconcile until a step changes nothing and asks for nothing at once."""
        for _ in range(_MOST_STEPS):
            seen = (len(self.creates), len(self.deletes), len(self.writes), len(self.services))
            made = self.step()
            if self.is_deleted:
                return
            changed = seen != (len(self.creates), len(self.deletes), len(self.writes), len(self.services))
            if not changed and made.requeue_after != timedelta(0):
                return
        raise AssertionError(f"the plan finds no rest within {_MOST_STEPS} steps")

    def advance(self, seconds: float) -> None:
        """Move the clock; reconcile only where the plan asked to be woken by then."""
        end = self.now + timedelta(seconds=seconds)
        while self.wakes_at is not None and self.wakes_at <= end and not self.is_deleted:
            self.now = max(self.now, self.wakes_at)
            self.settle()
            if self.wakes_at is not None and self.wakes_at <= self.now:
                break
        self.now = end

    def pod(self, role: str = "worker", index: int = 0) -> dict[str, Any]:
        return self.pods[f"{self.job.name}-{role.lower()}-{index}"]

    def set_pod(
        self,
        role: str = "worker",
        index: int = 0,
        *,
        phase: str = "Running",
        exit_code: int | None = None,
        pod_reason: str = "",
        **state: Any,
    ) -> None:
        """Be the kubelet: give a pod its phase and its first container a state."""
        pod = self.pod(role, index)
        code = 0 if phase == "Succeeded" else exit_code
        names = [each["name"] for each in pod["spec"].get("containers", [])] or ["main"]
        main = pod["metadata"]["annotations"].get("kubectl.kubernetes.io/default-container", names[0])
        ran = phase not in ("Pending", "Failed") or code is not None
        if ran and code is not None:
            state.setdefault("finished", self.now)
        ready = state.pop("ready", phase == "Running" and code is None)
        listed = [container_status(main, exit_code=code, ready=ready, **state)] if ran or state else []
        pod["status"] = {"phase": phase, "reason": pod_reason or None, "containerStatuses": listed}

    def run_all(self) -> None:
        """Every pod that waits starts to run."""
        for pod in list(self.pods.values()):
            if pod["status"]["phase"] == "Pending" and "deletionTimestamp" not in pod["metadata"]:
                labels = pod["metadata"]["labels"]
                role = labels["training.kubeflow.org/replica-type"]
                self.set_pod(role, int(labels["training.kubeflow.org/replica-index"]))

    def delete_pod(self, role: str = "worker", index: int = 0) -> None:
        """Be a person who deletes a pod."""
        self._delete(self.pod(role, index))

    def finish_deletions(self) -> None:
        """Every terminating pod is gone."""
        self.pods = {k: v for k, v in self.pods.items() if "deletionTimestamp" not in v["metadata"]}

    def _carry_out(self, made: Plan) -> None:
        if made.delete_job:
            self.is_deleted = True
        for doomed in made.delete_pods:
            self.deletes.append(doomed.name)
            pod = self.pods.get(doomed.name)
            if pod and pod["metadata"]["uid"] == doomed.uid:
                self._delete(pod, at_once=doomed.grace_seconds == 0)
        for service in made.delete_services:
            self.deletes.append(f"service/{service.name}")
            self.services.pop(service.name, None)
        self._write_groups(made)
        for manifest in made.objects:
            self.objects.setdefault(f"{manifest['kind']}/{manifest['metadata']['name']}", manifest)
        for manifest in made.services:
            self.services.setdefault(manifest["metadata"]["name"], self._born(manifest))
        for create in made.creates:
            if create.name in self.pods:
                raise AssertionError(f"{create.name} is there already and cannot be made again")
            self.creates.append(create.name)
            self.pods[create.name] = {**self._born(create.manifest), "status": {"phase": "Pending"}}

    def set_group(self, name: str, phase: str, **status: Any) -> None:
        """Be the gang scheduler: give a group its phase."""
        self.groups[name] = {**self.groups[name], "status": {"phase": phase, **status}}

    def _write_groups(self, made: Plan) -> None:
        for doomed in made.delete_groups:
            self.deletes.append(f"group/{doomed.name}")
            self.groups.pop(doomed.name, None)
        for written in made.groups:
            self.creates.append(f"group/{written.name}")
            seen = self.groups.get(written.name) or self._born(written.manifest)
            metadata = {**seen["metadata"], "annotations": written.manifest["metadata"]["annotations"]}
            spec = {**seen["spec"], **written.manifest["spec"]}
            self.groups[written.name] = {**seen, "metadata": metadata, "spec": spec}

    def _born(self, manifest: dict[str, Any]) -> dict[str, Any]:
        self._serial += 1
        born = {"uid": f"uid-{self._serial}", "creationTimestamp": format_time(self.now)}
        return {**manifest, "metadata": {**manifest["metadata"], **born}}

    def _delete(self, pod: dict[str, Any], *, at_once: bool = False) -> None:
        if self._deletes_at_once or at_once:
            del self.pods[pod["metadata"]["name"]]
        else:
            end = self.now + timedelta(seconds=30)
            pod["metadata"]["deletionTimestamp"] = format_time(end)
            pod["metadata"]["deletionGracePeriodSeconds"] = 30
