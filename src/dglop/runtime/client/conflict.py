# SPDX-License-Identifier: Apache-2.0
"""Read, change and write again for as long as somebody else was faster."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, TypeVar

from dglop.errors import ConflictError, FieldConflictError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ("retry_on_conflict",)

T = TypeVar("T")

_FIRST_SECONDS = 0.01


async def retry_on_conflict(
    work: Callable[[], Awaitable[T]],
    *,
    attempts: int = 5,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    jitter: Callable[[], float] = random.random,
) -> T:
    """
    `await work()`, again after each ConflictError, at most *attempts* times in all.

    Assumptions: *work* reads the object anew each time, from the API server and not from a cache; else it
    fails as often as it is tried. A reconciler needs none of this: it raises, and is called again.
    Raises the last ConflictError; other errors, AlreadyExistsError and FieldConflictError too, at once.
    """
    for attempt in range(1, attempts):
        try:
            return await work()
        except FieldConflictError:
            raise  # another manager owns the field at the next try as well
        except ConflictError:
            # The pause grows a little, so that many who want the same object get out of each other's way.
            await sleep(_FIRST_SECONDS * attempt * (1.0 + jitter()))
    return await work()
