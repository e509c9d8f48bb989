# SPDX-License-Identifier: Apache-2.0
"""Random courses of a job under the real controller, its caches held up, its calls failing.

All of the code runs against the API server's semantics; only the socket is left out. A cache is stale because
its watch is held. The invariants are looked at in every version that the server stores. `make calls` runs a
thousand courses, the same ones each time; otherwise it is the first of them.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dglop.common.constants import LABEL_JOB_NAME, LABEL_REPLICA_INDEX, LABEL_REPLICA_TYPE, POD, SERVICE
from dglop.errors import AlreadyExistsError, NotFoundError
from dglop.testing.builders import container_status, pod_template
from dglop.testing.memory import Effect, MemoryCluster
from dglop.testing.toyjob import ToyJob, ToyJobKind
from test.properties import SECONDS, thousand
from test.unit.common.calls.coursejobs import LIMIT, OTHER, WORKERS, job, place_service
from test.unit.common.calls.extent import IS_WHOLE
from test.unit.common.calls.operator import AGENT, NAMESPACE, Operator
from test.unit.common.calls.watchedwire import WatchedWire, restarts_of
from test.unit.common.calls.watchman import Watchman

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from test.wire import Wire

pytestmark = pytest.mark.timeout(SECONDS)
INDEXES = st.integers(0, WORKERS - 1)
KINDS = st.sampled_from(["pods", "testjobs.example.dev", "services"])
RUNS: dict[str, Any] = {"phase": "Running", "containerStatuses": [container_status(ready=True)]}
EFFECTS: list[int | Effect] = [409, 429, 500, Effect.LOSE, Effect.RESET, Effect.HANG]


class Course(RuleBasedStateMachine):
    """One course of one job; each rule is something that may happen at any moment."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.open = AsyncExitStack()
        self.is_suspended = False

    def do(self, work: Coroutine[Any, Any, Any]) -> None:
        """Something happens, and all that follows without time, as far as the caches hear of it."""

        async def whole() -> None:
            await work
            await self.cluster.settle()

        self.runner.run(whole())

    @initialize(
        gang=st.booleans(),
        policy=st.sampled_from(["All", "Running", "None"]),
        restart=st.sampled_from(["ExitCode", "OnFailure"]),
        blind=st.booleans(),
    )
    def begin(self, blind: bool, **fields: Any) -> None:
        self.do(self._begin(job(**fields), blind=blind))

    async def _begin(self, submitted: ToyJob, *, blind: bool) -> None:
        self.cluster = await self.open.enter_async_context(MemoryCluster())
        self.client = self.cluster.client
        await self.cluster.install(ToyJob)
        self.watchman = Watchman(self.cluster.server, LIMIT)
        await self._stranger("other-worker-0", "0")
        await place_service(self.client, self.watchman, "other")
        self.operator = Operator(self.cluster, ToyJob, ToyJobKind(), self._wire())
        await self.operator.start()
        await self.cluster.settle()
        if blind:
            self.hold_or_release("pods", True)
        await self.client.create(submitted)

    def _wire(self) -> Wire:
        return WatchedWire(self.cluster, self.watchman)

    async def _stranger(self, name: str, index: str) -> None:
        """A pod that has all the labels of the job's, and another owner."""
        labels = {LABEL_JOB_NAME: "g", LABEL_REPLICA_TYPE: "worker", LABEL_REPLICA_INDEX: index}
        metadata: dict[str, Any] = {"name": name, "namespace": NAMESPACE, "labels": labels}
        metadata |= {"ownerReferences": [OTHER]}
        pod = {"apiVersion": "v1", "kind": "Pod", **pod_template(), "metadata": metadata}
        with suppress(AlreadyExistsError):
            await self.client.create(pod)
            self.watchman.foreign.add(name)

    # --- time and the cache ------------------------------------------------------------------------------
    @rule(seconds=st.sampled_from([0.0, 1.0, 6.0, 31.0, 400.0]))
    def pass_time(self, seconds: float) -> None:
        self.do(self.cluster.advance(seconds))

    @rule(kind=KINDS, held=st.booleans())
    def hold_or_release(self, kind: str, held: bool) -> None:
        for watcher in self.cluster.server.watchers:
            if watcher.storage == kind:
                watcher.hold() if held else watcher.release()

    # --- the operator ------------------------------------------------------------------------------------
    @rule(calls=st.integers(0, 3), answer_lost=st.booleans())
    def kill_operator(self, calls: int, answer_lost: bool) -> None:
        self.do(self._kill(calls, answer_lost=answer_lost))

    async def _kill(self, calls: int, *, answer_lost: bool) -> None:
        wire = self.operator.wire
        wire.lasts, wire.answer_lost = len(wire.sent) + calls, answer_lost
        await self.cluster.advance(1.0)
        wire.lasts = min(wire.lasts, len(wire.sent) - 1) if wire.sent else -1
        await self.operator.stop()
        self.operator = Operator(self.cluster, ToyJob, ToyJobKind(), self._wire())
        await self.operator.start()

    @rule(
        effect=st.sampled_from(EFFECTS),
        skip=st.integers(0, 2),
        method=st.sampled_from(["POST", "PATCH", "DELETE"]),
    )
    def break_call(self, effect: int | Effect, skip: int, method: str) -> None:
        self.cluster.server.faults.add(effect, method, skip=skip, agent=AGENT)

    def _own(self, index: int) -> dict[str, Any] | None:
        found = self.cluster.server.store.get("pods", (NAMESPACE, f"g-worker-{index}"))
        return None if found is None or f"g-worker-{index}" in self.watchman.foreign else found.wire

    async def _tell(self, index: int, status: dict[str, Any]) -> None:
        pod = self._own(index)
        if pod is None or pod["status"].get("phase") in ("Succeeded", "Failed"):
            return
        with suppress(NotFoundError):  # deleted meanwhile
            await self.client.patch(
                POD, f"g-worker-{index}", NAMESPACE, {"status": status}, subresource="status"
            )

    async def _delete(self, name: str, grace: int | None = None) -> None:
        with suppress(NotFoundError):
            await self.client.delete(POD, name, NAMESPACE, grace_seconds=grace)

    @rule()
    def run_pods(self) -> None:
        for index in range(WORKERS):
            pod = self._own(index)
            if pod and pod["status"].get("phase") != "Running":
                self.do(self._tell(index, RUNS))

    @rule(index=INDEXES, code=st.sampled_from([0, 1, 137, 143]))
    def end_pod(self, index: int, code: int) -> None:
        listed = [container_status(exit_code=code, finished=self.cluster.clock.now())]
        status = {"phase": "Failed" if code else "Succeeded", "containerStatuses": listed}
        self.do(self._tell(index, status))

    @rule(index=INDEXES)
    def restart_container(self, index: int) -> None:
        pod = self._own(index)
        if pod and pod["spec"]["restartPolicy"] == "OnFailure":
            count = restarts_of(pod) + 1
            listed = [container_status(ready=True, restarts=count)]
            self.do(self._tell(index, {"phase": "Running", "containerStatuses": listed}))

    @rule(index=INDEXES)
    def evict_pod(self, index: int) -> None:
        self.do(self._tell(index, {"phase": "Failed", "reason": "Evicted", "containerStatuses": None}))

    async def _bind(self, path: str, body: bytes) -> None:
        with suppress(NotFoundError):
            await self.client.raw("POST", path, body=body)

    @rule()
    def bind_pods(self) -> None:
        """From now on their deletion takes its time."""
        body = b'{"apiVersion":"v1","kind":"Binding","target":{"kind":"Node","name":"n"}}'
        for index in range(WORKERS):
            pod = self._own(index)
            if pod and "nodeName" not in pod["spec"]:
                path = f"/api/v1/namespaces/{NAMESPACE}/pods/g-worker-{index}/binding"
                self.do(self._bind(path, body))

    @rule()
    def end_terminating(self) -> None:
        for index in range(WORKERS):
            pod = self._own(index)
            if pod and "deletionTimestamp" in pod["metadata"]:
                self.do(self._delete(f"g-worker-{index}", 0))

    # --- people ------------------------------------------------------------------------------------------
    @rule(index=INDEXES)
    def delete_pod(self, index: int) -> None:
        pod = self._own(index)
        if pod:
            self.watchman.blows.add(pod["metadata"]["uid"])
            self.do(self._delete(f"g-worker-{index}"))

    # --- what chance would seldom put together -----------------------------------------------------------
    @rule(index=INDEXES)
    def replace_unseen(self, index: int) -> None:
        """Behind the cache's back a pod goes, and another's comes under its name."""
        pod = self._own(index)
        if pod:
            self.hold_or_release("pods", True)
            self.watchman.blows.add(pod["metadata"]["uid"])
            self.do(self._delete(f"g-worker-{index}", 0))
            self.place_stranger(index)

    @rule(index=INDEXES)
    def evict_restarted(self, index: int) -> None:
        """A pod whose container was restarted is evicted, and no longer says how often that was."""
        self.restart_container(index)
        self.evict_pod(index)

    @rule()
    def suspend_or_resume(self) -> None:
        self.is_suspended = not self.is_suspended
        change = {"spec": {"runPolicy": {"suspend": self.is_suspended}}}
        self.do(self.client.patch(ToyJob, "g", NAMESPACE, change))

    @rule(index=INDEXES)
    def place_stranger(self, index: int) -> None:
        self.do(self._stranger(f"g-worker-{index}", str(index)))

    @rule(index=INDEXES)
    def place_strangers_service(self, index: int) -> None:
        self.do(place_service(self.client, self.watchman, f"g-worker-{index}"))

    @rule()
    def remove_strangers_services(self) -> None:
        self.do(self._remove_services())

    async def _remove_services(self) -> None:
        for name in sorted(self.watchman.foreign_services - {"other"}):
            self.watchman.foreign_services.discard(name)
            await self.client.delete(SERVICE, name, NAMESPACE)

    @precondition(lambda self: len(self.watchman.foreign) > 1)
    @rule()
    def remove_stranger(self) -> None:
        name = max(self.watchman.foreign - {"other-worker-0"})
        self.watchman.foreign.discard(name)
        self.do(self.client.delete(POD, name, NAMESPACE, grace_seconds=0))

    # --- what holds --------------------------------------------------------------------------------------
    @invariant()
    def nothing_is_broken(self) -> None:
        if hasattr(self, "watchman"):
            assert self.watchman.broken == []

    def teardown(self) -> None:
        try:
            if hasattr(self, "operator"):
                self.do(self._come_to_rest())
                assert self.watchman.broken == []
        finally:
            if hasattr(self, "operator"):
                self.runner.run(self.operator.stop())
            self.runner.run(self.open.aclose())
            self.runner.close()

    async def _come_to_rest(self) -> None:
        """Left alone on a healthy cluster the job runs whole, or has ended, or has no pod while suspended."""
        self.cluster.server.faults.clear()
        for watcher in self.cluster.server.watchers:
            watcher.release()
        for index in range(WORKERS):
            name = f"g-worker-{index}"
            if name in self.watchman.foreign:
                self.watchman.foreign.discard(name)
                await self.client.delete(POD, name, NAMESPACE, grace_seconds=0)
        await self._remove_services()
        for _ in range(20):
            await self.cluster.advance(31.0)
            for index in range(WORKERS):
                pod = self._own(index)
                if pod and "deletionTimestamp" in pod["metadata"]:
                    await self._delete(f"g-worker-{index}", 0)
                if pod and pod["status"].get("phase") != "Running":
                    await self._tell(index, RUNS)
            await self.cluster.settle()
            if await self._is_at_rest():
                return
        raise AssertionError(f"it does not come to rest: {await self.client.get(ToyJob, 'g', NAMESPACE)}")

    async def _is_at_rest(self) -> bool:
        status = (await self.client.get(ToyJob, "g", NAMESPACE)).status
        if status.completion_time:
            return True
        if self.is_suspended:
            return status.is_true("Suspended") and not any(self._own(index) for index in range(WORKERS))
        return status.is_true("Running")


TestCourse = Course.TestCase
TestCourse.settings = settings(thousand(steps=20), max_examples=1000 if IS_WHOLE else 150)
