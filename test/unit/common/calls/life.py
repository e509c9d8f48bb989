# SPDX-License-Identifier: Apache-2.0
"""A job's whole life: submitted, run, restarted, suspended, resumed, succeeded, cleaned and deleted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from dglop.common.constants import LABEL_ATTEMPT, LABEL_JOB_NAME, POD
from dglop.runtime.crdinstall import install_crds
from dglop.testing.loosecrd import loose_crd
from test.unit.common.calls.operator import NAMESPACE, Operator

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dglop.common import JobKind
    from dglop.runtime.api import CustomResource, Resource
    from dglop.testing.memory import MemoryCluster
    from test.wire import Wire

__all__ = ("Life", "Outcome")

_TURNS = 60
_LATER = 20  # from then on a turn is half a minute: something waits
_ALWAYS = {
    "events.events.k8s.io",
    "events",
    "namespaces",
    "customresourcedefinitions.apiextensions.k8s.io",
    "resourceflavors.kueue.x-k8s.io",
}


@dataclass(slots=True)
class Outcome:
    """
    What became of a job, without times and what chance gives.

    Attributes
    ----------
        end: the job's status after its end, and the names of what it still had then.
        made: each pod that was created, with its attempt, as often as it was.
        left: what is there after the job was deleted and its garbage collected.
    """

    end: dict[str, Any] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


Step = tuple["Callable[[dict[str, Any] | None], bool]", "Callable[[], Awaitable[Any]]"]


class Life(ABC):
    """
    Who does something to the job: person, kubelet, garbage collector; each looks at the server alone.

    A plain life is one in which nothing goes wrong and nobody suspends the job.
    """

    resource: ClassVar[type[CustomResource[Any, Any]]]
    kind: ClassVar[JobKind[Any]]
    crds: ClassVar[tuple[Resource, ...]] = ()
    """Kinds of others that the job needs; their objects are looked at no further than by what they answer."""
    options: ClassVar[dict[str, Any]] = {}
    """Of the reconciler."""
    ending: ClassVar[str] = "Succeeded"

    def __init__(self, cluster: MemoryCluster, *, is_plain: bool = False) -> None:
        self.cluster = cluster
        self.is_plain = is_plain
        self.client = cluster.client
        self.outcome = Outcome()
        self.stuck: set[str] = set()
        cluster.server.store.subscribe(self._heard)

    async def live(self, wire: Wire) -> Outcome:
        """The whole life under an operator on this wire, and another where that dies."""
        manifests = [loose_crd(each) for each in self.crds]
        await install_crds(self.client, [self.resource], self.cluster.clock, manifests=manifests)
        self.operator = Operator(self.cluster, self.resource, self.kind, wire, **self.options)
        try:
            await self.operator.start()
            for is_due, act in self.steps():
                await self._until(is_due)
                await act()
            await self._until(lambda job: job is None)
        finally:
            await self.operator.stop()
        await self._collect()
        self.outcome.made.sort()
        return self.outcome

    @abstractmethod
    def steps(self) -> list[Step]:
        """When to do what to the job."""

    @abstractmethod
    async def play(self) -> None:
        """What the kubelet does in a turn."""

    async def note_end(self) -> None:
        """Take down the end, once all has been done that follows from it."""
        job = self.job()
        assert job is not None
        pods = await self.client.list(POD, NAMESPACE)
        self.outcome.end = {**_plain(job["status"]), "pods": [each["metadata"]["name"] for each in pods]}

    def job(self) -> dict[str, Any] | None:
        """The job as the server has it; looking at its store takes no request."""
        found = self.cluster.server.store.get(self.resource.resource.group_resource, (NAMESPACE, "g"))
        return found.wire if found else None

    async def change(self, **policy: Any) -> None:
        await self.client.patch(self.resource, "g", NAMESPACE, {"spec": {"runPolicy": policy}})

    async def tell(self, name: str, status: dict[str, Any]) -> None:
        await self.client.patch(POD, name, NAMESPACE, {"status": status}, subresource="status")

    def pods(self) -> list[dict[str, Any]]:
        found = [each.wire for each in self.cluster.server.store.all("pods", NAMESPACE)]
        return [each for each in found if LABEL_JOB_NAME in each["metadata"].get("labels", {})]

    async def reap(self) -> None:
        """Pods get a node, so that their deletion takes a while; what is to go is gone in the next turn.

        Those that are `stuck`, by uid, are on a node that has died.
        """
        for pod in self.pods():
            name = pod["metadata"]["name"]
            if "deletionTimestamp" in pod["metadata"]:
                if pod["metadata"]["uid"] not in self.stuck:
                    await self.client.delete(POD, name, NAMESPACE, grace_seconds=0)
            elif "nodeName" not in pod["spec"]:
                body = b'{"apiVersion":"v1","kind":"Binding","target":{"kind":"Node","name":"n"}}'
                await self.client.raw(
                    "POST", f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/binding", body=body
                )

    async def turn(self, seconds: float) -> None:
        """Everybody has a turn, and time passes."""
        await self.reap()
        await self.play()
        await self.cluster.advance(seconds)
        await self.operator.revive()

    async def _until(self, is_due: Callable[[dict[str, Any] | None], bool]) -> None:
        for turn in range(_TURNS):
            await self.turn(1.0 if turn < _LATER else 30.0)
            if is_due(self.job()):
                return
        raise AssertionError(f"it stands still at {self.job()} with {self.pods()}")

    def _heard(self, storage: str, change: Any) -> None:
        if storage == "pods" and change.old is None:
            metadata = change.new.wire["metadata"]
            self.outcome.made.append(f"{metadata['name']}/{metadata['labels'][LABEL_ATTEMPT]}")

    async def _collect(self) -> None:
        """Be the garbage collector, and see what it leaves."""
        store = self.cluster.server.store
        uids = {each.wire["metadata"]["uid"] for _, _, each in store.everything()}
        for storage, key, each in list(store.everything()):
            owners = each.wire["metadata"].get("ownerReferences") or []
            if owners and not any(owner["uid"] in uids for owner in owners):
                store.remove(storage, key)
        kept = [(storage, key) for storage, key, _ in store.everything() if storage not in _ALWAYS]
        self.outcome.left = sorted(f"{storage} {name}" for storage, (_, name) in kept)


def _plain(status: dict[str, Any]) -> dict[str, Any]:
    """The status without its times."""
    conditions = {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}
    found = {key: value for key, value in status.items() if not key.endswith("Time")}
    failure = {key: value for key, value in status.get("lastFailure", {}).items() if key != "time"}
    for part in ("partition", "trainer"):
        kept = status.get(part, {}).items()
        found[part] = {key: value for key, value in kept if not key.endswith(("Time", "UID"))}
    return {**found, "conditions": conditions, "lastFailure": failure}
