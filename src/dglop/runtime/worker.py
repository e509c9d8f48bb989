# SPDX-License-Identifier: Apache-2.0
"""Worker: takes a request from the queue, has it reconciled, writes the status, tells the queue what next."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from structlog.contextvars import bound_contextvars

from dglop.errors import NotFoundError, SchemaError, TerminalError
from dglop.runtime.api import CustomResource, Status
from dglop.runtime.context import Context
from dglop.runtime.difference import merge_difference
from dglop.runtime.invoke import invoke
from dglop.runtime.outcome import Next, outcome_of_error, outcome_of_result
from dglop.runtime.ownwrites import OwnWrites
from dglop.runtime.reconcile import Request
from dglop.runtime.statuswrite import write_status

if TYPE_CHECKING:
    from dglop.runtime.cache import Cached
    from dglop.runtime.controller import Controller
    from dglop.runtime.environment import Environment
    from dglop.runtime.log import Log
    from dglop.runtime.outcome import Outcome
    from dglop.runtime.queue import Item
    from dglop.runtime.reconcile import Result

__all__ = ("Worker",)

T = TypeVar("T")

STALE_RECHECK_SECONDS = 1.0


class Worker(Generic[T]):
    """What the workers of one controller do; they share it, and each calls `run`."""

    def __init__(self, controller: Controller[T], env: Environment) -> None:
        self._controller = controller
        self._env = env
        self._queue = controller.queue
        self._metrics = env.metrics.controller(controller.name, concurrency=controller.concurrency)
        self._client = env.client.counted_for(controller.name)
        self._own_writes = OwnWrites()
        resource = controller.resource
        self._log = env.log.bind(
            controller=controller.name, controllerGroup=resource.group, controllerKind=resource.kind
        )

    async def run(self) -> None:
        """Work until the queue is closed."""
        while (item := await self._queue.get()) is not None:
            try:
                await self._handle(item)
            finally:
                self._queue.done(item.key)

    def own_writes_handler(self) -> _OwnWritesHandler:
        """The informer's handler that tells when the cache has caught up with the worker's writes."""
        return _OwnWritesHandler(self._own_writes, self._queue.add)

    async def _handle(self, item: Item[Request]) -> None:
        request = item.key
        started = self._env.clock.monotonic()
        self._metrics.started()
        reconcile_id = self._env.new_id()
        fields = {"namespace": request.namespace, "name": request.name, "reconcileID": reconcile_id}
        log = self._log.bind(**fields)
        outcome: Outcome | None = None
        try:
            with bound_contextvars(controller=self._controller.name, **fields):
                outcome = await self._attempt(item, log, reconcile_id)
        finally:
            # What was put off has no outcome, and is no reconciliation: it is neither timed nor counted.
            self._metrics.finished(self._env.clock.monotonic() - started if outcome else None)
        if outcome is not None:
            self._settle(item, outcome)

    async def _attempt(self, item: Item[Request], log: Log, reconcile_id: str) -> Outcome | None:
        if not self._env.may_write():
            log.warning("Skipped reconciling, since the lease has run out")
            return None
        try:
            return await self._reconcile(item, log, reconcile_id)
        except Exception as error:
            outcome = outcome_of_error(error)
            if outcome.is_bug:
                log.exception("Reconciler failed")
            elif outcome.is_error:
                log.error("Reconciler failed", error=f"{type(error).__name__}: {error}")  # noqa: TRY400
            else:
                log.debug("Reconciled on old data", error=str(error))
            return outcome

    async def _reconcile(self, item: Item[Request], log: Log, reconcile_id: str) -> Outcome | None:
        request, env = item.key, self._env
        cached = env.cache.get(self._controller.kind, request.name, request.namespace)
        if cached is None:
            await self._gone(request)
            return outcome_of_result(None)
        if self._own_writes.is_stale(request, cached.meta.resource_version, env.clock.monotonic()):
            log.debug("Waiting for the cache to show the last write")
            self._queue.add(request, after=STALE_RECHECK_SECONDS, priority=item.priority)
            return None
        ctx = Context(
            request,
            client=self._client,
            cache=env.cache,
            recorder=env.recorder,
            clock=env.clock,
            log=log,
            reconcile_id=reconcile_id,
            resource_version=cached.meta.resource_version,
        )
        log.debug("Reconciling")
        result = await self._call(cached, ctx)
        ctx.finish()
        return outcome_of_result(result)

    async def _call(self, cached: Cached, ctx: Context) -> Result | None:
        controller = self._controller
        try:
            obj: T = cached.to(controller.kind)
        except SchemaError as error:
            return await self._unreadable(cached, error, ctx)
        before = _status_of(obj)
        result = await invoke(controller.reconcile, obj, ctx, timeout=controller.reconcile_timeout)
        if before is not None:
            await self._write_status(cached, before, _status_of(obj) or {}, ctx)
        if ctx.resource_version != cached.meta.resource_version:
            self._own_writes.wrote(ctx.request, ctx.resource_version, self._env.clock.monotonic())
        return result

    async def _unreadable(self, cached: Cached, error: SchemaError, ctx: Context) -> Result | None:
        if self._controller.on_unreadable is not None:
            return await self._controller.on_unreadable(cached, error, ctx)
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
                self._client,
                self._controller.resource,
                ctx.request,
                patch,
                read=cached.to_dict,
                version=ctx.resource_version,
            )
        except NotFoundError:
            ctx.log.info("Object was gone before its status was written")

    async def _gone(self, request: Request) -> None:
        self._own_writes.forget(request)
        if self._controller.on_gone is not None:
            result = self._controller.on_gone(request)
            if inspect.isawaitable(result):
                await result

    def _settle(self, item: Item[Request], outcome: Outcome) -> None:
        request = item.key
        priority = item.priority if outcome.priority is None else outcome.priority
        if outcome.is_error:
            self._metrics.error(
                terminal=outcome.is_terminal, panic=outcome.is_bug, timeout=outcome.is_timeout
            )
        else:
            self._metrics.result(outcome.result)
        match outcome.next:
            case Next.FORGET:
                self._queue.forget(request)
            case Next.AFTER:
                # Forget before adding: otherwise the delay would count as one more failure.
                self._queue.forget(request)
                self._queue.add(request, after=outcome.after, priority=priority)
            case Next.BACK_OFF:
                self._queue.add_rate_limited(request, priority=priority)
            case Next.GIVE_UP:
                pass


class _OwnWritesHandler:
    def __init__(self, own_writes: OwnWrites, add: Any) -> None:
        self._own_writes = own_writes
        self._add = add

    def on_add(self, obj: Cached, is_initial: bool) -> None:  # noqa: ARG002
        self._seen(obj)

    def on_update(self, old: Cached, new: Cached) -> None:  # noqa: ARG002
        self._seen(new)

    def on_delete(self, obj: Cached, final_state_unknown: bool) -> None:  # noqa: ARG002
        self._own_writes.forget(_request_of(obj))

    def _seen(self, obj: Cached) -> None:
        request = _request_of(obj)
        if self._own_writes.seen(request, obj.meta.resource_version):
            self._add(request)


def _request_of(obj: Cached) -> Request:
    return Request(obj.meta.namespace or "", obj.meta.name)


def _status_of(obj: Any) -> dict[str, Any] | None:
    """The wire form of a status of one's own kind; official models' statuses are not ours to write."""
    if not isinstance(obj, CustomResource) or not isinstance(obj.status, Status):
        return None
    return obj.status.to_wire()
