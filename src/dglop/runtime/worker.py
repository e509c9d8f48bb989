# SPDX-License-Identifier: Apache-2.0
"""Worker: takes a key from the queue, has it reconciled, tells the queue what next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from structlog.contextvars import bound_contextvars

from dglop.runtime.context import Context
from dglop.runtime.outcome import Next, outcome_of_error
from dglop.runtime.usercode import contained

if TYPE_CHECKING:
    from dglop.runtime.api import Resource
    from dglop.runtime.client import Client
    from dglop.runtime.controlloop import ControlLoop
    from dglop.runtime.environment import Environment
    from dglop.runtime.log import Log
    from dglop.runtime.outcome import Outcome
    from dglop.runtime.queue import Item
    from dglop.runtime.reconcile import Request

__all__ = ("Worker",)

K = TypeVar("K")


class Worker(Generic[K]):
    """What the workers of one controller do; they share it, and each calls `run`."""

    def __init__(self, loop: ControlLoop[K], env: Environment) -> None:
        self._loop = loop
        self._env = env
        self._queue = loop.queue
        self._metrics = env.metrics.controller(loop.name, concurrency=loop.concurrency)
        self._clients: dict[str, Client] = {
            name: site.client.counted_for(loop.name) for name, site in env.sites.items()
        }
        self._log = env.log.bind(controller=loop.name)

    async def run(self) -> None:
        """Work until the queue is closed."""
        while (item := await self._queue.get()) is not None:
            try:
                await self._handle(item)
            finally:
                self._queue.done(item.key)

    def _fields(self, key: K) -> dict[str, Any]:
        """What tells in log lines whose reconciliation it is."""
        raise NotImplementedError

    async def _reconcile(self, item: Item[K], log: Log, reconcile_id: str) -> Outcome | None:
        """Reconcile; None puts it off."""
        raise NotImplementedError

    def _context(
        self,
        request: Request,
        *,
        log: Log,
        reconcile_id: str,
        resource: Resource | None = None,
        resource_version: str = "",
    ) -> Context:
        site = self._env.sites[request.cluster]
        return Context(
            request,
            client=self._clients[request.cluster],
            site=site,
            clock=self._env.clock,
            log=log,
            reconcile_id=reconcile_id,
            resource=resource,
            resource_version=resource_version,
        )

    async def _handle(self, item: Item[K]) -> None:
        started = self._env.clock.monotonic()
        self._metrics.started()
        reconcile_id = self._env.new_id()
        fields = {**self._fields(item.key), "reconcileID": reconcile_id}
        log = self._log.bind(**fields)
        outcome: Outcome | None = None
        try:
            with bound_contextvars(controller=self._loop.name, **fields):
                outcome = await self._attempt(item, log, reconcile_id)
        finally:
            # What was put off has no outcome, and is no reconciliation: it is neither timed nor counted.
            self._metrics.finished(self._env.clock.monotonic() - started if outcome else None)
        if outcome is not None:
            self._settle(item, outcome)

    async def _attempt(self, item: Item[K], log: Log, reconcile_id: str) -> Outcome | None:
        if self._loop.needs_leader and not self._env.may_write():
            log.warning("Skipped reconciling, since the lease has run out")
            return None
        try:
            # Beside the reconciler itself there are its kind's validators, its callbacks, the limiter.
            with contained(self._loop.reconcile):
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

    def _settle(self, item: Item[K], outcome: Outcome) -> None:
        priority = item.priority if outcome.priority is None else outcome.priority
        if outcome.is_error:
            self._metrics.error(
                terminal=outcome.is_terminal, panic=outcome.is_bug, timeout=outcome.is_timeout
            )
        else:
            self._metrics.result(outcome.result)
        match outcome.next:
            case Next.FORGET:
                self._queue.forget(item.key)
            case Next.AFTER:
                # Forget before adding: otherwise the delay would count as one more failure.
                self._queue.forget(item.key)
                self._queue.add(item.key, after=outcome.after, priority=priority)
            case Next.BACK_OFF:
                self._queue.add_rate_limited(item.key, priority=priority)
            case Next.GIVE_UP:
                pass
