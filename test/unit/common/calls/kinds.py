# SPDX-License-Identifier: Apache-2.0
"""The lives of a TestJob, whose replicas are made anew one by one, and of a DGLJob with all its phases.

Whoever tells the TestJob's pods what they do tells other kinds' too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from dglop.common import CleanPodPolicy, ReplicaSpec, RestartPolicy, RunPolicy
from dglop.dgljob import DGLJob, DGLJobKind, KindOptions, Tokens
from dglop.testing.builders import container_status, pod_template
from dglop.testing.toyjob import ToyJob, ToyJobKind, ToyJobSpec
from test.envtest.kubelet import Kubelet
from test.unit.common.calls.life import Life, Step
from test.unit.common.calls.operator import NAMESPACE

if TYPE_CHECKING:
    from dglop.testing.memory import MemoryCluster

__all__ = ("LIVES", "TTL", "DGLLife", "Phased", "PodsLife", "ToyLife", "holds")

TTL = 1000


def holds(job: dict[str, Any] | None, *types: str, **fields: Any) -> bool:
    """Whether the conditions are True, and the fields of the status are these."""
    status = (job or {}).get("status", {})
    true = {each["type"] for each in status.get("conditions", []) if each["status"] == "True"}
    return set(types) <= true and fields.items() <= status.items()


class Phased(Life):
    """What the two lives have in common."""

    running: ClassVar[dict[str, Any]] = {}

    def steps(self) -> list[Step]:
        if self.is_plain:
            return [
                (lambda _: True, self.submit),
                (lambda job: holds(job, "Running", **self.running), self.finish),
                *self.last_steps(),
            ]
        return [
            (lambda _: True, self.submit),
            (lambda job: holds(job, "Running", **self.running), self.fail),
            (lambda job: holds(job, "Running", restartCount=1, **self.running), self.suspend),
            (lambda job: holds(job, "Suspended") and not self.count_pods(), self.resume),
            (lambda job: holds(job, "Running", **self.running) and not holds(job, "Suspended"), self.finish),
            *self.last_steps(),
        ]

    def last_steps(self) -> list[Step]:
        return [(lambda job: holds(job, self.ending), self.rest), (lambda _: True, self.note_end)]

    def count_pods(self) -> int:
        return len(self.cluster.server.store.all("pods", NAMESPACE))

    async def submit(self) -> None:
        raise NotImplementedError

    async def fail(self) -> None:
        raise NotImplementedError

    async def finish(self) -> None:
        raise NotImplementedError

    async def suspend(self) -> None:
        await self.change(suspend=True)

    async def resume(self) -> None:
        await self.change(suspend=False)

    async def rest(self) -> None:
        """All that follows from the end happens; what went wrong is tried again meanwhile."""
        for _ in range(20):
            await self.turn(20.0)


class PodsLife(Phased):
    """One in which every pod runs until the job is done, and then succeeds."""

    def __init__(self, cluster: MemoryCluster, *, is_plain: bool = False) -> None:
        super().__init__(cluster, is_plain=is_plain)
        self._is_done = False

    async def finish(self) -> None:
        self._is_done = True

    def ends(self, name: str) -> bool:
        """Whether this pod is one of those that end by themselves."""
        return True

    async def play(self) -> None:
        for pod in self.pods():
            phase, is_leaving = pod["status"].get("phase"), "deletionTimestamp" in pod["metadata"]
            if phase in ("Failed", "Succeeded") or is_leaving:
                continue
            name, main = pod["metadata"]["name"], pod["spec"]["containers"][0]["name"]
            if self._is_done and self.ends(name):
                listed = [container_status(main, exit_code=0)]
                await self.tell(name, {"phase": "Succeeded", "containerStatuses": listed})
            elif phase != "Running":
                listed = [container_status(main, ready=True)]
                await self.tell(name, {"phase": "Running", "containerStatuses": listed})


class ToyLife(PodsLife):
    """Two workers, one of which is killed."""

    resource = ToyJob
    kind: ClassVar[ToyJobKind] = ToyJobKind()

    async def submit(self) -> None:
        role = ReplicaSpec(replicas=2, restart_policy=RestartPolicy.EXIT_CODE, template=pod_template())
        policy = RunPolicy(
            clean_pod_policy=CleanPodPolicy.ALL, ttl_seconds_after_finished=TTL, backoff_limit=1
        )
        spec = ToyJobSpec(replica_specs={"worker": role}, run_policy=policy)
        await self.client.create(ToyJob(name="g", namespace=NAMESPACE, spec=spec))

    async def fail(self) -> None:
        listed = [container_status(exit_code=137, reason="OOMKilled")]
        await self.tell("g-worker-1", {"phase": "Failed", "containerStatuses": listed})


class DGLLife(Phased):
    """A Partitioner and two Workers: Partitioning, Partitioned, Dispatching, Training, three times over."""

    resource = DGLJob
    kind: ClassVar[DGLJobKind] = DGLJobKind(KindOptions(Tokens(b"k" * 32), "operator:test"))
    running: ClassVar[dict[str, Any]] = {"phase": "Training"}

    def __init__(self, cluster: MemoryCluster, *, is_plain: bool = False) -> None:
        super().__init__(cluster, is_plain=is_plain)
        self._kubelet = Kubelet(cluster.client, NAMESPACE)

    async def submit(self) -> None:
        worker = {"replicas": 2, "template": pod_template("dgl")}
        spec = {
            "dglReplicaSpecs": {"Worker": worker, "Partitioner": {"template": pod_template("dgl")}},
            "network": {"policy": "JobOnly"},
            "runPolicy": {"ttlSecondsAfterFinished": TTL, "backoffLimit": 1},
        }
        place = {"name": "g", "namespace": NAMESPACE}
        kind = {"apiVersion": DGLJob.resource.api_version, "kind": "DGLJob"}
        await self.client.create({**kind, "metadata": place, "spec": spec})

    async def fail(self) -> None:
        listed = [container_status("dgl", exit_code=137, reason="OOMKilled")]
        await self.tell("g-worker-1", {"phase": "Failed", "containerStatuses": listed})

    async def finish(self) -> None:
        self._kubelet.done.add("g")

    async def play(self) -> None:
        await self._kubelet.look()


LIVES: dict[str, type[Life]] = {"TestJob": ToyLife, "DGLJob": DGLLife}
