# SPDX-License-Identifier: Apache-2.0
"""Tells people what happened to an object, by events.k8s.io/v1."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from dglop.errors import (
    AlreadyExistsError,
    ApiConnectionError,
    DglopError,
    NotFoundError,
    ServerError,
    TooManyRequestsError,
)
from dglop.runtime.api import Resource, format_micro_time, resource_of
from dglop.runtime.cache import Cached
from dglop.runtime.eventseries import EventKey, EventSeries, Patch, Post, reference_key
from dglop.runtime.usercode import failure_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock
    from dglop.runtime.log import Log
    from dglop.runtime.metrics import Metrics

__all__ = ("EventRecorder", "EventType", "event_manifest", "object_reference")

EventType = Literal["Normal", "Warning"]
"""Whether an event tells of trouble."""

EVENT = Resource("events.k8s.io", "v1", "Event", "events")
MAX_QUEUE = 1000
MAX_NOTE_BYTES = 1024
MAX_REASON = 128
TRIES = 4
SWEEP_SECONDS = 60.0
POSTERS = 4


def object_reference(obj: Any) -> dict[str, str]:
    """The ObjectReference of a CustomResource, an official model, a wire dict or a cached object."""
    resource = obj.resource if isinstance(obj, Cached) else resource_of(obj)
    if isinstance(obj, dict):
        metadata = obj.get("metadata") or {}
        names = {name: metadata.get(name) for name in ("namespace", "name", "uid", "resourceVersion")}
    else:
        held = obj.meta if isinstance(obj, Cached) else obj.metadata
        names = {
            "namespace": held.namespace,
            "name": held.name,
            "uid": held.uid,
            "resourceVersion": held.resource_version,
        }
    reference = {"apiVersion": resource.api_version, "kind": resource.kind, **names}
    return {name: value for name, value in reference.items() if value}


def event_manifest(
    key: EventKey,
    name: str,
    *,
    regarding: Mapping[str, str],
    related: Mapping[str, str] | None,
    controller: str,
    instance: str,
    now: datetime,
) -> dict[str, Any]:
    """The event as it is created; events about cluster-scoped objects live in `default`."""
    manifest: dict[str, Any] = {
        "apiVersion": EVENT.api_version,
        "kind": EVENT.kind,
        "metadata": {"name": name, "namespace": regarding.get("namespace") or "default"},
        "eventTime": format_micro_time(now),
        "type": key.type,
        "reason": key.reason,
        "action": key.action,
        "note": key.note,
        "regarding": dict(regarding),
        "reportingController": controller,
        "reportingInstance": instance[:128],
    }
    if related:
        manifest["related"] = dict(related)
    return manifest


@dataclass(frozen=True, slots=True)
class _Job:
    key: EventKey
    action: Post | Patch
    namespace: str
    manifest: dict[str, Any] | None
    at: datetime


class EventRecorder:
    """
    Posts events in the background.

    Guarantees: `record` neither waits nor raises; when a thousand events wait, new ones are dropped and
    counted; equal events become a series; each object's flood is cut off. `stop` posts what is waiting, until
    its deadline. What neither the API server nor the way to it explains is told to *on_failure*, since from
    then on some events would wait for ever.
    """

    def __init__(
        self,
        client: Client,
        *,
        controller: str,
        instance: str,
        clock: Clock,
        log: Log,
        new_id: Callable[[], str],
        metrics: Metrics | None = None,
        on_failure: Callable[[BaseException], object] | None = None,
    ) -> None:
        self._client = client
        self._on_failure = on_failure
        self._controller = controller
        self._instance = instance
        self._clock = clock
        self._log = log
        self._new_id = new_id
        self._outcomes = metrics.events_posted if metrics else None
        self._series = EventSeries()
        self._queues: list[deque[_Job]] = [deque() for _ in range(POSTERS)]
        self._wakers = [asyncio.Event() for _ in range(POSTERS)]
        self._tasks: list[asyncio.Task[None]] = []
        self._closing = False

    def record(
        self,
        obj: Any,
        reason: str,
        note: str,
        *,
        type_: EventType = "Normal",
        action: str = "Reconcile",
        related: Any = None,
    ) -> None:
        """Tell that *reason* happened to *obj*; a note over 1024 bytes is cut. Only from the event loop."""
        regarding = object_reference(obj)
        about = object_reference(related) if related is not None else None
        key = EventKey(
            type_,
            reason[:MAX_REASON],
            action[:MAX_REASON],
            _cut(note),
            reference_key(regarding),
            reference_key(about) if about else (),
        )
        decision = self._series.observe(key, self._clock.monotonic(), name=self._name(regarding))
        if decision is None:
            self._count("merged")
            return
        now = self._clock.now()
        manifest = None
        if isinstance(decision, Post):
            manifest = event_manifest(
                key,
                decision.name,
                regarding=regarding,
                related=about,
                controller=self._controller,
                instance=self._instance,
                now=now,
            )
        self._enqueue(_Job(key, decision, regarding.get("namespace") or "default", manifest, now))

    def start(self) -> None:
        """Begin to post; what was recorded before is posted now."""
        self._tasks = [
            asyncio.create_task(self._post_all(index), name=f"events/{index}") for index in range(POSTERS)
        ]
        self._tasks.append(asyncio.create_task(self._sweep(), name="events/sweep"))
        for task in self._tasks:
            task.add_done_callback(self._on_done)

    async def stop(self, *, seconds: float) -> None:
        """Post what is waiting, for at most *seconds*, and end."""
        self._closing = True
        for waker in self._wakers:
            waker.set()
        if not self._tasks:
            return
        *posters, sweeper = self._tasks
        sweeper.cancel()
        _, late = await asyncio.wait(posters, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.wait(self._tasks)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        if (error := failure_of(task, is_ours=self._closing)) is None:
            return
        self._log.error("Events are not posted any more", task=task.get_name(), exc_info=error)
        if self._on_failure is not None:
            self._on_failure(error)

    def _name(self, regarding: Mapping[str, str]) -> str:
        return f"{regarding.get('name', 'unknown')[:200]}.{self._new_id()}"

    def _enqueue(self, job: _Job) -> None:
        # Events about one object stay in order: a patch must not overtake its post.
        index = hash(job.key.regarding) % POSTERS
        if sum(len(queue) for queue in self._queues) >= MAX_QUEUE:
            self._count("dropped")
            self._series.forget(job.key)
            return
        self._queues[index].append(job)
        self._wakers[index].set()

    async def _post_all(self, index: int) -> None:
        queue, waker = self._queues[index], self._wakers[index]
        while True:
            while queue:
                await self._post(queue.popleft())
            if self._closing:
                return
            waker.clear()
            await waker.wait()

    async def _post(self, job: _Job) -> None:
        for attempt in range(TRIES):
            try:
                await self._send(job)
            except AlreadyExistsError:
                break  # an earlier try arrived after all
            except NotFoundError as error:
                # The event expired, or its namespace is gone.
                self._series.forget(job.key)
                self._refused(job, error)
                return
            except (ApiConnectionError, ServerError, TooManyRequestsError) as error:
                if attempt == TRIES - 1 or self._closing:
                    self._refused(job, error)
                    return
                await self._clock.sleep(error.retry_after or 2.0**attempt)
            except DglopError as error:  # also credentials that cannot be read, or an answer that cannot
                self._refused(job, error)
                return
            else:
                break
        self._count("posted")

    async def _send(self, job: _Job) -> None:
        if isinstance(job.action, Patch):
            series = {"count": job.action.count, "lastObservedTime": format_micro_time(job.at)}
            await self._client.patch(EVENT, job.action.name, job.namespace, {"series": series})
        elif job.manifest is not None:
            await self._client.create(job.manifest)

    async def _sweep(self) -> None:
        while True:
            await self._clock.sleep(SWEEP_SECONDS)
            now = self._clock.now()
            for patch in self._series.sweep(self._clock.monotonic()):
                self._enqueue(_Job(patch.key, patch, patch.key.regarding[2] or "default", None, now))

    def _refused(self, job: _Job, error: DglopError) -> None:
        self._count("refused")
        self._log.warning("Could not post event", reason=job.key.reason, note=job.key.note, error=str(error))

    def _count(self, outcome: str) -> None:
        if self._outcomes is not None:
            self._outcomes.labels(outcome).inc()


def _cut(note: str) -> str:
    encoded = note.encode()
    if len(encoded) <= MAX_NOTE_BYTES:
        return note
    return encoded[: MAX_NOTE_BYTES - 3].decode(errors="ignore") + "…"
