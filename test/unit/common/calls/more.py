# SPDX-License-Identifier: Apache-2.0
"""Further lives, short ones: what the two long ones do not come to."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, ClassVar

from dglop.common import CleanPodPolicy, ReplicaSpec, RestartPolicy, RunPolicy
from dglop.common.constants import POD
from dglop.common.gang import Volcano
from dglop.common.kueue.names import FLAVOR, LABEL_QUEUE, WORKLOAD, WORKLOAD_PRIORITY
from dglop.mpijob import MPIJob, MPIJobKind, MPIOptions
from dglop.pytorchjob import PyTorchJob, PyTorchJobKind
from dglop.testing.builders import container_status, pod_template
from dglop.testing.toyjob import ToyJob, ToyJobKind, ToyJobSpec
from test.unit.common.calls.kinds import LIVES, TTL, PodsLife, holds
from test.unit.common.calls.operator import NAMESPACE

if TYPE_CHECKING:
    from test.unit.common.calls.life import Life, Step

__all__ = ("ALL_LIVES", "SHORT_LIVES")


def running(job: dict[str, Any] | None) -> bool:
    return holds(job, "Running")


class _ToyLife(PodsLife):
    """A TestJob of two workers."""

    resource = ToyJob
    kind: ClassVar[ToyJobKind] = ToyJobKind()
    labels: ClassVar[dict[str, str]] = {}
    policy: ClassVar[dict[str, Any]] = {}

    async def submit(self) -> None:
        role = ReplicaSpec(replicas=2, restart_policy=RestartPolicy.EXIT_CODE, template=pod_template())
        policy = RunPolicy(
            clean_pod_policy=CleanPodPolicy.RUNNING, ttl_seconds_after_finished=TTL, **self.policy
        )
        job = ToyJob(
            name="g",
            namespace=NAMESPACE,
            spec=ToyJobSpec(replica_specs={"worker": role}, run_policy=policy),
        )
        job.metadata.labels = dict(self.labels)
        await self.client.create(job)


class LostNodeLife(_ToyLife):
    """A worker's node dies, so that its pod is deleted by force; then the other one fails, once too often."""

    policy: ClassVar[dict[str, Any]] = {"backoff_limit": 1, "pod_force_delete_after_seconds": 5}
    ending = "Failed"

    def steps(self) -> list[Step]:
        return [
            (lambda _: True, self.submit),
            (running, self.lose),
            (lambda job: holds(job, "Running", restartCount=1), self.fail),
            *self.last_steps(),
        ]

    async def lose(self) -> None:
        pod = await self.client.get(POD, "g-worker-1", NAMESPACE)
        self.stuck.add(pod["metadata"]["uid"])
        await self.client.delete(POD, "g-worker-1", NAMESPACE, grace_seconds=1)

    async def fail(self) -> None:
        listed = [container_status(exit_code=137, reason="OOMKilled")]
        await self.tell("g-worker-0", {"phase": "Failed", "containerStatuses": listed})


class GroupLife(_ToyLife):
    """Pods in a group of Volcano's, which a suspension deletes."""

    crds = (Volcano.resource,)
    options: ClassVar[dict[str, Any]] = {"gang": Volcano()}

    def steps(self) -> list[Step]:
        return [
            (lambda _: True, self.submit),
            (running, self.suspend),
            (lambda job: holds(job, "Suspended") and not self.count_pods(), self.resume),
            (lambda job: running(job) and not holds(job, "Suspended"), self.finish),
            *self.last_steps(),
        ]

    async def play(self) -> None:
        for group in await self.client.list(Volcano.resource, NAMESPACE):
            if not group.get("status"):
                body = {"status": {"phase": "Inqueue"}}
                await self.client.patch(
                    Volcano.resource, group["metadata"]["name"], NAMESPACE, body, subresource="status"
                )
        await super().play()


class QueueLife(_ToyLife):
    """A job that Kueue lets in, throws out and lets in again."""

    crds = (WORKLOAD, FLAVOR, WORKLOAD_PRIORITY)
    options: ClassVar[dict[str, Any]] = {"kueue": True}
    labels: ClassVar[dict[str, str]] = {LABEL_QUEUE: "q"}

    def steps(self) -> list[Step]:
        return [
            (lambda _: True, self.submit),
            (lambda _: self._workload() is not None, self.admit),
            (running, self.evict),
            (lambda job: holds(job, "Suspended") and self._gave_back(), self.admit),
            (lambda job: running(job) and not holds(job, "Suspended"), self.finish),
            *self.last_steps(),
        ]

    def _workload(self) -> dict[str, Any] | None:
        found = self.cluster.server.store.all(WORKLOAD.group_resource, NAMESPACE)
        return found[0].wire if found else None

    def _gave_back(self) -> bool:
        listed = (self._workload() or {}).get("status", {}).get("conditions", [])
        return {"QuotaReserved": "False"}.items() <= {each["type"]: each["status"] for each in listed}.items()

    async def admit(self) -> None:
        if not await self.client.list(FLAVOR):
            flavor = {"metadata": {"name": "a"}, "spec": {"nodeLabels": {"pool": "a"}}}
            wire = {"apiVersion": FLAVOR.api_version, "kind": FLAVOR.kind, **flavor}
            await self.client.create(wire, resource=FLAVOR)
        given = {"podSetAssignments": [{"name": "worker", "flavors": {"cpu": "a"}}], "clusterQueue": "cq"}
        await self._say(given, QuotaReserved=True, Admitted=True, Evicted=False)

    async def evict(self) -> None:
        held = self._workload() or {}
        await self._say(held["status"]["admission"], Evicted=True)

    async def _say(self, admission: dict[str, Any], **values: bool) -> None:
        """Be Kueue."""
        held = self._workload() or {}
        listed = held.get("status", {}).get("conditions", [])
        kept = [each for each in listed if each["type"] not in values]
        said = {"reason": "Because", "message": "so", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        made = [{"type": type_, "status": str(value), **said} for type_, value in values.items()]
        body = {"status": {"conditions": [*kept, *made], "admission": admission}}
        await self.client.patch(WORKLOAD, held["metadata"]["name"], NAMESPACE, body, subresource="status")


class _KubeflowLife(PodsLife):
    """A job of one leader and one Worker, whose restarts are the kubelet's."""

    leader: ClassVar[str]
    container: ClassVar[str]
    spec: ClassVar[dict[str, Any]]

    def steps(self) -> list[Step]:
        return [
            (lambda _: True, self.submit),
            (lambda job: running(job) and self.count_pods() == 2, self.fail),
            (lambda job: holds(job, "Running", restartCount=1), self.finish),
            *self.last_steps(),
        ]

    async def submit(self) -> None:
        kind = {"apiVersion": self.resource.resource.api_version, "kind": self.resource.resource.kind}
        policy = {"ttlSecondsAfterFinished": TTL, "cleanPodPolicy": "All", "backoffLimit": 1}
        place = {"name": "g", "namespace": NAMESPACE}
        await self.client.create({**kind, "metadata": place, "spec": {**self.spec, "runPolicy": policy}})

    def ends(self, name: str) -> bool:
        return name == f"g-{self.leader.lower()}-0"  # the other's end would be seen or not, as it comes

    async def fail(self) -> None:
        ended = container_status(self.container, exit_code=137, reason="OOMKilled")
        again = container_status(self.container, ready=True, restarts=1, last=ended)
        name = f"g-{self.leader.lower()}-0"
        await self.tell(name, {"phase": "Running", "containerStatuses": [again]})


class PyTorchLife(_KubeflowLife):
    """A Master, whose container is restarted, and a Worker."""

    resource = PyTorchJob
    kind: ClassVar[PyTorchJobKind] = PyTorchJobKind()
    leader, container = "Master", "pytorch"
    _role: ClassVar[dict[str, Any]] = {"replicas": 1, "template": pod_template("pytorch")}
    spec: ClassVar[dict[str, Any]] = {"pytorchReplicaSpecs": {"Master": _role, "Worker": _role}}


class MPILife(_KubeflowLife):
    """A Launcher that waits for its Worker, with a Secret and a ConfigMap."""

    resource = MPIJob
    kind: ClassVar[MPIJobKind] = MPIJobKind(
        MPIOptions(lambda uid: hashlib.sha512(uid.encode()).digest(), "operator:test")
    )
    leader, container = "Launcher", "mpi"
    _role: ClassVar[dict[str, Any]] = {"replicas": 1, "template": pod_template("mpi")}
    spec: ClassVar[dict[str, Any]] = {
        "launcherCreationPolicy": "WaitForWorkersReady",
        "mpiReplicaSpecs": {"Launcher": _role, "Worker": _role},
    }


SHORT_LIVES: dict[str, type[Life]] = {
    "PyTorchJob": PyTorchLife,
    "MPIJob": MPILife,
    "a lost node": LostNodeLife,
}
ALL_LIVES: dict[str, type[Life]] = {
    **LIVES,
    **SHORT_LIVES,
    "in a group": GroupLife,
    "in a queue": QueueLife,
}
