# SPDX-License-Identifier: Apache-2.0
"""Which failed requests may be sent again, and after how long."""

from __future__ import annotations

import random
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    stop_any,
    stop_before_delay,
)
from tenacity.stop import stop_base

from dglop.errors import ApiConnectionError, ApiError, ServerError, TooManyRequestsError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ("backoff_seconds", "is_retryable", "retrying")

T = TypeVar("T")

_ATTEMPTS = 10
_CONNECT_ATTEMPTS = 5
_FIRST_SECONDS = 0.2
_LONGEST_SECONDS = 10.0


def is_retryable(error: BaseException, *, idempotent: bool) -> bool:
    """Whether the same request may be sent again.

    429 was refused before anything was done, and a request that was never sent did nothing: always.
    5xx and broken connections leave open whether it was done: only where doing it twice is the same.
    A server that says Retry-After asks for it.
    """
    if isinstance(error, TooManyRequestsError):
        return True
    if isinstance(error, ApiConnectionError):
        return idempotent or not error.sent
    if isinstance(error, ServerError):
        return idempotent or error.retry_after is not None
    return False


def backoff_seconds(attempt: int, error: BaseException | None, jitter: float) -> float:
    """How long to wait after the `attempt`-th failure (from 1); `jitter` is in [0, 1).

    The server's Retry-After is a lower bound; everyone it was said to must not come at once.
    """
    backoff = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2.0 ** (attempt - 1))
    wished = error.retry_after if isinstance(error, ApiError) and error.retry_after else 0.0
    return max(wished, backoff / 2) + jitter * backoff / 2


class _NobodyThere(stop_base):
    """Whether nobody listens: a few tries tell, and a person may be waiting for the sentence."""

    def __call__(self, retry_state: RetryCallState) -> bool:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        refused = isinstance(error, ApiConnectionError) and not error.sent
        return refused and retry_state.attempt_number >= _CONNECT_ATTEMPTS


async def retrying(
    send: Callable[[], Awaitable[T]],
    *,
    idempotent: bool,
    budget: float,
    sleep: Callable[[float], Awaitable[None]],
    told: Callable[[ApiError], None],
) -> T:
    """`send()`, again and again while that is allowed and the next try begins within `budget` seconds.

    `told` hears of each failure that is tried again. The last error is raised as it came.
    """
    began = monotonic()
    try:
        # Nearly every request ends here. To set tries up costs a tenth of a busy operator's CPU.
        return await send()
    except ApiError as error:
        if not is_retryable(error, idempotent=idempotent):
            raise
        failures = [error]

    async def once_more() -> T:
        if failures:
            raise failures.pop()  # the try above was the first
        return await send()

    left = budget - (monotonic() - began)
    attempts = AsyncRetrying(
        sleep=sleep,
        wait=_wait,
        stop=stop_any(stop_after_attempt(_ATTEMPTS), stop_before_delay(left), _NobodyThere()),
        retry=retry_if_exception(lambda error: is_retryable(error, idempotent=idempotent)),
        before_sleep=partial(_tell, told),
        reraise=True,
    )
    return await attempts(once_more)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return backoff_seconds(state.attempt_number, error, random.random())  # noqa: S311 - jitter


def _tell(told: Callable[[ApiError], None], state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, ApiError):
        told(error)
