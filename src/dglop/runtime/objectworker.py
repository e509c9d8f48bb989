# SPDX-License-Identifier: Apache-2.0
"""ObjectWorker: reads the object of a request, has it reconciled and writes its status."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from dglop.errors import ApiError, NotFoundError, SchemaError, TerminalError
from dglop.runtime.api import CustomResource, Status
from dglop.runtime.difference import merge_difference
from dglop.runtime.invoke import checked_result, invoke
from dglop.runtime.outcome import outcome_of_result
from dglop.runtime.ownwrites import OtherWrites, OwnWrites
from dglop.runtime.reconcile import Request
from dglop.runtime.statuswrite import write_status
from dglop.runtime.usercode import contained
from dglop.runtime.worker import Worker

if TYPE_CHECKING:
    from dglop.runtime.cache import Cached
    from dglop.runtime.context import Context
    from dglop.runtime.controller import Controller
    from dglop.runtime.environment import Environment
    from dglop.runtime.log import Log
    from dglop.runtime.outcome import Outcome
    from dglop.runtime.queue import Item
    from dglop.runtime.reconcile import Result

__all__ = ("ObjectWorker",)

T = TypeVar("T")

STALE_RECHECK_SECONDS = 1.0


class ObjectWorker(Worker[Request], Generic[T]):
    """The worker of a Controller."""

    def __init__(self, controller: Controller[T], env: Environment) -> None:
        super().__init__(controller, env)
        self._controller = controller
        self._own_writes = OwnWrites()
        self._other_writes = OtherWrites()
        resource = controller.resource
        self._log = self._log.bind(controllerGroup=resource.group, controllerKind=resource.kind)

    def own_writes_handler(self, cluster: str) -> _OwnWritesHandler:
        """The informer's handler that tells when a cluster's cache has caught up with the worker's writes."""
        return _OwnWritesHandler(self._own_writes, self._queue.add, cluster)

    def _fields(self, key: Request) -> dict[str, Any]:
        fields = {"namespace": key.namespace, "name": key.name}
        return {**fields, "cluster": key.cluster} if key.cluster else fields

    async def _reconcile(self, item: Item[Request], log: Log, reconcile_id: str) -> Outcome | None:
        request, env = item.key, self._env
        cache = env.sites[request.cluster].cache
        cached = cache.get(self._controller.kind, request.name, request.namespace)
        if cached is None:
            await self._gone(request)
            return outcome_of_result(None)
        if self._own_writes.is_stale(request, cached.meta.resource_version, env.clock.monotonic()):
            log.debug("Waiting for the cache to show the last write")
            self._queue.add(request, after=STALE_RECHECK_SECONDS, priority=item.priority)
            return None
        if self._other_writes.is_behind(request, cache, env.clock.monotonic()):
            log.debug("Waiting for the cache to show what was written beside it")
            self._queue.add(request, after=STALE_RECHECK_SECONDS, priority=item.priority)
            return None
        version = cached.meta.resource_version
        ctx = self._context(
            request,
            log=log,
            reconcile_id=reconcile_id,
            resource=self._controller.resource,
            resource_version=version,
        )
        log.debug("Reconciling")
        try:
            result = await self._call(cached, ctx)
        finally:
            if self._controller.sees_own_writes:
                self._other_writes.wrote(request, ctx.writes, env.clock.monotonic())
        ctx.finish()
        return outcome_of_result(result)

    async def _call(self, cached: Cached, ctx: Context) -> Result | None:
        controller = self._controller
        try:
            obj: T = cached.to(controller.kind)
        except SchemaError as error:
            return await self._unreadable(cached, error, ctx)
        before = _status_of(obj)
        try:
            result = await invoke(controller.reconcile, obj, ctx, timeout=controller.reconcile_timeout)
        except Exception:
            if ctx.is_saved_anyway:
                await self._save_anyway(cached, before, obj, ctx)
            raise
        await self._save(cached, before, obj, ctx)
        return ctx.later if result is None else result

    async def _save(self, cached: Cached, before: dict[str, Any] | None, obj: T, ctx: Context) -> None:
        if before is not None:
            await self._write_status(cached, before, _status_of(obj) or {}, ctx)
        if ctx.resource_version != cached.meta.resource_version:
            self._own_writes.wrote(ctx.request, ctx.resource_version, self._env.clock.monotonic())

    async def _save_anyway(self, cached: Cached, before: dict[str, Any] | None, obj: T, ctx: Context) -> None:
        try:
            await self._save(cached, before, obj, ctx)
        except ApiError as error:
            # The error that is on its way counts; the next try has the same to say.
            ctx.log.warning("Could not write the status of what failed", error=str(error))
        else:
            ctx.finish()

    async def _unreadable(self, cached: Cached, error: SchemaError, ctx: Context) -> Result | None:
        if self._controller.on_unreadable is not None:
            with contained(self._controller.on_unreadable):
                answer = await self._controller.on_unreadable(cached, error, ctx)
            return checked_result(self._controller.on_unreadable, answer)
        ctx.event(cached, "Unreadable", str(error), type="Warning", now=True)
        raise TerminalError(str(error)) from error

    async def _write_status(
        self, cached: Cached, before: dict[str, Any], after: dict[str, Any], ctx: Context
    ) -> None:
        patch = merge_difference(before, after)
        if not patch:
            return
        try:
            ctx.resource_version = await write_status(
                self._clients[ctx.request.cluster],
                self._controller.resource,
                ctx.request,
                patch,
                read=cached.to_dict,
                version=ctx.resource_version,
                own=ctx.own_changes,
            )
        except NotFoundError:
            ctx.log.info("Object was gone before its status was written")

    async def _gone(self, request: Request) -> None:
        self._own_writes.forget(request)
        self._other_writes.forget(request)
        if self._controller.on_gone is not None:
            with contained(self._controller.on_gone):
                result = self._controller.on_gone(request)
                if inspect.isawaitable(result):
                    await result


class _OwnWritesHandler:
    def __init__(self, own_writes: OwnWrites, add: Any, cluster: str) -> None:
        self._own_writes = own_writes
        self._add = add
        self._cluster = cluster

    def on_add(self, obj: Cached, is_initial: bool) -> None:  # noqa: ARG002
        self._seen(obj)

    def on_update(self, old: Cached, new: Cached) -> None:  # noqa: ARG002
        self._seen(new)

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None:  # noqa: ARG002
        self._own_writes.forget(self._request_of(obj))

    def _seen(self, obj: Cached) -> None:
        request = self._request_of(obj)
        if self._own_writes.seen(request, obj.meta.resource_version):
            self._add(request)

    def _request_of(self, obj: Cached) -> Request:
        return Request(obj.meta.namespace or "", obj.meta.name, self._cluster)


def _status_of(obj: Any) -> dict[str, Any] | None:
    """The wire form of a status of one's own kind; official models' statuses are not ours to write."""
    if not isinstance(obj, CustomResource) or not isinstance(obj.status, Status):
        return None
    return obj.status.to_wire()
