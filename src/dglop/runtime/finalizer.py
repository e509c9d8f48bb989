# SPDX-License-Identifier: Apache-2.0
"""Work that must be done before an object may vanish."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from dglop.errors import ConfigError, NotFoundError
from dglop.runtime.api import resource_of
from dglop.runtime.reconcile import Result
from dglop.runtime.usercode import name_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from dglop.runtime.api import CustomResource
    from dglop.runtime.context import Context

__all__ = ("Finalizers", "finalize", "with_finalizer", "without_finalizer")


def with_finalizer(finalizers: list[str], name: str) -> list[str]:
    """*finalizers* with *name* at the end, or as they are if it is among them."""
    return [*finalizers, name] if name not in finalizers else finalizers


def without_finalizer(finalizers: list[str], name: str) -> list[str]:
    """*finalizers* without *name*."""
    return [held for held in finalizers if held != name]


async def finalize(
    obj: CustomResource[Any, Any],
    ctx: Context,
    name: str,
    cleanup: Callable[[], Awaitable[Result | bool | None]],
) -> bool:
    """
    Keep finalizer *name* on *obj*, and clean up when it is deleted; whether the reconciler is done with it.

    Expected flow: call it first, and return None if it says True. A *cleanup* that is not done yet returns
    False, if an event will call again, or a Result that says when to: the finalizer stays, and status and
    events are written as ever. Guarantees: the finalizer is there before anything that needs cleaning is
    made, and goes only after *cleanup* returned None or True; *cleanup* may run more than once. Raises
    ConflictError if *obj* is old, which the controller takes for a reason to try again.
    """
    if obj.is_deleting:
        await _clean(obj, ctx, name, cleanup)
        return True
    held = obj.metadata.finalizers
    if name not in held:
        await _write(obj, ctx, with_finalizer(held, name))
    return False


async def _clean(
    obj: CustomResource[Any, Any],
    ctx: Context,
    name: str,
    cleanup: Callable[[], Awaitable[Result | bool | None]],
) -> bool:
    """Whether the finalizer is gone."""
    held = obj.metadata.finalizers
    if name not in held:
        return True
    given: Any = cleanup()
    answer: object = await given if inspect.isawaitable(given) else given
    if isinstance(answer, Result):
        ctx.later = answer
        return False
    if not isinstance(answer, bool | None):
        # Taken for a yes, it would cost the finalizer, and nothing would be cleaned up ever after.
        raise TypeError(
            f"{name_of(cleanup)} returned a {type(answer).__name__}; return None or True when all is "
            "cleaned up, False or Result(...) when it is not yet"
        )
    if answer is False:
        return False
    try:
        await _write(obj, ctx, without_finalizer(held, name))
    except NotFoundError:
        ctx.log.debug("Object was gone before its finalizer was removed")
    return True


class Finalizers:
    """
    Several finalizers of one kind, each with its own cleaning up, in order.

    *cleanups* are coroutine functions of the object and the Context, by the finalizer's name, which has a
    domain (`example.dev/bucket`). Raises ConfigError for a name without one: the server takes it for its own.
    """

    def __init__(
        self, cleanups: Mapping[str, Callable[[Any, Context], Awaitable[Result | bool | None]]]
    ) -> None:
        for name in cleanups:
            if "/" not in name:
                raise ConfigError(f"finalizer {name!r} needs a domain, such as example.dev/{name}")
        self._cleanups = dict(cleanups)

    async def run(self, obj: CustomResource[Any, Any], ctx: Context) -> bool:
        """
        Keep all of them on *obj*, and clean up when it is deleted; whether the reconciler is done with it.

        Guarantees and errors are those of `finalize`. A finalizer goes as soon as its cleaning up is done,
        so a later one that fails does not have the earlier ones done again. One that is not done yet holds
        up those after it.
        """
        if obj.is_deleting:
            for name, cleanup in self._cleanups.items():
                if not await _clean(obj, ctx, name, partial(cleanup, obj, ctx)):
                    break
            return True
        wanted = obj.metadata.finalizers
        for name in self._cleanups:
            wanted = with_finalizer(wanted, name)
        if wanted != obj.metadata.finalizers:
            await _write(obj, ctx, wanted)
        return False


async def _write(obj: CustomResource[Any, Any], ctx: Context, finalizers: list[str]) -> None:
    metadata = {"finalizers": finalizers or None, "resourceVersion": ctx.resource_version}
    written = await ctx.patch(resource_of(obj), obj.name, {"metadata": metadata})
    obj.metadata.finalizers = finalizers
    # The status written after this must not fail on our own change.
    ctx.resource_version = str(written["metadata"]["resourceVersion"])
