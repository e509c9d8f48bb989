# SPDX-License-Identifier: Apache-2.0
"""One call of a webhook: its context, and how its functions are called."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from dglop.runtime.usercode import call_here, contained, is_coroutine_callable, wait_in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Executor
    from datetime import datetime

    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock
    from dglop.runtime.log import Log
    from dglop.runtime.webhook.review import AdmissionRequest

__all__ = ("AdmissionContext", "Surroundings", "call_function")

R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """
    What a webhook server gives its handlers.

    Attributes
    ----------
        threads: runs plain functions; None runs them in the caller's thread.
    """

    client: Callable[[], Client]
    clock: Clock
    log: Log
    threads: Executor | None = None


class AdmissionContext(Generic[T]):
    """What a webhook's function gets besides the object: the request, warnings, a log, a client, a clock."""

    def __init__(
        self, request: AdmissionRequest, surroundings: Surroundings, *, old: T | None = None
    ) -> None:
        self.request = request
        self.old = old
        """What is stored, for an update; None if there is nothing, or nothing that fits the kind."""
        self.log: Log = surroundings.log.bind(
            operation=request.operation,
            kind=request.kind.kind,
            namespace=request.namespace,
            name=request.name,
            user=request.user_info.username,
            requestID=request.uid,
        )
        self.warnings: list[str] = []
        self.audits: dict[str, str] = {}
        self._surroundings = surroundings
        self._loop = asyncio.get_running_loop()

    def __repr__(self) -> str:
        return f"AdmissionContext({self.request})"

    @property
    def client(self) -> Client:
        """The Manager's client. Raises CacheNotSyncedError before there is one."""
        return self._surroundings.client()

    def now(self) -> datetime:
        """The time of day by the Manager's clock, aware, in UTC."""
        return self._surroundings.clock.now()

    def warn(self, text: str) -> None:
        """
        Show the client *text*, whether the request is allowed or not; 120 characters are a good length.

        Raises TypeError for what is no text.
        """
        if not isinstance(text, str):
            raise TypeError(f"a warning is text, not {text!r}")
        self.warnings.append(text)

    def audit(self, key: str, value: str) -> None:
        """Put a value into the API server's audit log. Raises TypeError for what is no text."""
        if not (isinstance(key, str) and isinstance(value, str)):
            raise TypeError(f"key and value for the audit log are text, not {key!r} and {value!r}")
        self.audits[key] = value

    def wait(self, work: Coroutine[Any, Any, R]) -> R:
        """
        Run a coroutine from a plain function, and wait for it in its thread.

        Raises RuntimeError in a coroutine function, which awaits instead: waiting would stop the event loop.
        """
        return wait_in_thread(work, self._loop)


async def call_function(function: Callable[..., Any], *arguments: Any, threads: Executor | None) -> Any:
    """
    Call *function*; a plain one runs in a thread, so that it cannot stop the event loop.

    Being cancelled does not wait for the thread: whoever asked must get an answer in time. Raises what the
    function does, and UserCodeError for what is no ordinary error.
    """
    with contained(function):
        if is_coroutine_callable(function):
            return await function(*arguments)
        if threads is None:
            answer = call_here(function, *arguments)
        else:
            run = partial(contextvars.copy_context().run, call_here, function, *arguments)
            answer = await asyncio.get_running_loop().run_in_executor(threads, run)
        # A plain function may hand on the coroutine of another one.
        return await answer if inspect.iscoroutine(answer) else answer
