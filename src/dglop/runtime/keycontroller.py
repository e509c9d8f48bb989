# SPDX-License-Identifier: Apache-2.0
"""KeyController: reconciles keys of one's own, which need not be objects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from dglop.runtime.context import Context
from dglop.runtime.controlloop import ControlLoop
from dglop.runtime.invoke import invoke
from dglop.runtime.outcome import outcome_of_result
from dglop.runtime.reconcile import Request, Result
from dglop.runtime.worker import Worker

if TYPE_CHECKING:
    from dglop.runtime.environment import Environment
    from dglop.runtime.log import Log
    from dglop.runtime.outcome import Outcome
    from dglop.runtime.queue import Item

__all__ = ("KeyController", "KeyReconciler")

K = TypeVar("K")

KeyReconciler: TypeAlias = Callable[[K, Context], Awaitable[Result | None] | Result | None]
"""
Brings the world in line with what one key stands for.

The rules of a Reconciler hold, but it gets the key alone: no object is read for it, no status is written
and nothing is told when something is gone. `ctx.request` only names the key; calls on *ctx* must name
their namespace.
"""


class KeyController(ControlLoop[K]):
    """
    Reconciles keys of any hashable type, which its sources' handlers give. Made by `Manager.keys`.

    Queue, outcomes, metrics and time limits are a Controller's.
    """

    def _make_worker(self, env: Environment) -> Worker[K]:
        return _KeyWorker(self, env)


class _KeyWorker(Worker[K]):
    def _fields(self, key: K) -> dict[str, Any]:
        return {"key": str(key)}

    async def _reconcile(self, item: Item[K], log: Log, reconcile_id: str) -> Outcome | None:
        request = Request("", str(item.key))
        ctx = self._context(request, log=log, reconcile_id=reconcile_id)
        loop = self._loop
        log.debug("Reconciling")
        try:
            result = await invoke(loop.reconcile, item.key, ctx, timeout=loop.reconcile_timeout)
        except Exception:
            if ctx.is_saved_anyway:
                ctx.finish()
            raise
        ctx.finish()
        return outcome_of_result(result)
