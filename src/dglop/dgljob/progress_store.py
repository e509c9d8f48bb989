# SPDX-License-Identifier: Apache-2.0
"""Jobs for the progress server: looked up in the cache, written by server-side apply."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - msgspec reads the annotation
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from dglop.dgljob.api import DGLJob
from dglop.dgljob.progress import JobRef
from dglop.errors import CacheNotSyncedError

if TYPE_CHECKING:
    from dglop.runtime.cache import Cache
    from dglop.runtime.client import Client

__all__ = ("FIELD_MANAGER", "CachedJobs")

FIELD_MANAGER = "dglop-progress"


class _Trainer(msgspec.Struct, frozen=True, rename="camel"):
    last_updated_time: datetime | None = None


class _Status(msgspec.Struct, frozen=True):
    attempt: int = 0
    trainer: _Trainer | None = None


class _JobView(msgspec.Struct, frozen=True):
    status: _Status = _Status()


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
        try:
            found = self._manager.cache.get(DGLJob, name, namespace)
        except CacheNotSyncedError:
            return None
        if found is None:
            return None
        status = found.view(_JobView).status
        written = status.trainer.last_updated_time if status.trainer else None
        return JobRef(namespace, name, found.uid, status.attempt, written)

    async def write(self, job: JobRef, trainer: dict[str, Any]) -> None:
        """Apply the trainer's part of the status alone; the uid keeps it from a later job of that name."""
        body = {
            "apiVersion": DGLJob.resource.api_version,
            "kind": DGLJob.resource.kind,
            "metadata": {"name": job.name, "namespace": job.namespace, "uid": job.uid},
            "status": {"trainer": trainer},
        }
        await self._manager.client.apply(body, field_manager=FIELD_MANAGER, subresource="status")
