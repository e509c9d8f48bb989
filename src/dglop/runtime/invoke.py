# SPDX-License-Identifier: Apache-2.0
"""Calls a reconciler, be it a coroutine function or a plain one, with a limit on its time."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from dglop.runtime.context import Context
from dglop.runtime.outcome import ReconcileTimeoutError
from dglop.runtime.reconcile import Result
from dglop.runtime.usercode import call_here, contained, is_coroutine_callable, name_of

if TYPE_CHECKING:
    from datetime import timedelta

__all__ = ("Reconciler", "checked_result", "invoke")

T = TypeVar("T")

Reconciler: TypeAlias = Callable[[T, Context], Awaitable[Result | None] | Result | None]
"""
Brings the world in line with one object.

It gets the object as the cache has it, never what happened to it. It changes `obj.status` in memory, which
is written once after it returned; changes of spec and metadata are not written. Returning None or an empty
Result means done until something changes; raising means trying again after a back-off, TerminalError not
trying again. It may be called at any time, so it must come to the same state from wherever it was stopped.

It may be an object with more methods: `setup(controller)` is called when the controller is made,
`apply_settings(controller, settings)` when flags have been read and rules are asked for or the Manager
starts (so perhaps more than once),
`gone(request)` when an object is no more, and `unreadable(cached, error, ctx)`, a coroutine function, is
awaited for an object that does not fit its kind.
"""


async def invoke(
    reconcile: Reconciler[T],
    obj: T,
    ctx: Context,
    *,
    timeout: timedelta | None,  # noqa: ASYNC109
) -> Result | None:
    """
    Call *reconcile*; a plain function runs in a thread, so that it cannot stop the event loop.

    Raises ReconcileTimeoutError when *timeout* is over: a coroutine is cancelled then; a thread cannot be,
    and is waited for, so that the same object is never in two hands. Raises TypeError for an answer that is
    none, and UserCodeError for what is no ordinary error.
    """
    seconds = timeout.total_seconds() if timeout else None
    try:
        async with asyncio.timeout(seconds) as scope:
            with contained(reconcile):
                answer = await _answer(reconcile, obj, ctx)
            return checked_result(reconcile, answer)
    except TimeoutError as error:
        if scope.expired():
            message = f"reconciling {ctx.request} took longer than {seconds:g} s"
            raise ReconcileTimeoutError(message) from error
        raise


def checked_result(function: object, answer: object) -> Result | None:
    """What *function* answered. Raises TypeError if it is neither None nor a Result."""
    if answer is None or isinstance(answer, Result):
        return answer
    word = "a generator" if _is_generator(answer) else f"a {type(answer).__name__}"
    raise TypeError(f"{name_of(function)} returned {word}; return None or Result(...)")


async def _answer(reconcile: Any, obj: Any, ctx: Context) -> Any:
    if is_coroutine_callable(reconcile):
        return await reconcile(obj, ctx)
    answer = await _thread(reconcile, obj, ctx)
    # A plain function may hand on the coroutine of another one.
    return await answer if inspect.isawaitable(answer) and not _is_generator(answer) else answer


async def _thread(reconcile: Any, obj: Any, ctx: Context) -> Any:
    work = asyncio.ensure_future(asyncio.to_thread(call_here, reconcile, obj, ctx))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait({work})
        if not work.cancelled():
            work.exception()  # too late to interest anybody
        raise


def _is_generator(answer: object) -> bool:
    return inspect.isgenerator(answer) or inspect.isasyncgen(answer)
