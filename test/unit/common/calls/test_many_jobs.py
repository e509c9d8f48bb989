# SPDX-License-Identifier: Apache-2.0
"""Thirty jobs of ten pods: each write has its reason, and there is none where nothing changes."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dglop.dgljob import DGLJob, DGLJobKind, KindOptions, Tokens
from dglop.runtime.api import Resource
from dglop.testing.memory import MemoryCluster
from hack.bench.explain import COUNTS, DONE, SEEN, UNCHANGED, StatusWrites
from hack.bench.scaletables import PHASES, Ledger
from hack.bench.workload import dgl_job
from test.envtest.kubelet import Kubelet
from test.unit.common.calls.operator import NAMESPACE, Operator
from test.unit.common.calls.requests import by_resource
from test.wire import Wire

JOBS, PODS = 30, 10
EVENTS = Resource("events.k8s.io", "v1", "Event", "events")
VERBS = {"create": "POST", "patch": "PATCH", "delete": "DELETE", "get": "GET"}


class Load:
    """The jobs, from their submission to their end, and what it cost."""

    def __init__(self, cluster: MemoryCluster) -> None:
        self.cluster = cluster
        self.statuses = StatusWrites()
        self._kubelet = Kubelet(cluster.client, NAMESPACE)
        self._names = [f"job-{number:02d}" for number in range(JOBS)]
        cluster.server.store.subscribe(self._heard)

    def _heard(self, storage: str, change: Any) -> None:
        if storage.startswith("dgljobs") and change.new is not None:
            self.statuses.saw(change.new.wire, is_new=change.old is None)

    async def run(self) -> None:
        for name in self._names:
            await self.cluster.client.create(dgl_job(name, NAMESPACE, PODS))
        await self._until("Training")
        self._kubelet.done |= set(self._names)
        await self._until("Completed")
        await self.cluster.advance(60.0)

    async def _until(self, phase: str) -> None:
        for _ in range(20):
            await self._kubelet.look()
            await self.cluster.advance(1.0)
            jobs = await self.cluster.client.list(DGLJob.resource, NAMESPACE)
            phases = Counter(each.get("status", {}).get("phase") for each in jobs)
            if phases == {phase: JOBS}:
                return
        raise AssertionError(f"not all jobs are {phase}: {phases}")

    async def ledger(self, wire: Wire) -> Ledger:
        sent = by_resource(wire.sent)
        events = await self.cluster.client.list(EVENTS, NAMESPACE)
        verbs: Counter[str] = Counter()
        for call, count in sent.items():
            verbs[VERBS[call.split()[0]]] += count
        return Ledger(
            JOBS,
            PODS,
            {each: sent[f"create {each}"] for each in ("secrets", "services", "pods")},
            Counter(each["reason"] for each in events),
            sent["patch events"],
            self.statuses.reasons,
            self.statuses.most,
            verbs,
            Counter(f"{call.split()[0]} {code}" for call, code in wire.refused),
        )


async def test_each_write_of_many_jobs_has_its_reason_and_there_is_none_where_nothing_changes() -> None:
    async with MemoryCluster() as cluster:
        await cluster.install(DGLJob)
        load, wire = Load(cluster), Wire()
        kind = DGLJobKind(KindOptions(Tokens(b"k" * 32), "operator:test"))
        operator = Operator(cluster, DGLJob, kind, wire)
        await operator.start()
        await load.run()
        explained_exactly(await load.ledger(wire))
        sent = list(wire.sent)
        await operator.resync()
        await cluster.advance(3600.0)
        assert wire.sent == sent
        await operator.stop()
        operator.wire = Wire()
        await operator.start()
        await cluster.advance(3600.0)
        assert [each for each in operator.wire.sent if not each.startswith("GET")] == []
        await operator.stop()


def explained_exactly(found: Ledger) -> None:
    """What the plan says of one job, times the jobs; and the rest is what changed pod by pod."""
    assert found.refused == {}
    assert found.unexplained() == {"PATCH": 0, "POST": 0}
    assert found.created == {"secrets": JOBS, "services": JOBS, "pods": JOBS * PODS}
    reasons = ("DGLJobCreated", "DGLJobRunning", "DGLJobSucceeded")
    assert found.events == dict.fromkeys(reasons, JOBS)
    assert found.status[UNCHANGED] == 0
    steps = {f"phase {each}" for each in PHASES}
    assert {each: found.status[each] for each in steps} == dict.fromkeys(steps, JOBS)
    rest = found.status.keys() - steps
    assert rest <= {SEEN, DONE, COUNTS, "fields trainer", "conditions Dispatched, Running, WorkersReady"}
    assert all(found.most[each] <= PODS for each in rest)
