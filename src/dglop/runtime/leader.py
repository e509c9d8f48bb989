# SPDX-License-Identifier: Apache-2.0
"""Leader election in a thread of its own, so that a busy event loop does not cost the lease."""

from __future__ import annotations

import asyncio
import os
import random
import threading
from typing import TYPE_CHECKING, Any

from dglop.errors import DglopError, NotFoundError
from dglop.runtime.api import Resource
from dglop.runtime.election import Election, LeaseRecord

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock
    from dglop.runtime.election import LeaseStore, LeaseTimes
    from dglop.runtime.log import Log
    from dglop.runtime.metricparts import LeaderMetrics

__all__ = ("KubeLeaseStore", "LeaderElector", "exit_now")

OVERDUE_SECONDS = 20.0
MARGIN_SECONDS = 0.5
LEASE = Resource("coordination.k8s.io", "v1", "Lease", "leases")


def exit_now(code: int) -> None:
    """End the process without asking anyone: the last resort of a leader whose lease runs out."""
    os._exit(code)


class LeaderElector:
    """
    Runs an Election in its own thread with its own loop and client.

    Guarantees: `elected` is set when this process leads; `lost` is set, with `reason`, when it no longer
    does. From then on the process has until just before the lease runs out to call `stop`; if it does not,
    because its event loop is stuck, *hard_exit* ends it. The lease is released only by `stop(release=True)`.
    """

    def __init__(
        self,
        open_store: Callable[[], AbstractAsyncContextManager[LeaseStore]],
        identity: str,
        times: LeaseTimes,
        *,
        clock: Clock,
        log: Log,
        metrics: LeaderMetrics | None = None,
        hard_exit: Callable[[int], None] = exit_now,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._open_store = open_store
        self.identity = identity
        self._times = times
        self._clock = clock
        self._log = log
        self._metrics = metrics
        self._hard_exit = hard_exit
        self._jitter = jitter
        self.elected: asyncio.Event = asyncio.Event()
        self.lost: asyncio.Event = asyncio.Event()
        self.reason: str = ""
        self._election: Election | None = None
        self._main: asyncio.AbstractEventLoop | None = None
        self._own: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._started = threading.Event()
        self._release = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to stand for election; call it in the loop that awaits `elected` and `lost`."""
        self._main = asyncio.get_running_loop()
        if self._metrics:
            self._metrics.leading(False)
        self._thread = threading.Thread(target=self._run, name="leader-elector", daemon=True)
        self._thread.start()

    async def stop(self, *, release: bool = True) -> None:
        """End the thread; *release* the lease first, which is allowed only when all work has ended."""
        if self._thread is None:
            return
        await asyncio.to_thread(self._started.wait)
        self._release = release
        if self._own and self._stop and self._thread.is_alive():
            self._call(self._own, self._stop.set)
        await asyncio.to_thread(self._thread.join)

    def holds(self) -> bool:
        """Whether nobody else can lead at this moment; may be called from any thread."""
        until = self._election.valid_until() if self._election else None
        return until is not None and self._clock.monotonic() < until

    def check(self) -> None:
        """A health check: raises DglopError when a leader's lease is long overdue and it still runs."""
        until = self._election.valid_until() if self._election else None
        if until is not None and self._clock.monotonic() > until + OVERDUE_SECONDS:
            raise DglopError("the lease is long overdue, yet this process still takes itself for the leader")

    def _run(self) -> None:
        try:
            asyncio.run(self._elect())
        except (DglopError, OSError) as error:
            self._lose(f"leader election cannot work: {error}")
        except Exception as error:  # noqa: BLE001 - it ends the Manager; a standby would wait for ever
            self._lose(f"leader election cannot work: {error!r}")
        finally:
            self._started.set()

    async def _elect(self) -> None:
        self._own, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._started.set()
        async with self._open_store() as store:
            election = self._election = Election(
                store,
                self.identity,
                self._times,
                clock=self._clock,
                random=self._jitter,
                metrics=self._metrics,
                log=self._log,
            )
            work = asyncio.create_task(self._campaign(election), name="election")
            stop = asyncio.create_task(self._stop.wait(), name="election-stop")
            await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
            was_leading = election.renewed_at is not None
            if work.done() and (error := work.exception()) is not None:
                # Nobody campaigns any more: a standby that looks healthy would wait for ever.
                self._lose(f"leader election cannot work: {error!r}")
            for task in (work, stop):
                task.cancel()
            await asyncio.gather(work, stop, return_exceptions=True)
            if self._stop.is_set() and self._release and was_leading and await election.release():
                self._log.info("Released the lease")

    async def _campaign(self, election: Election) -> None:
        await election.acquire()
        self._log.info("Became the leader", identity=self.identity)
        self._call(self._main, self.elected.set)
        loss = await election.keep()
        self._lose(loss.reason)
        await self._clock.sleep(max(loss.valid_until - MARGIN_SECONDS - self._clock.monotonic(), 0.0))
        # `stop` would have cancelled this: the event loop is stuck, or work does not end.
        self._log.critical("Exited at once, since work went on while another may lead")
        self._hard_exit(1)

    def _lose(self, reason: str) -> None:
        self.reason = reason
        self._log.error("Lost the leadership", reason=reason)
        self._call(self._main, self.lost.set)

    def _call(self, loop: asyncio.AbstractEventLoop | None, function: Callable[[], Any]) -> None:
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(function)


class KubeLeaseStore:
    """The lease as a coordination.k8s.io/v1 object, written by merge patches that name its version."""

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name

    async def read(self) -> tuple[LeaseRecord, str] | None:
        try:
            lease = await self._client.get(LEASE, self._name, self._namespace)
        except NotFoundError:
            return None
        return _record(lease.get("spec") or {}), lease["metadata"]["resourceVersion"]

    async def create(self, record: LeaseRecord) -> str:
        metadata = {"name": self._name, "namespace": self._namespace}
        body = {
            "apiVersion": LEASE.api_version,
            "kind": LEASE.kind,
            "metadata": metadata,
            "spec": _spec(record),
        }
        lease: dict[str, Any] = await self._client.create(body)
        return str(lease["metadata"]["resourceVersion"])

    async def update(self, record: LeaseRecord, version: str) -> str:
        body = {"metadata": {"resourceVersion": version}, "spec": _spec(record)}
        lease = await self._client.patch(LEASE, self._name, self._namespace, body)
        return str(lease["metadata"]["resourceVersion"])


def _record(spec: dict[str, Any]) -> LeaseRecord:
    return LeaseRecord(
        holder=spec.get("holderIdentity") or "",
        duration=spec.get("leaseDurationSeconds") or 1,
        acquired=spec.get("acquireTime") or "",
        renewed=spec.get("renewTime") or "",
        transitions=spec.get("leaseTransitions") or 0,
    )


def _spec(record: LeaseRecord) -> dict[str, Any]:
    return {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": record.duration,
        "acquireTime": record.acquired or None,
        "renewTime": record.renewed,
        "leaseTransitions": record.transitions,
    }
