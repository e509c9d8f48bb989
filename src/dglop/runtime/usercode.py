# SPDX-License-Identifier: Apache-2.0
"""Calls what users wrote, so that whatever it raises is an error of that one call, and no more than that."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from dglop.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from types import TracebackType

__all__ = (
    "UserCodeError",
    "call_coroutine",
    "call_here",
    "contained",
    "failed",
    "failure_of",
    "gives_nothing",
    "is_coroutine_callable",
    "name_of",
    "plain_only",
    "stray",
    "wait_in_thread",
)

R = TypeVar("R")

_ENDS_AN_ITERATION = (StopIteration, StopAsyncIteration)
_HINTS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    (_ENDS_AN_ITERATION, "; a next() that may find nothing needs a default"),
    (
        (asyncio.CancelledError, concurrent.futures.CancelledError),
        "; something that it waited for was cancelled, but not the call itself",
    ),
)


class UserCodeError(RuntimeError):
    """
    A function of the program's did what no function may: a bug, of that one call.

    It raised what would have ended its task, its thread or the program, or waited where it must not.
    """


class contained:  # noqa: N801 - used like a function, as contextlib's are
    """
    A block that calls *function*: what it raises and is no ordinary error becomes a UserCodeError.

    StopIteration cannot leave a thread or a coroutine; a CancelledError would end the task of who calls;
    SystemExit and GeneratorExit would end more. What is meant for the caller passes: its own cancellation,
    the closing of its coroutine, and a KeyboardInterrupt in the main thread, where a person's Ctrl-C arrives.
    """

    __slots__ = ("_function", "_task")

    def __init__(self, function: object) -> None:
        self._function = function
        self._task: asyncio.Task[Any] | None = None

    def __enter__(self) -> None:
        self._task = _running_task()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or (isinstance(error, GeneratorExit) and _running_task() is not self._task):
            return
        found = stray(error, self._function)
        if found is not None:
            raise found from error


def stray(error: BaseException, function: object) -> UserCodeError | None:
    """What *error*, out of a call of *function*, is to become; None if it is to go on as it is."""
    if isinstance(error, UserCodeError):
        return None
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, _ENDS_AN_ITERATION):
        error = error.__cause__  # Python's own way to let it out of a coroutine
    is_odd = isinstance(error, (*_ENDS_AN_ITERATION, concurrent.futures.CancelledError))
    if not is_odd and (isinstance(error, Exception) or _is_meant(error)):
        return None
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    hint = next((text for types, text in _HINTS if isinstance(error, types)), "")
    return UserCodeError(f"{name_of(function)} raised {said}{hint}")


def failed(error: BaseException, what: str, function: object) -> BaseException:
    """
    What to raise where *error*, out of *function*, must end more than its call; *what* says what cannot be.

    It is a UserCodeError even for a DglopError, which others would take for their own; what is meant for the
    caller stays as it is.
    """
    if not isinstance(error, Exception) and stray(error, function) is None:
        return error
    return UserCodeError(f"{what}: {name_of(function)} raised {type(error).__name__}: {error}")


def call_here(function: Callable[..., R], *arguments: Any) -> R:
    """Call a plain *function*, in whatever thread this is. Raises what it raises, or a UserCodeError."""
    with contained(function):
        return function(*arguments)


async def call_coroutine(function: Callable[..., Any], *arguments: Any) -> None:
    """Await a coroutine function. Raises what it raises, a UserCodeError, and TypeError for a plain one."""
    with contained(function):
        work = function(*arguments)
        if not inspect.isawaitable(work):
            raise TypeError(f"{name_of(function)} is no coroutine function, which it must be: say async def")
        await work


def is_coroutine_callable(function: Any) -> bool:
    """Whether calling *function* gives a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method itself is asked about
    )


def plain_only(function: object, role: str) -> None:
    """Raise ConfigError if *function*, which is called in the event loop, is a coroutine function."""
    if is_coroutine_callable(function):
        raise ConfigError(f"{name_of(function)} is a coroutine function, but {role} is a plain one: say def")


def failure_of(task: asyncio.Task[Any], *, is_ours: bool) -> BaseException | None:
    """The error that a *task* ended with; that it was cancelled is one unless that *is_ours*."""
    if not task.cancelled():
        return task.exception()
    return None if is_ours else UserCodeError(f"{task.get_name()} was cancelled from outside")


def gives_nothing(function: object, answer: object, instead: str) -> None:
    """Check that *function* returned None. Raises TypeError, which says what it should do *instead*."""
    if answer is not None:
        if inspect.iscoroutine(answer):
            answer.close()
        raise TypeError(f"{name_of(function)} returned a {type(answer).__name__}; {instead}")


def wait_in_thread(work: Coroutine[Any, Any, R], loop: asyncio.AbstractEventLoop) -> R:
    """Run *work* in *loop* and wait for it in this thread. Raises UserCodeError if that is the loop's own."""
    if _running_loop() is loop:
        work.close()
        raise UserCodeError(
            "ctx.wait() is for plain functions, which run in a thread; here it would stop the event loop for "
            "ever: await the coroutine instead"
        )
    return asyncio.run_coroutine_threadsafe(work, loop).result()


def name_of(function: object) -> str:
    """What to call *function* in a sentence."""
    inner = getattr(function, "func", function)  # of a functools.partial
    inner = getattr(inner, "__func__", inner)
    name = getattr(inner, "__qualname__", None) or type(function).__qualname__
    return str(name).rpartition("<locals>.")[2]


def _is_meant(error: BaseException) -> bool:
    """Whether this error, which is none of the ordinary ones, is for those above."""
    if isinstance(error, asyncio.CancelledError):
        task = _running_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _running_task() -> asyncio.Task[Any] | None:
    return None if _running_loop() is None else asyncio.current_task()
