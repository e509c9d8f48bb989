# SPDX-License-Identifier: Apache-2.0
"""Jobs for the progress server: looked up in the cache, written by server-side apply."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - msgspec reads the annotation
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from dglop.dgljob.api import DGLJob
from dglop.dgljob.progress import JobRef
from dglop.dgljob.report import Report, Shown, is_outdated, trainer_wire
from dglop.errors import CacheNotSyncedError, ConflictError, NotFoundError

if TYPE_CHECKING:
    from dglop.runtime.cache import Cache
    from dglop.runtime.client import Client

__all__ = ("FIELD_MANAGER", "CachedJobs")

FIELD_MANAGER = "dglop-progress"
_TRIES: Final = 5  # others write the status a few times in a second at most


class _Trainer(msgspec.Struct, frozen=True, rename="camel"):
    attempt: int | None = None
    report_time: datetime | None = None
    last_updated_time: datetime | None = None


class _Status(msgspec.Struct, frozen=True):
    attempt: int = 0
    trainer: _Trainer | None = None


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    uid: str = ""
    resource_version: str = ""


class _JobView(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    status: _Status = _Status()

    @property
    def trainer(self) -> _Trainer:
        return self.status.trainer or _Trainer()

    @property
    def shown(self) -> Shown:
        return Shown(self.status.attempt, self.trainer.attempt, self.trainer.report_time)


class Doors(Protocol):
    """The part of a Manager that is needed; both are there once it runs."""

    @property
    def cache(self) -> Cache: ...

    @property
    def client(self) -> Client: ...


class CachedJobs:
    """The jobs that the Manager's cache holds."""

    def __init__(self, manager: Doors) -> None:
        self._manager = manager

    def find(self, namespace: str, name: str) -> JobRef | None:
        view = self._cached(namespace, name)
        if view is None:
            return None
        return JobRef(namespace, name, view.metadata.uid, view.shown, view.trainer.last_updated_time)

    async def write(self, job: JobRef, report: Report, now: datetime) -> bool:
        """Apply the trainer's part of the status alone, unless it shows a later report: then False.

        Another replica may have written since this one received the report, and the cache may not show it
        yet. So the comparison holds only for the version that was compared: the write names it, and where
        the job has changed since, the API server answers 409 and the job is read from it and compared again.
        What the cache shows is never later than the truth, so a refusal by it needs no second look.
        Raises NotFoundError where the job is gone, also where another one has its name; ConflictError where
        it changed at every try.
        """
        view = self._cached(job.namespace, job.name)
        if view is None or view.metadata.uid != job.uid:
            view = await self._read(job)
        for left in reversed(range(_TRIES)):
            if is_outdated(report, view.shown):
                return False
            try:
                await self._apply(job, report, now, version=view.metadata.resource_version)
            except ConflictError:
                if not left:
                    raise
                view = await self._read(job)
            else:
                break
        return True

    def _cached(self, namespace: str, name: str) -> _JobView | None:
        try:
            found = self._manager.cache.get(DGLJob, name, namespace)
        except CacheNotSyncedError:
            return None
        return None if found is None else found.view(_JobView)

    async def _read(self, job: JobRef) -> _JobView:
        wire = await self._manager.client.get(DGLJob.resource, job.name, job.namespace)
        view = msgspec.convert(wire, _JobView)
        if view.metadata.uid != job.uid:
            raise NotFoundError(404, "NotFound", f"{job.namespace}/{job.name} is another job by now")
        return view

    async def _apply(self, job: JobRef, report: Report, now: datetime, *, version: str) -> None:
        body: dict[str, Any] = {
            "apiVersion": DGLJob.resource.api_version,
            "kind": DGLJob.resource.kind,
            "metadata": {"name": job.name, "namespace": job.namespace, "uid": job.uid},
            "status": {"trainer": trainer_wire(report, now)},
        }
        await self._manager.client.apply(
            body,
            field_manager=FIELD_MANAGER,
            subresource="status",
            version=version,
            resource=DGLJob.resource,
        )
